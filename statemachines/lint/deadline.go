package lint

import (
	"slices"
	"sort"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// begin is when the executions start whose clock is known: any time does.
var begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// clocked are the types of the machine in executions whose clock is known; nil if there are
// none.
func (c *checker) clocked() *typecheck.Checker {
	if c.timed == nil {
		timed, err := c.types.StartedAt(begin)
		if err != nil {
			return nil
		}
		c.timed = timed
	}
	return c.timed
}

// findLength is how long a loop runs until its deadline, from the start of the execution on; 0
// if the definition does not say.
func (c *checker) findLength(l *loop, r *reading) time.Duration {
	types := c.clocked()
	if types == nil {
		return 0
	}
	longest := time.Duration(0)
	for _, value := range r.pollingValues() {
		types.SetNow(begin)
		for _, from := range c.entriesBy(types, l) {
			length := c.lengthOf(lapRun{loop: l, reading: r, value: value, types: types}, from)
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
	for _, value := range r.pollingValues() {
		for _, from := range c.entriesOf(l) {
			from.env = from.env.At(typecheck.Early)
			ran := c.countLaps(&lapRun{loop: l, reading: r, value: value}, from, fartherThanHistory*r.Turn.Turns())
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
// first at which the laps leave.
func (c *checker) lengthOf(run lapRun, from entry) time.Duration {
	run.types.SetNow(begin)
	run.follow(&path{at: from})
	for range fewLaps {
		if !run.lap(c) || len(run.polling) == 0 {
			return 0
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
	leaves := func(after int) bool {
		run.types.SetNow(begin.Add(time.Duration(after) * time.Millisecond))
		late := run
		late.open = nil
		for _, p := range run.open {
			other := *p
			late.open = append(late.open, &other)
		}
		for range fewLaps {
			if !late.lap(c) {
				return false
			}
			if len(late.polling) == 0 {
				return true
			}
			late.open, late.polling, late.taken = late.polling, nil, nil
		}
		return false
	}
	most := int(asl.MaxStandardTime/time.Millisecond) + 1
	if !leaves(most) {
		return 0
	}
	return time.Duration(sort.Search(most, leaves)) * time.Millisecond
}

// bound is what the laps are as a bound.
func (n *laps) bound() Bound {
	b := Bound{Kind: ByCount, Polls: n.polls, Events: n.events, Transitions: n.transitions, AtMost: n.atMost}
	b.last(n.seconds)
	b.USD = asl.TransitionCost(float64(b.Transitions))
	return b
}

// last sets how long the polls take. After a year an execution ends, with as many as it had
// the time for.
func (b *Bound) last(seconds float64) {
	if most := asl.MaxStandardTime.Seconds(); seconds > most {
		share := func(n int) int { return int(float64(n) * most / seconds) }
		b.Kind, b.Polls, b.Events, b.Transitions = Unbounded, share(b.Polls), share(b.Events), share(b.Transitions)
		seconds = most
	}
	b.After = time.Duration(seconds * float64(time.Second))
}

// boundByTime is the bound of a loop that a time ends, with what its turns take by then, if that is
// known.
func (b *bounds) boundByTime() Bound {
	deadline := b.length.Truncate(time.Second)
	if b.timed == nil {
		return Bound{Kind: ByTime, After: deadline, Deadline: deadline}
	}
	bound := b.timed.bound()
	bound.Kind, bound.Deadline = ByTime, deadline
	return bound
}

// lasts is how long the loop turns until a time ends it; 0 if that is not known.
func (b *bounds) lasts() time.Duration {
	if b.timed == nil {
		return b.length
	}
	return time.Duration(b.timed.seconds * float64(time.Second))
}

// longHot is longer than a loop without a pause needs to fill the history.
const longHot = 10 * time.Minute

// endsInTime tells whether the time that ends a loop comes before TimeoutSeconds, and before
// the history is full.
func (b *bounds) endsInTime(r *reading, turn Turn, timeout time.Duration) bool {
	switch {
	case timeout > 0 && timeout <= b.lasts():
		return false
	case r.Hot:
		return b.lasts() <= longHot
	default:
		return turn.Wait == 0 || b.lasts() <= turn.Lasts()
	}
}
