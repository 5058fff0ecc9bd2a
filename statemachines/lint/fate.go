package lint

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// fate is how a flow may end, and how long that takes.
type fate struct {
	endless bool         // nothing bounds how long it takes
	fails   []*asl.State // the Fail states that may end it
	errors  []string     // by which it may fail; empty for one that is not known
	// least and most are how long it takes, without the time of calls. open tells that the
	// definition does not say how long at most.
	least, most time.Duration
	open        bool
}

// or adds another way to end; the first of all has no fate before it.
func (a *fate) or(b *fate) *fate {
	if a == nil {
		out := *b
		return &out
	}
	out := &fate{
		endless: a.endless || b.endless, open: a.open || b.open,
		fails: compact(slices.Concat(a.fails, b.fails)), errors: compact(slices.Concat(a.errors, b.errors)),
		least: min(a.least, b.least), most: max(a.most, b.most),
	}
	return out
}

// after is a fate behind some time.
func (a *fate) after(before *fate) *fate {
	out := *a
	out.endless, out.open = a.endless || before.endless, a.open || before.open
	out.least = min(a.least+before.least, asl.MaxStandardTime)
	out.most = min(a.most+before.most, asl.MaxStandardTime)
	return &out
}

// maySucceed tells whether a flow may end as a success.
func (c *checker) maySucceed(f *asl.Flow) bool {
	if succeeds, known := c.successes[f]; known {
		return succeeds
	}
	start := f.State(f.StartAt)
	c.successes[f] = f.Open || start == nil || c.reachesSuccess(f, start)
	return c.successes[f]
}

// reachesSuccess tells whether a state of a flow leads to an end that is a success.
func (c *checker) reachesSuccess(f *asl.Flow, start *asl.State) bool {
	seen := map[*asl.State]bool{start: true}
	for queue := []*asl.State{start}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if s.Type == asl.TypeSucceed || s.End && !c.failsInside(s) {
			return true
		}
		for _, way := range c.waysOut(s) {
			if next := f.State(way.To); next != nil && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// failsInside tells whether a branch of a Parallel can only fail.
func (c *checker) failsInside(s *asl.State) bool {
	return s.Parallel != nil && slices.ContainsFunc(s.Parallel.Branches, func(f *asl.Flow) bool { return !c.maySucceed(f) })
}

// waysOut are the ways out of a state; those of its Catch alone where what is inside can only fail.
func (c *checker) waysOut(s *asl.State) []asl.Transition {
	if !c.failsInside(s) {
		return s.Transitions()
	}
	return slices.DeleteFunc(slices.Clone(s.Transitions()), func(way asl.Transition) bool { return way.Kind != asl.TransitionCatch })
}

// fateOf is how a flow may end.
func (c *checker) fateOf(f *asl.Flow) *fate {
	if known := c.fates[f]; known != nil {
		return known
	}
	start := f.State(f.StartAt)
	if f.Open || start == nil {
		return &fate{endless: true}
	}
	w := &fateWalk{checker: c, flow: f, rest: map[*asl.State]*fate{}, turns: map[*asl.State]*loop{}}
	for _, l := range loops(f, f.States, every) {
		for _, s := range l.states {
			w.turns[s] = l
		}
	}
	c.fates[f] = w.from(start)
	return c.fates[f]
}

// fateWalk follows the states of a flow to its ends.
type fateWalk struct {
	*checker

	flow  *asl.Flow
	rest  map[*asl.State]*fate // from a state on
	turns map[*asl.State]*loop
}

// from is the fate from a state on. The states of a cycle have one.
func (w *fateWalk) from(s *asl.State) *fate {
	if known := w.rest[s]; known != nil {
		return known
	}
	states := []*asl.State{s}
	var own *fate
	if l := w.turns[s]; l != nil {
		states, own = l.states, w.fateOfLoop(l)
	} else {
		own = w.own(s)
	}
	var ends *fate
	for _, at := range states {
		if end := w.endsAt(at); end != nil {
			ends = ends.or(end)
		}
		for _, way := range w.waysOut(at) {
			if next := w.flow.State(way.To); next != nil && (w.turns[s] == nil || w.turns[next] != w.turns[s]) {
				ends = ends.or(w.from(next))
			}
		}
	}
	if ends == nil {
		ends = &fate{endless: true} // nothing leads out of a cycle
	}
	for _, at := range states {
		w.rest[at] = ends.after(own)
	}
	return w.rest[s]
}

// endsAt is how the flow may end in a state itself; nil if it does not.
func (w *fateWalk) endsAt(s *asl.State) *fate {
	switch {
	case s.Fail != nil:
		return &fate{fails: []*asl.State{s}, errors: []string{errorOf(s)}}
	case w.failsInside(s):
		inside := w.inside(s)
		if slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return takes(k.ErrorEquals, inside.errors) }) {
			return nil
		}
		return &fate{fails: inside.fails, errors: inside.errors}
	case s.End || s.Type == asl.TypeSucceed:
		return &fate{}
	case s.Task != nil && s.Task.TimeoutSeconds != nil:
		if slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return takes(k.ErrorEquals, []string{asl.ErrorTimeout}) }) {
			return nil
		}
		return &fate{errors: []string{asl.ErrorTimeout}}
	default:
		return nil
	}
}

