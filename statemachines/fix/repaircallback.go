package fix

import (
	"cmp"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// usualCallback is how long a Task waits for its callback if the user does not say it: a person may be who answers.
const usualCallback = 7 * 24 * time.Hour

// limitCallback is the edit by which a Task gives up a callback that does not come. HeartbeatSeconds is no other form of
// it: it fails a worker that sends no heartbeats.
func (c *checked) limitCallback(s *asl.State, o RepairOptions) []candidate {
	limit := cmp.Or(o.MaxWait, usualCallback)
	one := candidate{
		class: Offered, // only the user knows how late an answer may come
		about: fmt.Sprintf("a callback of %q that has not come after %s", s.Name, spell(limit)),
		frame: []trial.Kind{{Task: s.Name, Sort: trial.Silent}},
		edits: []edit.Edit{{Op: edit.Behind, At: s.Position.Pointer + "/Resource", Name: "TimeoutSeconds", Value: jsonOf(int64(limit.Seconds()))}},
		mended: func(r *trial.Run) bool {
			return r.After.Lasts < r.Before.Lasts && (r.After.Status == string(sim.StatusFailed) || succeeds(r))
		},
	}
	if o.MaxWait == 0 {
		one.also = fmt.Sprintf("%s is a guess: --max-wait sets another time", spell(limit))
	}
	if r := retrierOf(s.Retry, asl.ErrorTimeout); r != nil && r.MaxAttempts > 0 {
		one.also = joinTexts(fmt.Sprintf("the Retry of %q sends the request again before that, and each attempt waits as long", s.Name), one.also)
	}
	if s.Position.Pointer != "/States/"+escapePointer(s.Name) {
		one.also = joinTexts("the failure stops the other items or branches", one.also)
	}
	return []candidate{one}
}
