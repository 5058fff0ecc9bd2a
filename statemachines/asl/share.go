package asl

import "strings"

// Histories knows which states of a machine run in one history.
type Histories struct {
	machine *StateMachine
	places  map[*State][]holding
	ways    map[*Flow]*ways
}

// holding is where a state is in a flow: the state itself, or one that has it inside.
type holding struct {
	flow  *Flow
	state *State
	apart bool // it has an execution of its own, in a Distributed Map at or inside of state
}

// Histories of the machine.
func (m *StateMachine) Histories() *Histories {
	return &Histories{machine: m, places: map[*State][]holding{}, ways: map[*Flow]*ways{}}
}

// Share tells whether two states can run in one execution, one after the other or beside each
// other.
func (h *Histories) Share(a, b *State) bool {
	x, y := h.placesOf(a), h.placesOf(b)
	for i := range min(len(x), len(y)) {
		switch {
		case x[i].flow != y[i].flow: // two branches
			return !x[i-1].apart && !y[i-1].apart
		case x[i].state != y[i].state:
			return !x[i].apart && !y[i].apart && (h.leads(x[i], y[i]) || h.leads(y[i], x[i]))
		}
	}
	return true // they are the same
}

// ForItems tells whether a state runs for each item of a Map, in the history of the
// machine: a child execution of a Distributed Map has its own.
func (h *Histories) ForItems(s *State) bool {
	shares := false
	for _, p := range h.placesOf(s) { // the outer ones first
		if p.state != s && p.state.Map != nil {
			shares = !p.state.Map.Distributed
		}
	}
	return shares
}

// placesOf are those of a state, from the flow of the machine on.
func (h *Histories) placesOf(s *State) []holding {
	if places, known := h.places[s]; known {
		return places
	}
	var places []holding
	for flow := &h.machine.Flow; flow != nil; {
		outer := flow.Holder(s)
		places = append(places, holding{flow: flow, state: outer})
		flow = nil
		for _, inner := range outer.Flows() {
			if outer != s && inner.Holder(s) != nil {
				flow = inner
			}
		}
	}
	apart := false
	for i := len(places) - 1; i >= 0; i-- {
		at := places[i].state
		apart = apart || at != s && at.Map != nil && at.Map.Distributed
		places[i].apart = apart
	}
	h.places[s] = places
	return places
}

// leads tells whether the state of a place comes before that of another one in their flow.
func (h *Histories) leads(from, to holding) bool {
	w := h.ways[from.flow]
	if w == nil {
		w = newWays(from.flow)
		h.ways[from.flow] = w
	}
	return w.lead(from.state, to.state)
}

// Leads tells whether a state comes before another one of the flow.
func (f *Flow) Leads(from, to *State) bool { return newWays(f).lead(from, to) }

// ways are those between the states of a flow, by their places in it.
type ways struct {
	index map[*State]int
	next  [][]int
	after map[*State][]bool // those that a state leads to
	open  []int             // room for those whose ways are still to be followed
}

func newWays(f *Flow) *ways {
	w := &ways{index: make(map[*State]int, len(f.States)), next: make([][]int, len(f.States)), after: map[*State][]bool{}}
	for i, s := range f.States {
		w.index[s] = i
	}
	for i, s := range f.States {
		for _, way := range s.Transitions() {
			if to := f.State(way.To); to != nil {
				w.next[i] = append(w.next[i], w.index[to])
			}
		}
	}
	return w
}

// lead tells whether a state comes before another one.
func (w *ways) lead(from, to *State) bool {
	after := w.after[from]
	if after == nil {
		after = make([]bool, len(w.next))
		w.open = append(w.open[:0], w.index[from])
		for len(w.open) > 0 {
			last := w.open[len(w.open)-1]
			w.open = w.open[:len(w.open)-1]
			for _, i := range w.next[last] {
				if !after[i] {
					after[i] = true
					w.open = append(w.open, i)
				}
			}
		}
		w.after[from] = after
	}
	return after[w.index[to]]
}

// Holder is the state of the flow that is a state, or has it inside.
func (f *Flow) Holder(s *State) *State {
	for _, outer := range f.States {
		if rest, found := strings.CutPrefix(s.Position.Pointer, outer.Position.Pointer); found && (rest == "" || rest[0] == '/') {
			return outer
		}
	}
	return nil
}
