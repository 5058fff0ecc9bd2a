package lint

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// filling is a state of a turn, or a retry of its first one, and what it takes: first its events, or its delay.
type filling struct {
	*asl.State

	events, transitions int
	wait                time.Duration
	called              int // events up to the call of the poll; 0 for other states
}

// fillingsOf are the states of a turn, from the one on that the flow comes to first.
func (c *checker) fillingsOf(f *asl.Flow, turn Turn, poll *asl.State, first string) []filling {
	var all []filling
	for _, name := range turn.States {
		s := f.State(name)
		events, transitions := visit(s)
		all = append(all, filling{State: s, events: events, transitions: transitions, wait: c.steadyWait(s)})
		if len(all) > 1 || len(turn.retries) == 0 {
			continue
		}
		all[0].events-- // it is exited behind its retries
		for _, delay := range turn.retries {
			all = append(all, filling{wait: delay}, filling{events: retriedEvents, transitions: 1})
		}
		all = append(all, filling{events: 1})
	}
	i := slices.IndexFunc(all, func(s filling) bool { return poll != nil && s.State == poll })
	if i < 0 {
		i = max(0, slices.IndexFunc(all, func(s filling) bool { return s.State != nil && s.Task != nil }))
	}
	const entered, started = 1, 3 // a Task is entered, scheduled, and started
	if all[i].called = entered; all[i].Task != nil {
		all[i].called = started
	}
	enter := max(0, slices.IndexFunc(all, func(s filling) bool { return s.State != nil && s.Name == first }))
	return slices.Concat(all[enter:], all[:enter])
}

// fill counts equal turns until the history is full, or a time after the start of the execution is over:
// the execution ends then wherever it is, in the first Wait that is not over before.
func (c *checker) fill(f *asl.Flow, poll *asl.State, turn Turn, limit time.Duration) Bound {
	if len(turn.States) == 0 {
		return Bound{Kind: Unbounded}
	}
	inTurn := map[string]bool{}
	for _, name := range turn.States {
		inTurn[name] = true
	}
	before, first := c.leadTo(f, inTurn), turn.States[0]
	if before.first != nil {
		first = before.first.Name
	}
	before.events, before.wait = before.events+turn.first.events, before.wait+turn.first.wait
	states := c.fillingsOf(f, turn, poll, first)
	n := max(0, (mostEvents-before.events)/max(1, turn.Events)-1) // whole turns
	if turn.Wait > 0 {
		n = max(0, min(n, int((limit-before.wait)/turn.Wait)-1))
	}
	b := Bound{
		Kind: Unbounded, Ahead: before.wait - turn.first.wait, Polls: n, Events: n * turn.Events, Transitions: n * turn.Transitions,
		AtMost: before.more || before.longer && limit < asl.MaxStandardTime,
	}
	b.After = before.wait + time.Duration(n)*turn.Wait
	for room := mostEvents - before.events; ; {
		for _, s := range states {
			if turn.Wait > 0 && b.After >= limit || b.Events >= room && s.events > 0 {
				return filled(b, turn, room, limit)
			}
			if b.Transitions += s.transitions; s.called > 0 && b.Events+s.called <= room {
				b.Polls++
			}
			b.After += s.wait
			if b.Events += s.events; b.Events > room {
				return filled(b, turn, room, limit)
			}
		}
	}
}

// hasRoom tells whether a history has room for laps, and for the start of the state behind them.
func (c *checker) hasRoom(l *loop, ran *laps) bool {
	return c.leadTo(l.flow, l.inside).events+ran.events < mostEvents
}

// filled is a bound with its cost, as far as there is room and time, and without a time where the definition does not say it.
func filled(b Bound, turn Turn, room int, limit time.Duration) Bound {
	b.Events, b.After = min(b.Events, room), min(b.After, limit)
	if turn.Wait == 0 {
		b.After, b.Ahead = 0, 0
	}
	b.Polls, b.Events, b.Transitions = b.Polls+turn.first.polls, b.Events+turn.first.events, b.Transitions+turn.first.transitions
	b.USD = asl.TransitionCost(float64(b.Transitions))
	return b
}

// lasts is how long a turn may go on until the history is full, or a year over, not counting the time that
// its Tasks take; 0 if the definition does not say how long it waits.
func (c *checker) lasts(f *asl.Flow, turn Turn) time.Duration {
	return c.fill(f, nil, turn, asl.MaxStandardTime).After
}
