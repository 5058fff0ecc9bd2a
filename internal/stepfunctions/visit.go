package stepfunctions

import (
	"encoding/json"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Visit is the first visit of a state in a run that did not fail there.
type Visit struct {
	State     *asl.State
	Input     json.RawMessage
	Variables map[string]json.RawMessage
	// Result is what the work of a Task, Parallel or Map gave, before
	// ResultSelector; nil for other states.
	Result json.RawMessage
	// Unchecked lets Result have what the API's model does not know, such as a new status.
	Unchecked bool
}

// Visits returns the first visit of each state that a run left again, in their
// order. States inside of distributed Maps are not among them: their history is
// that of other executions.
func Visits(m *asl.StateMachine, r *sim.Result) []Visit {
	h := newTrail(m, r.Events)
	var all []Visit
	seen := map[string]bool{}
	for _, exit := range r.Events {
		entry, found := h.entryOf[exit.ID]
		s := h.states[exit.Details().Name]
		if !found || s == nil || seen[s.Name] {
			continue
		}
		v := Visit{State: s, Input: h.text(entry.Details().Input), Variables: h.variables(entry)}
		if works(s) {
			if v.Result = h.result(s, entry, exit); v.Result == nil {
				continue
			}
		}
		seen[s.Name] = true
		all = append(all, v)
	}
	return all
}

// works tells whether a state has work that a mock does: AWS wants a mock for it,
// and takes none for the others.
func works(s *asl.State) bool { return s.Task != nil || s.Map != nil || s.Parallel != nil }

// trail finds its way in the events of a run.
type trail struct {
	events  []sim.Event
	states  map[string]*asl.State
	around  map[string]string // the state that each state is inside of
	entryOf map[int64]sim.Event
}

func newTrail(m *asl.StateMachine, events []sim.Event) *trail {
	h := &trail{events: events, states: map[string]*asl.State{}, around: map[string]string{}, entryOf: map[int64]sim.Event{}}
	for s := range m.All {
		h.states[s.Name] = s
		for _, f := range s.Flows() {
			for _, inner := range f.States {
				h.around[inner.Name] = s.Name
			}
		}
	}
	// An exit belongs to the entry of its state on the way back.
	for _, e := range events {
		s := h.states[e.Details().Name]
		if s == nil || e.Type != sim.EventType(string(s.Type)+"StateExited") {
			continue
		}
		for at := e; at.PreviousEventID > 0; {
			at = h.before(at)
			if at.Details().Name == s.Name && at.Type == sim.EventType(string(s.Type)+"StateEntered") {
				h.entryOf[e.ID] = at
				break
			}
		}
	}
	return h
}

// before is the event before another.
func (h *trail) before(e sim.Event) sim.Event { return h.events[e.PreviousEventID-1] }

func (*trail) text(p *sim.Payload) json.RawMessage {
	if p == nil {
		return nil
	}
	return p.JSON()
}

// successes are the events that have the result of a Task.
var successes = []sim.EventType{sim.TaskSucceeded, sim.LambdaFunctionSucceeded, sim.ActivitySucceeded}

// result is what the work of a state gave.
func (h *trail) result(s *asl.State, entry, exit sim.Event) json.RawMessage {
	if s.Task != nil {
		for at := exit; at.ID > entry.ID; at = h.before(at) {
			if slices.Contains(successes, at.Type) {
				return h.text(at.Details().Output)
			}
		}
		return nil
	}
	if s.Map != nil && s.Map.Distributed {
		return nil
	}
	// The outputs of the flows inside, each of a state that ended one.
	outputs := map[*asl.Flow][]json.RawMessage{}
	flows := s.Flows()
	for _, e := range h.events[entry.ID : exit.ID-1] {
		inner := h.states[e.Details().Name]
		if _, left := h.entryOf[e.ID]; !left || h.around[inner.Name] != s.Name || !inner.End && inner.Type != asl.TypeSucceed {
			continue
		}
		for _, f := range flows {
			if f.State(inner.Name) == inner {
				outputs[f] = append(outputs[f], h.text(e.Details().Output))
			}
		}
	}
	items := []json.RawMessage{}
	for _, f := range flows {
		if s.Parallel != nil && len(outputs[f]) != 1 {
			return nil // a branch was retried, or caught
		}
		items = append(items, outputs[f]...)
	}
	text, err := json.Marshal(items)
	if err != nil {
		return nil
	}
	return text
}

// variables are those that a state sees where it is entered: what the states of
// its own flow, and of those around it, assigned before.
func (h *trail) variables(entry sim.Event) map[string]json.RawMessage {
	visible := map[string]bool{"": true} // by the state around a flow
	for name := entry.Details().Name; name != ""; name = h.around[name] {
		visible[h.around[name]] = true
	}
	all := map[string]json.RawMessage{}
	for at := entry; at.PreviousEventID > 0; {
		at = h.before(at)
		if _, left := h.entryOf[at.ID]; !left || !visible[h.around[at.Details().Name]] {
			continue
		}
		for name, value := range at.Details().AssignedVariables {
			if _, newer := all[name]; !newer {
				all[name] = h.text(value)
			}
		}
	}
	return all
}
