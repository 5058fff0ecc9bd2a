package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// mostHops is how many ways out of states are followed to find the ways around a loop.
const mostHops = 1000

// cycles are the ways around the loop from a state that come to no other state twice, but for those
// after errors; all is false if there are too many to follow.
func (l *loop) cycles(from *asl.State) (found [][]hop, all bool) {
	left := mostHops
	var follow func(s *asl.State, hops []hop)
	follow = func(s *asl.State, hops []hop) {
		for _, way := range s.Transitions() {
			if way.Kind == asl.TransitionCatch || !l.inside[way.To] || !l.taken(s, way) {
				continue
			}
			next := append(slices.Clip(hops), hop{s, way})
			switch left--; {
			case left < 0:
			case way.To == from.Name:
				found = append(found, next)
			case !slices.ContainsFunc(next, func(h hop) bool { return h.state.Name == way.To }):
				follow(l.flow.State(way.To), next)
			}
		}
	}
	follow(from, nil)
	return found, left >= 0
}
