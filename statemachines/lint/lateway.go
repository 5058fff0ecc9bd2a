package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// isLate tells whether a Choice takes the way of that number only when the bound of the loop is reached.
func (w *walk) isLate(s *asl.State, ways []typecheck.Way, n int, mixed bool) bool {
	return w.bounds != nil && (!mixed && w.bounds.isLate(s, ways, n) || w.isOpenToBound(s, ways))
}

// isOpenBeside tells whether one of the rules of a Choice that look at a bound and stay in the loop compares something of
// the answer, too, that may not be there on the way to it: then another rule may take the answer at once.
func (w *walk) isOpenBeside(s *asl.State, env typecheck.Env, hops []hop, before []typecheck.Way) bool {
	return slices.ContainsFunc(before, func(way typecheck.Way) bool {
		if way.Kind != asl.TransitionRule || !w.bounds.limits[s][way.Transition] || !w.bounds.loop.inside[way.To] {
			return false
		}
		return slices.ContainsFunc(operandsOfRule(&s.Choice.Rules[way.Rule]), func(o operand) bool {
			name := lastName(o.String())
			value := readOperand(env, o)
			if w.bounds.counters[name] || w.bounds.flags[name] || !value.MayBeMissing() || value.IsMissing() {
				return false
			}
			return strings.Contains(traceBack(hops, o).text, "result of "+w.poll.Name+" ")
		})
	})
}

// isOpenToBound tells whether a Choice without Default has rules of the bound alone for an answer: until the
// bound is reached, no rule takes it.
func (w *walk) isOpenToBound(s *asl.State, ways []typecheck.Way) bool {
	if w.bounds == nil || s.Choice == nil || s.Choice.Default != "" || len(ways) == 0 {
		return false
	}
	return !slices.ContainsFunc(ways, func(way typecheck.Way) bool {
		return !w.bounds.limits[s][way.Transition] || w.bounds.loop.inside[way.To] && !w.goesOnAtBound(s, way)
	})
}

// goesOnAtBound tells whether a rule leads to the next job of an outer loop, out of the smallest loop around the poll, when a
// count of that one is reached.
func (w *walk) goesOnAtBound(s *asl.State, way typecheck.Way) bool {
	if way.Kind != asl.TransitionRule || w.inner.inside[way.To] {
		return false
	}
	if w.turns == nil {
		w.turns, _ = findCounters(w.inner.states)
	}
	return slices.ContainsFunc(operandsOfRule(&s.Choice.Rules[way.Rule]), func(o operand) bool { return w.turns[lastName(o.String())] })
}
