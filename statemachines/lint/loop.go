package lint

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// loop is a cycle of states: all that can be reached from each other.
type loop struct {
	flow   *asl.Flow
	states []*asl.State // in the order of the definition
	inside map[string]bool
	taken  func(*asl.State, asl.Transition) bool
	bounds *bounds              // see boundsOf
	nested map[*asl.State]*loop // see findNested
	calm   map[string]bool      // see turnsCalmly
	// catches is the state whose Catch closes the loop; nil if it turns without errors.
	catches *asl.State
	// resets is the state that sets anew in each turn what the loop counts: counts; nil if none does.
	resets *asl.State
	counts []string
}

// loops are the cycles among states of a flow, which are in the order of the
// definition, along the transitions that taken tells. Those that leave the states
// are not taken. The cycles are in that order too.
func loops(f *asl.Flow, among []*asl.State, taken func(*asl.State, asl.Transition) bool) []*loop {
	t := &tarjan{flow: f, taken: taken, place: make(map[*asl.State]int, len(among)), seen: make(map[*asl.State]*visited, len(among))}
	for i, s := range among {
		t.place[s] = i
	}
	for _, s := range among {
		if t.seen[s] == nil {
			t.search(s)
		}
	}
	slices.SortFunc(t.found, func(a, b *loop) int { return cmp.Compare(t.place[a.states[0]], t.place[b.states[0]]) })
	return t.found
}

// every takes every transition.
func every(*asl.State, asl.Transition) bool { return true }

// tarjan finds the strongly connected components of a flow, in work that grows
// with its transitions, and without recursion: a flow may have thousands of states
// in a row.
type tarjan struct {
	flow  *asl.Flow
	taken func(*asl.State, asl.Transition) bool
	place map[*asl.State]int // of the states that are looked at
	seen  map[*asl.State]*visited
	stack []*visited // whose component is not known yet
	found []*loop
}

// visited is a state that the search has come to.
type visited struct {
	state      *asl.State
	index, low int // from 1, in the order of visits
	open       bool
	turns      bool             // leads to itself
	ways       []asl.Transition // to be followed
}

func (t *tarjan) search(from *asl.State) {
	path := []*visited{t.enter(from)}
	for len(path) > 0 {
		v := path[len(path)-1]
		if next := t.follow(v); next != nil {
			path = append(path, next)
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			before := path[len(path)-1]
			before.low = min(before.low, v.low)
		}
		if v.low == v.index {
			t.close(v)
		}
	}
}

func (t *tarjan) enter(s *asl.State) *visited {
	v := &visited{state: s, index: len(t.seen) + 1, open: true, ways: s.Transitions()}
	v.low = v.index
	t.seen[s] = v
	t.stack = append(t.stack, v)
	return v
}

// follow follows the ways out of a state up to the first that leads to a state
// that is new, and returns that; nil if there is none.
func (t *tarjan) follow(v *visited) *visited {
	for len(v.ways) > 0 {
		way := v.ways[0]
		v.ways = v.ways[1:]
		s := t.flow.State(way.To)
		if _, among := t.place[s]; !among || !t.taken(v.state, way) {
			continue
		}
		v.turns = v.turns || s == v.state
		next := t.seen[s]
		if next == nil {
			return t.enter(s)
		}
		if next.open {
			v.low = min(v.low, next.index)
		}
	}
	return nil
}

// close takes the component of its first state from the stack, and keeps it if it is
// a loop.
func (t *tarjan) close(first *visited) {
	from := len(t.stack) - 1
	for t.stack[from] != first {
		from--
	}
	component := t.stack[from:]
	t.stack = t.stack[:from]
	for _, v := range component {
		v.open = false
	}
	if len(component) == 1 && !first.turns {
		return
	}
	l := &loop{flow: t.flow, inside: make(map[string]bool, len(component)), taken: t.taken}
	for _, v := range component {
		l.inside[v.state.Name] = true
		l.states = append(l.states, v.state)
	}
	slices.SortFunc(l.states, func(a, b *asl.State) int { return cmp.Compare(t.place[a], t.place[b]) })
	t.found = append(t.found, l)
}

// entry returns the state by which the flow enters the loop; nil if there are
// several. before has what leads to each state.
func (l *loop) entry(before map[string][]*asl.State) *asl.State {
	var head *asl.State
	for _, s := range l.states {
		entered := s.Name == l.flow.StartAt || slices.ContainsFunc(before[s.Name], func(from *asl.State) bool { return !l.inside[from.Name] })
		switch {
		case !entered:
		case head != nil:
			return nil
		default:
			head = s
		}
	}
	return head
}

