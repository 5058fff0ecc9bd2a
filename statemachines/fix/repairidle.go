package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// raiseAttempts lets a retrier of a Task retry that says when to, and never does. A write may be made twice by it.
func (c *checked) raiseAttempts(s *asl.State, f lint.Finding, o RepairOptions) []candidate {
	var at int
	if _, err := fmt.Sscanf(strings.TrimPrefix(f.Pointer, s.Position.Pointer), "/Retry/%d", &at); err != nil || s.Task == nil || c.writes(s, o) {
		return nil
	}
	names := s.Retry[at].ErrorEquals
	taken := strings.Join(names, " or ")
	if slices.Contains(names, asl.ErrorAll) {
		taken = "an error that no other retrier takes"
	}
	one := candidate{
		class: Offered, // it may say "never" on purpose
		about: fmt.Sprintf("%s of %q", taken, s.Name),
		does:  "is made again", mended: isRetried(names),
		also:  "only you know whether the error passes by itself: if it does not, keep only ErrorEquals and MaxAttempts",
		edits: []edit.Edit{{Op: edit.Replace, At: f.Pointer + "/MaxAttempts", Value: jsonOf(compile.FaultRetrier(nil).MaxAttempts)}},
	}
	for _, name := range names {
		kind := trial.Kind{Task: s.Name, Sort: trial.Fails, Value: name}
		if name == asl.ErrorAll || name == asl.ErrorTaskFailed {
			kind.Value = "" // whatever the Task fails with
		}
		one.frame = append(one.frame, kind)
	}
	return []candidate{one}
}
