package localrun

import (
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
				to := t.To
				if to == "" {
					to = "end"
				}
				c.TransitionsMissing = append(c.TransitionsMissing, s.Name+" -> "+to)
			}
		}
	}
	return c
}
