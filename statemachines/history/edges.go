package history

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// CountVisits counts how often each state was entered.
func (v *Visits) CountVisits() map[string]int {
	counts := map[string]int{}
	for _, visit := range v.All {
		counts[visit.State]++
	}
	return counts
}

// CountEdges counts how often each transition of a definition was taken in these visits
// of the execution. Where two transitions lead from one state to another, a history of
// AWS does not say which was taken: of those that fit what came of the state, the first
// counts.
func (e *Execution) CountEdges(m *asl.StateMachine, v *Visits) map[graph.Edge]int {
	if e.Edges != nil {
		return e.Edges
	}
	edges := map[graph.Edge]int{}
	states := stateMap(m)
	for _, visit := range v.All {
		switch s := states[visit.State]; {
		case s == nil || !visit.left:
		case visit.next != nil:
			edges[transitionTo(s, visit)]++
		case s.End || s.Type == asl.TypeSucceed:
			edges[graph.Edge{From: s.Name}]++
		}
	}
	return edges
}

// stateMap are the states of a definition by their names.
func stateMap(m *asl.StateMachine) map[string]*asl.State {
	states := map[string]*asl.State{}
	for s := range m.All {
		states[s.Name] = s
	}
	return states
}

// transitionTo is the first transition that a visit may have taken to the next state:
// one of a Catch that takes its error, if it failed.
func transitionTo(from *asl.State, v *Visit) graph.Edge {
	to := v.next.State
	edge := graph.Edge{From: from.Name, To: to}
	best := 0
	for _, way := range from.Transitions() {
		if way.To != to {
			continue
		}
		fits := 1
		if caught := way.Kind == asl.TransitionCatch; caught == v.failing {
			fits++
			if caught && takes(&from.Catch[way.Rule], v.Error) {
				fits++
			}
		}
		if fits > best {
			best = fits
			edge = graph.Edge{From: from.Name, To: to, Kind: way.Kind, Rule: way.Rule}
		}
	}
	return edge
}

// takes tells whether a catcher takes an error.
func takes(c *asl.Catcher, name string) bool {
	return slices.Contains(c.ErrorEquals, name) || slices.Contains(c.ErrorEquals, asl.ErrorAll) ||
		name != asl.ErrorTimeout && slices.Contains(c.ErrorEquals, asl.ErrorTaskFailed)
}
