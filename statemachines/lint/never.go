package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// neverTurns tells whether the codes that all calls which succeed have close each way around a loop, and reports where
// the Choice stands that asks for one of them first, and so always leaves the loop.
func (c *checker) neverTurns(l *loop) bool {
	if c.types == nil || !slices.ContainsFunc(l.states, typecheck.HasCode) {
		return false
	}
	closed := map[*asl.State][]asl.Transition{}
	for _, s := range l.states {
		if s.Choice != nil {
			closed[s] = neverOf(c.types, s)
		}
	}
	takes := func(s *asl.State, way asl.Transition) bool { return !slices.Contains(closed[s], way) }
	if len(loops(l.flow, l.states, takes)) > 0 {
		return false
	}
	open, err := c.types.WithoutCodes()
	if err != nil { // which typecheck.New has found before
		return false
	}
	takes = func(s *asl.State, way asl.Transition) bool {
		return s.Choice == nil || !slices.Contains(neverOf(open, s), way)
	}
	if len(loops(l.flow, l.states, takes)) == 0 {
		return false // something else closes it
	}
	if slices.Contains(c.off, typecheck.UnreachableRule) || l.first(asl.TypeWait) == nil {
		return true
	}
	for _, s := range l.states {
		back := slices.IndexFunc(closed[s], func(way asl.Transition) bool { return l.inside[way.To] })
		if back >= 0 {
			way := closed[s][back]
			c.report(typecheck.UnreachableRule, s, "", "the loop never turns: each call that succeeds has the code that %q compares, so that it never leads to %q; "+
				"compare what tells the state of the job", s.Name, way.To)
			break
		}
	}
	return true
}

// neverOf are the ways out of a Choice that no execution takes which comes to it, if there is one that it takes.
func neverOf(types *typecheck.Checker, s *asl.State) []asl.Transition {
	if !types.IsReachable(s) {
		return nil
	}
	open := types.Step(s, types.Input(s), types.Result(s))
	if len(open) == 0 {
		return nil
	}
	return slices.DeleteFunc(s.Transitions(), func(way asl.Transition) bool {
		return slices.ContainsFunc(open, func(o typecheck.Way) bool { return o.Transition == way })
	})
}
