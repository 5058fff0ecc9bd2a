package fix

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// longestWay is how long a flow may take until it first gets to a state, or to its end if that is
// nil, by how long its states and those inside of them take. A cycle takes as long as all its
// states, once.
func longestWay(f *asl.Flow, to *asl.State, takes map[*asl.State]time.Duration) time.Duration {
	start := f.State(f.StartAt)
	if start == nil || start == to {
		return 0
	}
	w := &ways{
		flow: f, to: to, takes: takes,
		place: map[*asl.State]int{}, low: map[*asl.State]int{}, closed: map[*asl.State]bool{}, rest: map[*asl.State]time.Duration{},
	}
	w.search(start)
	return w.rest[start]
}

// ways finds the cycles of a flow by Tarjan's algorithm: a cycle is closed behind all that it
// leads to.
type ways struct {
	flow   *asl.Flow
	to     *asl.State
	takes  map[*asl.State]time.Duration
	place  map[*asl.State]int // in the order of the search
	low    map[*asl.State]int // the first place that a state leads back to
	open   []*asl.State
	closed map[*asl.State]bool
	rest   map[*asl.State]time.Duration // from a state on; of those that lead to the state
}

func (w *ways) search(s *asl.State) {
	w.place[s] = len(w.place)
	w.low[s] = w.place[s]
	w.open = append(w.open, s)
	for _, next := range w.next(s) {
		if _, seen := w.place[next]; !seen {
			w.search(next)
			w.low[s] = min(w.low[s], w.low[next])
		} else if !w.closed[next] {
			w.low[s] = min(w.low[s], w.place[next])
		}
	}
	if w.low[s] == w.place[s] {
		w.closeCycle(s)
	}
}

// next are the states that a state leads to, without the one that the way ends at.
func (w *ways) next(s *asl.State) []*asl.State {
	var all []*asl.State
	for _, way := range s.Transitions() {
		if next := w.flow.State(way.To); next != nil && next != w.to {
			all = append(all, next)
		}
	}
	return all
}

// closeCycle sets the rest of the states that were opened from one on.
func (w *ways) closeCycle(first *asl.State) {
	at := len(w.open) - 1
	for w.open[at] != first {
		at--
	}
	cycle := w.open[at:]
	w.open = w.open[:at]
	leads, longest, own := w.to == nil, time.Duration(0), time.Duration(0)
	for _, s := range cycle {
		own += w.lasts(s)
		for _, way := range s.Transitions() {
			next := w.flow.State(way.To)
			rest, known := w.rest[next]
			leads = leads || known || next == w.to
			longest = max(longest, rest)
		}
	}
	for _, s := range cycle {
		w.closed[s] = true
		if leads {
			w.rest[s] = own + longest
		}
	}
}

// lasts is how long a state takes: with states inside, as long as the longest of their flows.
func (w *ways) lasts(s *asl.State) time.Duration {
	longest := w.takes[s]
	for _, f := range s.Flows() {
		longest = max(longest, longestWay(f, nil, w.takes))
	}
	return longest
}
