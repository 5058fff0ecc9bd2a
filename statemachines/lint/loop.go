package lint

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// loop is a cycle of states: all that can be reached from each other.
type loop struct {
	flow   *asl.Flow
	states []*asl.State // in the order of the definition
	inside map[string]bool
	taken  func(*asl.State, asl.Transition) bool
}

// loops are the cycles among states of a flow, which are in the order of the
// definition, along the transitions that taken tells. Those that leave the states
// are not taken. The cycles are in that order too.
func loops(f *asl.Flow, among []*asl.State, taken func(*asl.State, asl.Transition) bool) []*loop {
	t := &tarjan{flow: f, taken: taken, place: make(map[*asl.State]int, len(among)), index: map[string]int{}, low: map[string]int{}, on: map[string]bool{}}
	for i, s := range among {
		t.place[s] = i
	}
	for _, s := range among {
		if t.index[s.Name] == 0 {
			t.visit(s)
		}
	}
	slices.SortFunc(t.found, func(a, b *loop) int { return cmp.Compare(t.place[a.states[0]], t.place[b.states[0]]) })
	return t.found
}

// every takes every transition.
func every(*asl.State, asl.Transition) bool { return true }

// tarjan finds the strongly connected components of a flow.
type tarjan struct {
	flow  *asl.Flow
	taken func(*asl.State, asl.Transition) bool
	place map[*asl.State]int // of the states that are looked at
	index map[string]int     // from 1, in the order of visits
	low   map[string]int
	on    map[string]bool
	stack []*asl.State
	found []*loop
}

func (t *tarjan) visit(s *asl.State) {
	t.index[s.Name] = len(t.index) + 1
	t.low[s.Name] = t.index[s.Name]
	t.stack, t.on[s.Name] = append(t.stack, s), true
	turns := false
	for _, way := range s.Transitions() {
		next := t.flow.State(way.To)
		if _, among := t.place[next]; !among || !t.taken(s, way) {
			continue
		}
		switch {
		case t.index[next.Name] == 0:
			t.visit(next)
			t.low[s.Name] = min(t.low[s.Name], t.low[next.Name])
		case t.on[next.Name]:
			t.low[s.Name] = min(t.low[s.Name], t.index[next.Name])
		}
		turns = turns || way.To == s.Name
	}
	if t.low[s.Name] != t.index[s.Name] {
		return
	}
	l := &loop{flow: t.flow, inside: map[string]bool{}, taken: t.taken}
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.on[last.Name], l.inside[last.Name] = false, true
		l.states = append(l.states, last)
		if last == s {
			break
		}
	}
	if len(l.states) > 1 || turns {
		slices.SortFunc(l.states, func(a, b *asl.State) int { return cmp.Compare(t.place[a], t.place[b]) })
		t.found = append(t.found, l)
	}
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

// passesTime tells whether time passes in a state: in a Wait, or in a Task
// that ends with a job, a token or an activity.
func passesTime(s *asl.State) bool {
	if s.Task == nil {
		return s.Type == asl.TypeWait
	}
	r := asl.ParseResource(s.Task.Resource)
	return r.Pattern != "" || r.Service == "activity"
}

// turn is the shortest way around the loop from a state back to it, along
// errors only if there is no other.
func (l *loop) turn(from *asl.State) Turn {
	for _, errors := range []bool{false, true} {
		before := map[string]string{}
		queue := []*asl.State{from}
		for len(queue) > 0 {
			s := queue[0]
			queue = queue[1:]
			for _, way := range s.Transitions() {
				if way.Kind == asl.TransitionCatch && !errors || !l.taken(s, way) {
					continue
				}
				if way.To == from.Name {
					return l.measure(from, s.Name, before)
				}
				if _, seen := before[way.To]; !seen && l.inside[way.To] {
					before[way.To] = s.Name
					queue = append(queue, l.flow.State(way.To))
				}
			}
		}
	}
	return Turn{}
}

func (l *loop) measure(from *asl.State, last string, before map[string]string) Turn {
	var path []*asl.State
	for name := last; ; name = before[name] {
		path = append(path, l.flow.State(name))
		if name == from.Name {
			break
		}
	}
	slices.Reverse(path)
	return turnOf(path)
}
