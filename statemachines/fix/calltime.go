package fix

import (
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// keepCallTime lets each poll take as long as the old one, where that says how long.
func (f *fragment) keepCallTime() {
	kept := f.node(f.poll).Get("TimeoutSeconds")
	if f.starter != nil || kept == nil || kept.Kind != jsontree.Number {
		return
	}
	for _, s := range f.states {
		if s["Type"] == string(asl.TypeTask) && s["TimeoutSeconds"] != nil {
			s["TimeoutSeconds"] = kept.Raw()
		}
	}
}

// noteCallTime says how long a poll may take now, where the old one did not say that; empty elsewhere.
func (f *fragment) noteCallTime() string {
	seconds, isNew := f.states[f.poll.Name]["TimeoutSeconds"].(float64)
	endsItself := f.own && asl.ParseResource(f.poll.Task.Resource).PassingErrors(false) != nil // AWS lets no function and no HTTP call last longer
	if f.starter != nil || !isNew || endsItself {
		return ""
	}
	const format = "a call of %q that takes longer than %s fails with States.Timeout%s: it has TimeoutSeconds now"
	return fmt.Sprintf(format, f.poll.Name, spell(time.Duration(seconds)*time.Second), f.handlesTimeout())
}

// handlesTimeout says what takes States.Timeout of the poll; empty for nothing.
func (f *fragment) handlesTimeout() string {
	if r := retrierOf(f.poll.Retry, asl.ErrorTimeout); r != nil && r.MaxAttempts > 0 {
		return ", and is made again by its Retry"
	}
	if i := slices.IndexFunc(f.poll.Catch, func(c asl.Catcher) bool {
		return slices.Contains(c.ErrorEquals, asl.ErrorTimeout) || slices.Contains(c.ErrorEquals, asl.ErrorAll)
	}); i >= 0 {
		return fmt.Sprintf(", and its Catch leads to %q then", f.poll.Catch[i].Next)
	}
	return ""
}
