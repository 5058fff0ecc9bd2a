package fix

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// turnsBack tells whether a state of the loop stands between its Choice and its Wait, such as one that writes the progress: a new
// loop goes through it before each Wait, as the old one did.
func (l *loop) turnsBack(s *asl.State) bool {
	seen := map[string]bool{}
	for at := s; at != nil && !seen[at.Name]; at = l.flow.State(at.Next) {
		switch {
		case at.Type == asl.TypeWait:
			return l.isEnteredBack(s)
		case at == l.poll:
			return false
		}
		seen[at.Name] = true
	}
	return false
}

// isEnteredBack tells whether Choices of the loop, or other such states, alone lead to a state.
func (l *loop) isEnteredBack(s *asl.State) bool {
	return l.flow.StartAt != s.Name && !slices.ContainsFunc(l.flow.States, func(from *asl.State) bool {
		leads := slices.ContainsFunc(from.Transitions(), func(way asl.Transition) bool { return way.To == s.Name })
		return leads && (!l.inside[from.Name] || from == l.poll || from.Type == asl.TypeWait)
	})
}

// isAside tells whether a state of the loop stays between its Choice and its Wait.
func (l *loop) isAside(name string) bool {
	return slices.ContainsFunc(l.aside, func(s *asl.State) bool { return s.Name == name })
}

// staysIn tells whether a state is in the loop.
func (l *loop) staysIn(name string) bool { return l.inside[name] || l.isAside(name) }

// takeAside takes the states that stay out of those that a new loop takes the place of.
func (l *loop) takeAside() error {
	for _, s := range l.aside {
		delete(l.inside, s.Name)
	}
	for _, s := range l.aside {
		for _, way := range s.Transitions() {
			if l.inside[way.To] && way.To != l.wait.Name {
				return refuse("the loop does more than poll: %q is a %s, and leads to %q", s.Name, s.Type, way.To)
			}
		}
	}
	return nil
}

// goThrough leads a way on which the new loop polls on through the states that stay, with the data that they had.
func (f *fragment) goThrough(at object, field string, document any) error {
	if len(f.aside) == 0 || at[field] != f.named["Wait"] {
		return nil
	}
	first := ""
	for _, s := range f.aside {
		fromChoice := slices.ContainsFunc(f.choice.Transitions(), func(way asl.Transition) bool { return way.To == s.Name })
		if fromChoice && first != "" {
			return refuse("%q leads to %q or to %q while the job runs, and a new loop has one way on: let one state lead there", f.choice.Name, first, s.Name)
		}
		if fromChoice {
			first = s.Name
		}
	}
	if first == "" {
		return refuse("another Choice than %q leads to %q, which stands in front of the Wait", f.choice.Name, f.aside[0].Name)
	}
	data, assign, err := f.exitData(document, first)
	if err != nil {
		return err
	}
	at[field], at["Output"] = first, data
	if assign != nil {
		at["Assign"] = assign
	}
	return nil
}

// noteAside says which states stay, and that they run as often as the new loop polls; empty for none.
func (f *fragment) noteAside() string {
	var names []string
	for _, s := range f.aside {
		names = append(names, strconv.Quote(s.Name))
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("after each poll of a job that runs, the new loop goes through %s, as the old one did: as often as it polls, by its own delays",
		strings.Join(names, ", "))
}

// addAside adds the states that stay to those that are tried alone, as a definition has them.
func (l *loop) addAside(states map[string]json.RawMessage, m *asl.StateMachine, root *jsontree.Node) {
	for _, s := range l.aside {
		if of := stateOf(m, s.Name); of != nil {
			states[s.Name] = nodeAt(root, of.Position.Pointer).Raw()
		}
	}
}

// leaveRoom takes the events of the states that stay off the part of the history that the compiled states may fill.
func (l *loop) leaveRoom(events int) int {
	if len(l.aside) == 0 {
		return events
	}
	const ofPoll, ofTask, ofOther = 9, 5, 2
	turn := ofPoll
	for _, s := range l.aside {
		if s.Task != nil {
			turn += ofTask
		} else {
			turn += ofOther
		}
	}
	if events == 0 {
		events = compile.DefaultEvents
	}
	return events * ofPoll / turn
}
