package lint

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// lead is what an execution does before it comes to a loop, on the way with the fewest events.
type lead struct {
	first  *asl.State    // of the loop; nil if nothing leads there
	events int           // from the start of the execution on
	wait   time.Duration // of Wait states, by numbers in the definition
	more   bool          // another way, or something on this one, may take more events
	longer bool          // or more time
}

// leadTo finds the way from the start of the execution to the first of some states of a flow.
func (c *checker) leadTo(f *asl.Flow, to map[string]bool) lead {
	before := c.leadInto(f)
	in := c.fewest(f, to)
	in.add(before)
	return in
}

// leadInto is what comes before the first state of a flow.
func (c *checker) leadInto(f *asl.Flow) lead {
	const started, iterationStarted = 2, 1 // a Parallel or Map is entered and starts
	o, inner := c.outsides[f]
	if !inner {
		return lead{events: 1} // the start of the execution
	}
	out := c.leadTo(o.flow, map[string]bool{o.state.Name: true})
	switch {
	case o.state.Map != nil && o.state.Map.Distributed:
		out.events, out.more = 1, false // the history of the child execution
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

// beside is what another branch takes meanwhile. One that fails does not before the loop ends: it waits.
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

// add adds what comes before or beside, and keeps the path.
func (l *lead) add(o lead) {
	l.events, l.wait, l.more, l.longer = l.events+o.events, l.wait+o.wait, l.more || o.more, l.longer || o.longer
}

// through is the way through a whole flow.
func (c *checker) through(f *asl.Flow) lead {
	ends := map[string]bool{}
	for _, s := range f.States {
		if s.End || s.Type == asl.TypeSucceed || s.Type == asl.TypeFail {
			ends[s.Name] = true
		}
	}
	all := c.fewest(f, ends)
	if all.first != nil {
		all.add(c.costOf(all.first))
	}
	return all
}

// costOf is what a visit of a state takes at least.
func (c *checker) costOf(s *asl.State) lead {
	events, _ := visit(s)
	out := lead{events: events, wait: literalWait(s)}
	switch {
	case s.Wait != nil:
		out.longer = s.Wait.Seconds == nil || s.Wait.Seconds.Literal == nil
	case s.Parallel != nil:
		out.events = ofParallel
		for _, branch := range s.Flows() {
			inside := c.through(branch)
			wait := max(out.wait, inside.wait)
			out.add(inside)
			out.wait = wait
		}
	case s.Map != nil && !s.Map.Distributed:
		out.events, out.more, out.longer = ofParallel, true, passesTime(s)
	default:
		out.longer = passesTime(s)
	}
	return out
}
