package localrun

import (
	"cmp"
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// coverage says which states a run visited and which transitions it took.
type coverage struct {
	States             int      `json:"states"`
	StatesVisited      int      `json:"statesVisited"`
	Transitions        int      `json:"transitions"`
	TransitionsTaken   int      `json:"transitionsTaken"`
	NotVisited         []string `json:"notVisited"`
	TransitionsMissing []string `json:"transitionsNotTaken"`
}

func newCoverage(m *asl.StateMachine, r *sim.Result) coverage {
	c := coverage{NotVisited: []string{}, TransitionsMissing: []string{}}
	for s := range m.All {
		c.States++
		if r.Visits[s.Name] > 0 {
			c.StatesVisited++
		} else {
			c.NotVisited = append(c.NotVisited, s.Name)
		}
		all := s.Transitions()
		if s.End {
			all = append(all, asl.Transition{})
		}
		for _, t := range all {
			c.Transitions++
			if r.Edges[sim.Edge{From: s.Name, To: t.To, Kind: t.Kind, Rule: t.Rule}] > 0 {
				c.TransitionsTaken++
			} else {
				c.TransitionsMissing = append(c.TransitionsMissing, nameTransition(s, all, t))
			}
		}
	}
	return c
}

// nameTransition names a transition, and where others of the state lead to the same target, the field that has it.
func nameTransition(s *asl.State, all []asl.Transition, t asl.Transition) string {
	to := cmp.Or(t.To, "end")
	name := s.Name + " -> " + to
	same := 0
	for _, other := range all {
		if other.To == t.To {
			same++
		}
	}
	if same < 2 { //nolint:mnd // itself
		return name
	}
	switch t.Kind {
	case asl.TransitionRule:
		return fmt.Sprintf("%s (Choices/%d)", name, t.Rule)
	case asl.TransitionCatch:
		return fmt.Sprintf("%s (Catch/%d)", name, t.Rule)
	case asl.TransitionDefault:
		return name + " (Default)"
	default:
		return name + " (Next)"
	}
}
