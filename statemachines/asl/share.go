package asl

import (
	"slices"
	"strings"
)

// ShareHistory tells whether two states can run in one execution, one after the other or beside
// each other.
func (m *StateMachine) ShareHistory(a, b *State) bool {
	for f := &m.Flow; f != nil; {
		x, y := f.holder(a), f.holder(b)
		if x != y {
			return !isDistributedIn(x, a) && !isDistributedIn(y, b) && (f.Leads(x, y) || f.Leads(y, x))
		}
		i := slices.IndexFunc(x.Flows(), func(inner *Flow) bool { return inner.holder(a) != nil })
		if i < 0 {
			return true // they are the same
		}
		if f = x.Flows()[i]; f.holder(b) == nil { // in another branch
			return !isDistributedIn(x, a) && !isDistributedIn(x, b)
		}
	}
	return false
}

// RunsForItems tells whether a state runs for each item of a Map, in the history of the
// machine: a child execution of a Distributed Map has its own.
func (m *StateMachine) RunsForItems(s *State) bool {
	shares := false
	for outer := range m.All { // the outer ones first
		if outer.Map != nil && outer.holds(s) {
			shares = !outer.Map.Distributed
		}
	}
	return shares
}

// Leads tells whether a state comes before another one of the flow.
func (f *Flow) Leads(from, to *State) bool {
	seen := map[*State]bool{from: true}
	for queue := []*State{from}; len(queue) > 0; queue = queue[1:] {
		for _, way := range queue[0].Transitions() {
			s := f.State(way.To)
			if s == to {
				return true
			}
			if s != nil && !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	return false
}

// holder is the state of the flow that is a state, or has it inside.
func (f *Flow) holder(s *State) *State {
	for _, outer := range f.States {
		if outer.holds(s) {
			return outer
		}
	}
	return nil
}

// holds tells whether a state is another one, or has it inside.
func (s *State) holds(inner *State) bool {
	return strings.HasPrefix(inner.Position.Pointer+"/", s.Position.Pointer+"/")
}

// isDistributedIn tells whether a state runs in an execution of its own, in a Distributed Map
// at or inside of another one.
func isDistributedIn(outer, s *State) bool {
	for outer != nil && outer != s {
		if outer.Map != nil && outer.Map.Distributed {
			return true
		}
		var next *State
		for _, f := range outer.Flows() {
			if found := f.holder(s); found != nil {
				next = found
			}
		}
		outer = next
	}
	return false
}
