package lint

import (
	"slices"
	"sort"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// clocked are the types of the machine in executions whose clock is known; nil if there are
// none. They start in 2030: any time does.
func (c *checker) clocked() *typecheck.Checker { return c.startedIn(2030) } //nolint:mnd // a year

// startedIn are the types of the machine in executions that start in a year; nil if there are none.
func (c *checker) startedIn(year int) *typecheck.Checker {
	if c.timed[year] == nil {
		timed, err := c.types.StartedAt(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			return nil
		}
		c.timed[year] = timed
	}
	return c.timed[year]
}

// arrival is how a flow comes into a loop, so long after the start of the execution.
type arrival struct {
	entry

	ahead time.Duration
	about bool // it may come later
}

// arrivalsAt are the ways into a loop by types whose clock goes on with the Waits on the way there, where only
// one leads there; else as if no time had passed. States whose time nobody knows take some.
func (c *checker) arrivalsAt(types *typecheck.Checker, l *loop, lasting time.Duration) []arrival {
	before, into := c.leadTo(l.flow, l.inside), c.leadInto(l.flow)
	if before.first != nil && !before.longer {
		if path := c.pathTo(l.flow, before.first); len(path) > 1 {
			if at, ok := arrive(types, l.flow, path, arrival{ahead: into.wait}, lasting); ok {
				return []arrival{at}
			}
		}
	}
	types.SetElapsed(into.wait)
	var all []arrival
	for _, from := range c.entriesBy(types, l) {
		all = append(all, arrival{from, into.wait, before.longer || before.wait > into.wait})
	}
	return all
}

// arrive follows a path from the start of a flow to its last state.
func arrive(types *typecheck.Checker, f *asl.Flow, path []*asl.State, at arrival, lasting time.Duration) (arrival, bool) {
	at.env = types.Start(f)
	for i, s := range path[:len(path)-1] {
		types.SetElapsed(at.ahead)
		if s.Wait != nil {
			least, most, known := types.WaitTime(s, at.env)
			if !known {
				return at, false
			}
			types.PassTime(least)
			at.ahead, at.about = at.ahead+least, at.about || most > least
		} else if mayLast(s) {
			types.PassTime(lasting)
			at.ahead += lasting
		}
		ways := types.Step(s, at.env, types.Result(s))
		n := slices.IndexFunc(ways, func(way typecheck.Way) bool { return way.To == path[i+1].Name && way.Kind != asl.TransitionCatch })
		if n < 0 {
			return at, false
		}
		at.env = ways[n].Env
	}
	at.state = path[len(path)-1]
	return at, true
}

// findLength is how long a loop runs until its deadline, from the start of the execution on; 0
// if the definition does not say. With it come the states before the loop whose time nobody knows,
// where the deadline is not set anew behind them.
func (c *checker) findLength(l *loop, r *reading) (length time.Duration, lasting []string) {
	if length = c.longestLength(l, r, 0); length == 0 {
		return 0, nil
	}
	if first := c.leadTo(l.flow, l.inside).first; first != nil {
		for _, s := range c.pathTo(l.flow, first) {
			if s != first && mayLast(s) {
				lasting = append(lasting, s.Name)
			}
		}
	}
	if lasting != nil && c.longestLength(l, r, time.Minute) != length {
		return length, nil
	}
	return length, lasting
}

// longestLength is the longest time until a deadline where each state before the loop whose time nobody
// knows takes some.
func (c *checker) longestLength(l *loop, r *reading, lasting time.Duration) time.Duration {
	types := c.clocked()
	if types == nil {
		return 0
	}
	longest := time.Duration(0)
	for _, value := range r.pollingValues() {
		for _, from := range c.arrivalsAt(types, l, lasting) {
			length, _ := c.lengthOf(lapRun{loop: l, reading: r, value: value, types: types}, from)
			if length == 0 {
				return 0
			}
			longest = max(longest, length)
		}
	}
	return longest
}

// countEarly counts the polls of a job that never ends before the time that ends its loop; nil
// if no count ends it.
func (c *checker) countEarly(l *loop, r *reading) *laps {
	var longest laps
	ahead := c.leadTo(l.flow, l.inside).wait.Seconds()
	for _, value := range r.pollingValues() {
		for _, from := range c.entriesOf(l) {
			from.env = from.env.At(typecheck.Early)
			ran := c.countLaps(&lapRun{loop: l, reading: r, value: value, ahead: ahead}, from, fartherThanHistory*r.Turn.most())
			if ran.end != lapsLeave {
				return nil
			}
			exits := slices.Concat(longest.exits, ran.exits)
			if ran.polls > longest.polls {
				longest = ran
			}
			longest.exits = exits
		}
	}
	return &longest
}

// lengthOf runs a few laps as the execution starts, and then at other times: it looks for the
// first at which the laps leave. never tells that they do not within a year. Both are zero if nobody knows.
func (c *checker) lengthOf(run lapRun, from arrival) (length time.Duration, never bool) {
	run.types.SetElapsed(from.ahead)
	run.follow(&path{at: from.entry})
	for range fewLaps {
		if !run.lap(c) || len(run.polling) == 0 {
			return 0, false
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
	ends := func(after int) lapsEnd { return c.endsAfter(run, time.Duration(after)*time.Millisecond) }
	leaves := func(after int) bool { return ends(after) == lapsLeave }
	most := int(asl.MaxStandardTime/time.Millisecond) + 1
	if last := ends(most); last != lapsLeave {
		return 0, last == lapsGoOn
	}
	return time.Duration(sort.Search(most, leaves)) * time.Millisecond, false
}

// endsAfter is how the laps of open paths end so long after the start of the execution.
func (c *checker) endsAfter(run lapRun, since time.Duration) lapsEnd {
	run.types.SetElapsed(since)
	open := run.open
	run.open = nil
	for _, p := range open {
		other := *p
		run.open = append(run.open, &other)
	}
	for range fewLaps {
		switch {
		case !run.lap(c):
			return lapsUnclear
		case len(run.polling) == 0:
			return lapsLeave
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
	if run.doubted {
		return lapsUnclear
	}
	return lapsGoOn
}

// neverComes tells whether the time that ends a loop does not come within a year, whenever the execution starts, though
// the loop compares it with the clock: seconds with milliseconds, say.
func (c *checker) neverComes(l *loop, r *reading) bool {
	for _, year := range []int{2030, 1980, 2200} { // a written time is over in one of them, and ahead in another
		types := c.startedIn(year)
		if types == nil {
			return false
		}
		arrivals := c.arrivalsAt(types, l, 0)
		if len(arrivals) == 0 {
			return false // a Choice before the loop may compare the clock, too
		}
		for _, value := range r.pollingValues() {
			for _, from := range arrivals {
				if _, never := c.lengthOf(lapRun{loop: l, reading: r, value: value, types: types}, from); !never {
					return false
				}
			}
		}
	}
	return true
}

// bound is what the laps are as a bound.
func (n *laps) bound() Bound {
	b := Bound{Kind: ByCount, Polls: n.polls, Events: n.events, Transitions: n.transitions, AtMost: n.atMost}
	b.last(n.ahead, n.seconds)
	if n.untold && b.Kind == ByCount {
		b.Ahead, b.After = 0, 0
	}
	b.USD = asl.TransitionCost(float64(b.Transitions))
	return b
}

// last sets how long the polls take, and what comes before them. After a year an execution ends, with as
// many as it had the time for.
func (b *Bound) last(ahead, seconds float64) {
	if most := max(0, asl.MaxStandardTime.Seconds()-ahead); seconds > most {
		share := func(n int) int { return int(float64(n) * most / seconds) }
		b.Kind, b.Polls, b.Events, b.Transitions = Unbounded, share(b.Polls), share(b.Events), share(b.Transitions)
		seconds = most
	}
	b.Ahead = time.Duration(ahead * float64(time.Second))
	b.After = b.Ahead + time.Duration(seconds*float64(time.Second))
}

// boundByTime is the bound of a loop that a time ends, with what its turns take by then, if that is
// known.
func (b *bounds) boundByTime() Bound {
	deadline := b.length.Truncate(time.Second)
	if b.timed == nil {
		return Bound{Kind: ByTime, After: deadline, Deadline: deadline, AtMost: len(b.lasting) > 0, Lasting: b.lasting}
	}
	bound := b.timed.bound()
	bound.Kind, bound.Deadline, bound.Lasting = ByTime, deadline, b.lasting
	bound.AtMost = bound.AtMost || len(b.lasting) > 0
	return bound
}

// lasts is how long it takes from the start of the execution until a time ends the loop; 0 if that is not known.
func (b *bounds) lasts() time.Duration {
	if b.timed == nil {
		return b.length
	}
	return b.timed.lasts()
}

// longHot is longer than a loop without a pause needs to fill the history.
const longHot = 10 * time.Minute

// endsInTime tells whether the time that ends a loop comes before TimeoutSeconds, and before
// the history is full; full is 0 if nobody knows when it is.
func (b *bounds) endsInTime(r *reading, full, timeout time.Duration) bool {
	switch {
	case timeout > 0 && timeout <= b.lasts():
		return false
	case r.Hot:
		return b.lasts() <= longHot
	default:
		return full == 0 || b.lasts() <= full
	}
}

// mayLast tells whether a state that is no Wait takes a time that nobody knows, and that a deadline notices: code, a
// job, and what has a Wait or code inside.
func mayLast(s *asl.State) bool {
	if s.Task != nil {
		r := asl.ParseResource(s.Task.Resource)
		service, _ := r.SDK()
		return passesTime(s) || r.Service == "lambda" || service == "lambda" || r.Service == "http"
	}
	return s.Wait == nil && slices.ContainsFunc(s.Flows(), func(f *asl.Flow) bool {
		return slices.ContainsFunc(f.States, func(inner *asl.State) bool { return inner.Wait != nil || mayLast(inner) })
	})
}
