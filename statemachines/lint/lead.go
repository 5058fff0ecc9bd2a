package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// leadTo finds the way from the start of the execution to the first of some states of a flow.
func (c *checker) leadTo(f *asl.Flow, to map[string]bool) lead {
	before := c.leadInto(f)
	in := c.fewest(f, to)
	in.add(before)
	return in
}

// leadInto counts the events and waits before the first state of a flow.
func (c *checker) leadInto(f *asl.Flow) lead {
	const started, iterationStarted = 2, 1 // a Parallel or Map is entered and starts
	o, inner := c.outsides[f]
	if !inner {
		return lead{events: 1} // the start of the execution
	}
	out := c.leadTo(o.flow, map[string]bool{o.state.Name: true})
	switch {
	case o.state.Map != nil && o.state.Map.Distributed:
		// The child execution has a history, and a time of start, of its own.
		out = lead{events: 1, longer: out.longer || out.wait > 0}
	case o.state.Map != nil:
		out.events += started + iterationStarted
	default:
		out.events += started
		for _, branch := range o.state.Flows() {
			if branch != f {
				out.add(c.beside(branch))
			}
		}
	}
	return out
}

// beside counts the events of another branch meanwhile. A branch that fails still waits when the loop ends.
func (c *checker) beside(branch *asl.Flow) lead {
	all := c.through(branch)
	all.wait, all.longer = 0, false // at the same time
	path := c.pathTo(branch, all.first)
	waits := slices.IndexFunc(path, passesTime)
	if waits < 0 || all.first.Type != asl.TypeFail {
		return all
	}
	at, before := path[waits], lead{events: 1, more: all.more || slices.ContainsFunc(path[waits+1:], passesTime)}
	if at.Task != nil {
		before.events, _ = visit(at)
		before.events -= 2 // it has not succeeded, and is not exited
	}
	for _, s := range path[:waits] {
		before.events += c.costOf(s).events
	}
	return before
}
