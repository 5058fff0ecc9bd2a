package fix

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// limitRetries lowers the MaxAttempts of a retrier that polls, for a loop in a Retry to end
// before the history is full.
func (*checked) limitRetries(l *lint.Loop, r *repairer) []candidate {
	var all []candidate
	o, room := r.options, r.all.roomOf(l.Poll.Name)
	for i, retrier := range l.Poll.Retry {
		most := attempts(retrier, o.MaxWait)
		class, also := Sure, ""
		if o.MaxWait == 0 && l.Turn.Events > 0 {
			most = int64(room.events / l.Turn.Events)
			if also = room.String(); also != "" {
				class = Offered // the others may need less
			}
		}
		if most < 1 || most >= retrier.MaxAttempts {
			continue
		}
		one := candidate{
			class: class, also: also, about: fmt.Sprintf("%s for more than %s retries", retrier.ErrorEquals[0], thousands(int(most))),
			edits:  []edit.Edit{{Op: edit.Replace, At: fmt.Sprintf("%s/Retry/%d/MaxAttempts", l.Poll.Position.Pointer, i), Value: jsonOf(most)}},
			mended: failsByItself,
		}
		for _, name := range retrier.ErrorEquals {
			one.frame = append(one.frame, trial.Kind{Task: l.Poll.Name, Sort: trial.Fails, Value: name})
		}
		all = append(all, one)
	}
	return all
}

// attempts are how many retries a retrier makes within a time.
func attempts(r asl.Retrier, within time.Duration) int64 {
	n := int64(0)
	for left := within.Seconds(); ; n++ {
		if left -= max(r.Delay(n+1), 1); left < 0 {
			return n
		}
	}
}
