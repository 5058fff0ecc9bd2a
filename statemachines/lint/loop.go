package lint

import (
	"cmp"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// loop is a cycle of states: all that can be reached from each other.
type loop struct {
	flow   *asl.Flow
	states []*asl.State // in the order of the definition
	inside map[string]bool
}

// loops are the cycles of a flow, in the order of the definition.
func loops(f *asl.Flow) []*loop {
	t := &tarjan{flow: f, index: map[string]int{}, low: map[string]int{}, on: map[string]bool{}}
	for _, s := range f.States {
		if t.index[s.Name] == 0 {
			t.visit(s)
		}
	}
	slices.SortFunc(t.found, func(a, b *loop) int {
		return cmp.Compare(slices.Index(f.States, a.states[0]), slices.Index(f.States, b.states[0]))
	})
	return t.found
}

// tarjan finds the strongly connected components of a flow.
type tarjan struct {
	flow  *asl.Flow
	index map[string]int // from 1, in the order of visits
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
		switch {
		case next == nil:
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
	l := &loop{flow: t.flow, inside: map[string]bool{}}
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
		slices.SortFunc(l.states, func(a, b *asl.State) int {
			return cmp.Compare(slices.Index(t.flow.States, a), slices.Index(t.flow.States, b))
		})
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

// waits tells whether time passes in the loop: in a Wait, or in a Task that
// ends with a job, a token or an activity.
func (l *loop) waits() bool {
	return slices.ContainsFunc(l.states, func(s *asl.State) bool {
		if s.Task == nil {
			return s.Type == asl.TypeWait
		}
		r := asl.ParseResource(s.Task.Resource)
		return r.Pattern != "" || r.Service == "activity"
	})
}

// Turn is one time around a loop.
type Turn struct {
	States []string
	// Events is how many events of the history it takes, and Transitions how
	// many transitions are billed, without retries.
	Events, Transitions int
	// Wait is how long its Wait states wait, as far as the definition says; 0
	// if it does not.
	Wait time.Duration
}

// Turns returns how many turns a history has room for, with some events left
// for what comes before and after.
func (t Turn) Turns() int {
	const limit, rest = 25_000, 20
	return (limit - rest) / max(t.Events, 1)
}

// turn is the shortest way around the loop from a state back to it.
func (l *loop) turn(from *asl.State) Turn {
	before := map[string]string{}
	queue := []*asl.State{from}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, way := range s.Transitions() {
			if way.To == from.Name {
				return l.measure(from, s.Name, before)
			}
			if _, seen := before[way.To]; !seen && l.inside[way.To] {
				before[way.To] = s.Name
				queue = append(queue, l.flow.State(way.To))
			}
		}
	}
	return Turn{}
}

func (l *loop) measure(from *asl.State, last string, before map[string]string) Turn {
	var t Turn
	for name := last; ; name = before[name] {
		s := l.flow.State(name)
		t.States = append(t.States, name)
		t.Events += Events(s)
		t.Transitions++
		if s.Wait != nil && s.Wait.Seconds != nil {
			seconds, _ := s.Wait.Seconds.Literal.(int64)
			t.Wait += time.Duration(seconds) * time.Second
		}
		if name == from.Name {
			break
		}
	}
	slices.Reverse(t.States)
	return t
}

// Events returns how many events of the history a visit of the state takes, if
// nothing is retried. What is inside of a Map is counted once.
func Events(s *asl.State) int {
	const simple, fail, task, later, around = 2, 1, 5, 6, 4
	switch {
	case s.Type == asl.TypeFail:
		return fail
	case s.Task != nil:
		if asl.ParseResource(s.Task.Resource).Pattern != "" {
			return later
		}
		return task
	case s.Map != nil && s.Map.Distributed:
		return around + 2
	}
	n := simple
	for _, f := range s.Flows() {
		for _, inner := range f.States {
			n += Events(inner)
		}
	}
	if s.Parallel != nil || s.Map != nil {
		n += around - simple
	}
	return n
}