// own is how long a state takes.
func (w *fateWalk) own(s *asl.State) *fate {
	switch {
	case s.Wait != nil:
		return w.fateOfWait(s)
	case s.Task != nil && passesTime(s):
		return fateOfTask(s)
	case len(s.Flows()) > 0:
		inside := w.inside(s)
		retried := slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool { return r.MaxAttempts > 0 })
		return &fate{endless: inside.endless, open: inside.open || retried, least: inside.least, most: inside.most}
	default:
		return &fate{}
	}
}

func (w *fateWalk) fateOfWait(s *asl.State) *fate {
	if waits, steady := w.types.SteadyWait(s); steady {
		return &fate{least: waits, most: waits}
	}
	return &fate{open: true}
}

// fateOfTask is how long a Task takes that waits for something: as its TimeoutSeconds says, in each
// of its attempts.
func fateOfTask(s *asl.State) *fate {
	if s.Task.TimeoutSeconds == nil {
		return &fate{endless: true}
	}
	seconds, known := s.Task.TimeoutSeconds.Literal.(int64)
	if !known {
		return &fate{open: true}
	}
	one := time.Duration(seconds) * time.Second
	out := &fate{most: one}
	for _, r := range s.Retry {
		for n := int64(1); n <= r.MaxAttempts && out.most < asl.MaxStandardTime; n++ {
			out.most += one + max(delayOf(r, n), time.Second)
		}
	}
	out.most = min(out.most, asl.MaxStandardTime)
	return out
}

// fateOfLoop is how long a cycle takes.
func (w *fateWalk) fateOfLoop(l *loop) *fate {
	wait := l.first(asl.TypeWait)
	if wait == nil {
		return &fate{endless: len(w.boundsOf(l).open()) > 0, open: true}
	}
	r := &reading{inner: l}
	r.Flow, r.Waits, r.Turn, r.States = l.flow, []*asl.State{wait}, w.turn(l, wait), l.states
	w.tryLaps(l, r)
	switch b := w.boundsOf(l); {
	case len(b.open()) > 0:
		return &fate{endless: true}
	case b.tried != nil:
		return &fate{most: time.Duration(min(b.tried.seconds, asl.MaxStandardTime.Seconds()) * float64(time.Second))}
	case b.time && b.length > 0:
		return &fate{most: max(0, b.lasts()-w.leadTo(l.flow, l.inside).wait)}
	default:
		return &fate{open: true}
	}
}

// inside is how what runs inside of a Map or Parallel may end. Of branches that can only fail, the
// first ends the others.
func (w *fateWalk) inside(s *asl.State) *fate {
	if s.Map != nil {
		items := w.fateOf(s.Map.Processor)
		return &fate{endless: items.endless, open: items.open || items.most > 0}
	}
	var all, first *fate
	for _, branch := range s.Parallel.Branches {
		ends := w.fateOf(branch)
		all = all.or(ends)
		if !w.maySucceed(branch) && !ends.endless && (first == nil || !ends.open && (first.open || ends.most < first.most)) {
			first = ends
		}
	}
	if first == nil {
		return all
	}
	return &fate{fails: first.fails, errors: all.errors, least: all.least, most: first.most, open: first.open}
}
