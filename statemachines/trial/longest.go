package trial

import (
	"fmt"
	"slices"
)

// isInChange tells whether a change is in the loop of a Task.
func (p *pair) isInChange(role string) bool {
	return p.whole || slices.ContainsFunc(append(slices.Clip(p.loops[role]), role), func(name string) bool { return p.changed[name] })
}

// longest are the job that ends one poll before so many are over, and that after which
// another one runs, which a loop around may start.
func (p *pair) longest(never *script, polls int) []*script {
	stays, c := never.answers[0], p.callee(never.task)
	if polls < 2 { //nolint:mnd // there is none before
		return nil
	}
	long := &scriptsOf{role: never.task}
	var status []Kind // of answers without optional members
	if stays.kind.Sort == Bare {
		status = append(status, c.running.kind)
	}
	add := func(title string, end ...answer) {
		long.add(title, false, slices.Concat(slices.Repeat([]answer{stays}, polls-1), end), status...)
	}
	add(fmt.Sprintf("a job at %q that ends after %d polls", never.task, polls-1))
	for _, a := range c.answers {
		if p.restarts[a.kind] && stays.kind == c.running.kind {
			add(fmt.Sprintf("%s at %q after %d polls, and a second job of 2 polls", nameOf(a.kind), never.task, polls-1), a, stays, stays)
		}
	}
	return long.all
}
