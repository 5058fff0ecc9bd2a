package simulate

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// cycles are the states of a flow from which a way leads back to them. The work grows
// with the transitions, for a definition may have ten thousand states.
func cycles(f *asl.Flow) map[*asl.State]bool {
	after, before := map[*asl.State][]*asl.State{}, map[*asl.State][]*asl.State{}
	in := map[*asl.State]bool{}
	for _, s := range f.States {
		for _, way := range s.Transitions() {
			if next := f.State(way.To); next != nil {
				after[s], before[next] = append(after[s], next), append(before[next], s)
				if next == s {
					in[s] = true
				}
			}
		}
	}
	// A state that is left last reaches no component of states that are left later, so
	// that what leads to it backwards is its component (Kosaraju).
	var left []*asl.State
	seen := map[*asl.State]bool{}
	for _, s := range f.States {
		visit(s, after, seen, func(s *asl.State) { left = append(left, s) })
	}
	clear(seen)
	for _, last := range slices.Backward(left) {
		var component []*asl.State
		visit(last, before, seen, func(s *asl.State) { component = append(component, s) })
		for _, s := range component {
			in[s] = in[s] || len(component) > 1
		}
	}
	return in
}

// visit walks from a state to those that are not seen yet, the deepest first, and tells of
// each when it leaves it.
func visit(from *asl.State, next map[*asl.State][]*asl.State, seen map[*asl.State]bool, leave func(*asl.State)) {
	if seen[from] {
		return
	}
	seen[from] = true
	type place struct {
		state *asl.State
		taken int // ways
	}
	for stack := []place{{state: from}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if ways := next[top.state]; top.taken < len(ways) {
			to := ways[top.taken]
			if top.taken++; !seen[to] {
				seen[to] = true
				stack = append(stack, place{state: to})
			}
			continue
		}
		leave(top.state)
		stack = stack[:len(stack)-1]
	}
}
