package lint

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// untilLimit counts equal turns until a time after the start of the flow. The execution ends then wherever
// it is: in the first Wait that is not over before.
func (c *checker) untilLimit(l *loop, r *reading, turn Turn, limit time.Duration) Bound {
	states, passed, waits := turn.States, time.Duration(0), time.Duration(0)
	for _, name := range states {
		waits += literalWait(l.flow.State(name))
	}
	if waits != turn.Wait { // a part of it are delays of retries
		n := int(limit / turn.Wait)
		return Bound{Polls: n, Events: n * turn.Events, Transitions: n * turn.Transitions, After: limit}
	}
	for _, s := range c.leadIn(l) {
		if i := slices.Index(states, s.Name); i >= 0 {
			states = slices.Concat(states[i:], states[:i])
			break
		}
		passed += literalWait(s)
	}
	polled := states[0]
	if r.Poll != nil {
		polled = r.Poll.Name
	}
	n := max(0, int((limit-passed)/turn.Wait)-1) // whole turns
	bound := Bound{Polls: n, Events: n * turn.Events, Transitions: n * turn.Transitions, After: limit}
	for passed += time.Duration(n) * turn.Wait; ; {
		for _, name := range states {
			if passed >= limit {
				return bound
			}
			s := l.flow.State(name)
			events, transitions := visit(s)
			bound.Events, bound.Transitions = bound.Events+events, bound.Transitions+transitions
			if passed += literalWait(s); name == polled {
				bound.Polls++
			}
		}
	}
}

// leadIn are the states from the start of a flow to the first of a loop, as far as only one way leads there.
func (c *checker) leadIn(l *loop) []*asl.State {
	var states []*asl.State
	for s := l.flow.State(l.flow.StartAt); s != nil && !slices.Contains(states, s); s = l.flow.State(s.Next) {
		states = append(states, s)
		if l.inside[s.Name] {
			return states
		}
	}
	return nil
}
