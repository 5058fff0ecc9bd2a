package fix

import (
	"encoding/json"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// keepRetry puts the retriers of the old poll behind those of the new one. Errors that the old
// ones retry more often, or for longer, stay with them, unless the new ones are the loop.
func (f *fragment) keepRetry(s object) {
	kept := f.node(f.poll).Get("Retry")
	if kept == nil {
		return
	}
	var retriers []any
	added, _ := s["Retry"].([]any)
	for _, r := range added {
		if isOfLoop(r.(object)) || f.leaveToOldRetry(r.(object)) {
			retriers = append(retriers, r)
		}
	}
	for _, r := range kept.Items {
		retriers = append(retriers, r.Raw())
	}
	s["Retry"] = retriers
}

// isOfLoop tells whether a retrier is the loop: its error says that the job still runs.
func isOfLoop(retrier object) bool {
	names, _ := retrier["ErrorEquals"].([]any)
	return slices.Contains(names, any(asl.ErrorQueryEvaluation))
}

// leaveToOldRetry takes the errors out of a new retrier that the old poll retries more often or for
// longer. It tells whether any are left.
func (f *fragment) leaveToOldRetry(retrier object) bool {
	made := asl.DefaultRetrier()
	if json.Unmarshal(mustJSON(retrier), &made) != nil { //nolint:musttag // its fields have the names of the language
		return true // compile wrote it, so it parses
	}
	names, _ := retrier["ErrorEquals"].([]any)
	names = slices.DeleteFunc(names, func(name any) bool {
		old := retrierOf(f.poll.Retry, name.(string))
		return old != nil && (old.MaxAttempts > made.MaxAttempts || lastsOf(*old) > lastsOf(made))
	})
	retrier["ErrorEquals"] = names
	return len(names) > 0
}

// lastsOf is how long the retries of a retrier wait in the mean, in seconds.
func lastsOf(r asl.Retrier) float64 {
	total := 0.0
	for n := range min(r.MaxAttempts, asl.MaxEvents) {
		total += r.Delay(n + 1)
	}
	if r.JitterStrategy == asl.JitterFull {
		return total / 2 //nolint:mnd // it draws from 0 on
	}
	return total
}

// retrierOf is the first retrier that takes an error; nil if none does.
func retrierOf(all []asl.Retrier, name string) *asl.Retrier {
	i := slices.IndexFunc(all, func(r asl.Retrier) bool {
		return slices.ContainsFunc(r.ErrorEquals, func(taken string) bool {
			return taken == name || taken == asl.ErrorAll || taken == asl.ErrorTaskFailed && name != asl.ErrorTimeout
		})
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}