// innermost returns the smallest loop around a state: without the ways back to
// where a larger one is entered. One in which no time passes, such as that through the
// pages of an answer, is a part of the loop that waits.
func (l *loop) innermost(around *asl.State, before map[string][]*asl.State) *loop {
	for {
		inner := l.findNested(before)[around]
		rushes := inner != nil && !slices.ContainsFunc(inner.states, passesTime) && slices.ContainsFunc(l.states, passesTime)
		if inner == nil || rushes || l.turnsCalmly(around) && !inner.turnsCalmly(around) {
			return l
		}
		l = inner
	}
}

// findNested returns the loops in the loop without the ways back to where it is
// entered, by their states. It looks for them once.
func (l *loop) findNested(before map[string][]*asl.State) map[*asl.State]*loop {
	if l.nested != nil {
		return l.nested
	}
	l.nested = map[*asl.State]*loop{}
	head := l.entry(before)
	if head == nil {
		return l.nested
	}
	taken := l.taken
	for _, inner := range loops(l.flow, l.states, func(s *asl.State, way asl.Transition) bool { return way.To != head.Name && taken(s, way) }) {
		for _, s := range inner.states {
			l.nested[s] = inner
		}
	}
	return l.nested
}

// first returns the first state of the loop of a type, or nil.
func (l *loop) first(t asl.Type) *asl.State {
	for _, s := range l.states {
		if s.Type == t {
			return s
		}
	}
	return nil
}

// turnsCalmly tells whether the loop turns around a state without errors.
func (l *loop) turnsCalmly(around *asl.State) bool {
	l.findCalm()
	return l.calm[around.Name]
}

// findCalm finds the states around which the loop turns without errors.
func (l *loop) findCalm() {
	if l.calm != nil {
		return
	}
	l.calm = map[string]bool{}
	for _, o := range loops(l.flow, l.states, func(s *asl.State, way asl.Transition) bool { return way.Kind != asl.TransitionCatch && l.taken(s, way) }) {
		maps.Copy(l.calm, o.inside)
	}
}

// findCatch sets catches.
func (l *loop) findCatch() {
	if l.findCalm(); l.catches != nil || len(l.calm) > 0 {
		return
	}
	for _, s := range l.states {
		if slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool {
			return way.Kind == asl.TransitionCatch && l.inside[way.To] && l.taken(s, way)
		}) {
			l.catches = s
			return
		}
	}
}

// passesTime tells whether time passes in a state: in a Wait, in a Task that ends
// with a job, a token or an activity, or in such a state inside of it.
func passesTime(s *asl.State) bool {
	if s.Task != nil {
		r := asl.ParseResource(s.Task.Resource)
		return r.Pattern != "" || r.Service == "activity" || asl.IsPlaceholderText(s.Task.Resource)
	}
	for _, f := range s.Flows() {
		if slices.ContainsFunc(f.States, passesTime) {
			return true
		}
	}
	return s.Type == asl.TypeWait
}

// passesTime tells whether time passes in the loop, outside of those in it: else it goes
// through items, and does not poll.
func (l *loop) passesTime() bool {
	return slices.ContainsFunc(l.states, func(s *asl.State) bool { return passesTime(s) && l.nested[s] == nil })
}

// turnsAroundPolls tells whether another loop inside of the loop waits: then that one polls, and a call outside of
// it that changes something, such as the start of the next job, is made once in each round.
func (l *loop) turnsAroundPolls() bool {
	for _, inner := range l.nested {
		if slices.ContainsFunc(inner.states, passesTime) {
			return true
		}
	}
	return false
}

// turn is the shortest way around the loop from a state back to it on which time passes,
// along errors only if there is no other.
func (c *checker) turn(l *loop, from *asl.State) Turn {
	for _, errors := range []bool{false, true} {
		for _, waits := range []bool{true, false} {
			if path := l.findTurn(from, errors, waits); path != nil {
				return c.turnOf(path)
			}
		}
	}
	return Turn{}
}

// step is a state on a way around a loop.
type step struct {
	state  *asl.State
	waited bool // time has passed since the first, if that is asked
}

// findTurn finds the shortest way around the loop from a state: along errors, too, and only
// where time passes, if that is asked; nil if there is none.
func (l *loop) findTurn(from *asl.State, errors, waits bool) []*asl.State {
	first := step{from, waits && passesTime(from)}
	before := map[step]step{}
	for queue := []step{first}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, way := range at.state.Transitions() {
			if way.Kind == asl.TransitionCatch && !errors || !l.taken(at.state, way) {
				continue
			}
			if way.To == from.Name && at.waited == waits {
				return pathTo(first, at, before)
			}
			if !l.inside[way.To] || way.To == from.Name {
				continue
			}
			next := step{state: l.flow.State(way.To)}
			next.waited = at.waited || waits && passesTime(next.state)
			if _, seen := before[next]; !seen {
				before[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// pathTo is the way from the first step to the last.
func pathTo(first, last step, before map[step]step) []*asl.State {
	path := []*asl.State{last.state}
	for last != first {
		last = before[last]
		path = append(path, last.state)
	}
	slices.Reverse(path)
	return path
}
