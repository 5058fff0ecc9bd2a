package history

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// FromRun returns a run of a state machine here.
func FromRun(m *asl.StateMachine, r *sim.Result) *Execution {
	e := FromEvents(m, r.ExecutionARN, r.Events)
	e.Status, e.Start, e.Stop = string(r.Status), r.Start, r.Stop // the clock went on behind the last event
	e.Output, e.Error, e.Cause, e.Transitions = string(r.Output), r.Error, r.Cause, r.Transitions
	e.Edges = make(map[graph.Edge]int, len(r.Edges))
	for edge, n := range r.Edges {
		e.Edges[graph.Edge(edge)] = n
	}
	for i, run := range r.MapRuns {
		for _, child := range run.Executions {
			if child != nil && len(child.Events) > 0 {
				of := FromRun(m, child)
				of.MapRun = i
				e.Children = append(e.Children, of)
			}
		}
	}
	return e
}

// FromEvents returns a run here, by the events that it has so far.
func FromEvents(m *asl.StateMachine, arn string, events []sim.Event) *Execution {
	e := &Execution{Machine: m, Events: make([]Event, len(events))}
	e.Identify(arn)
	known := texts{}
	for i := range events {
		e.Events[i] = eventOf(&events[i], known)
	}
	if len(events) > 0 {
		e.settle()
	}
	return e
}

func eventOf(e *sim.Event, known texts) Event {
	d := e.Details()
	out := Event{
		ID: e.ID, Previous: e.PreviousEventID, Time: e.Timestamp, Type: string(e.Type), Name: d.Name, Input: known.of(d.Input), Output: known.of(d.Output),
		Parameters: known.of(d.Parameters), Resource: d.Resource, ResourceType: d.ResourceType, Region: d.Region,
		Error: d.Error, Cause: d.Cause, Location: d.Location, Index: -1, Length: -1,
	}
	if d.Index != nil {
		out.Index = *d.Index
	}
	if d.Length != nil {
		out.Length = *d.Length
	}
	if out.Name == "" {
		out.Name = d.State
	}
	if len(d.AssignedVariables) > 0 {
		out.Assigned = make(map[string]string, len(d.AssignedVariables))
		for name, value := range d.AssignedVariables {
			out.Assigned[name] = known.of(value)
		}
	}
	return out
}

// texts are those of payloads. Events share payloads, so they share the texts, too.
type texts map[*sim.Payload]string

func (t texts) of(p *sim.Payload) string {
	if p == nil {
		return ""
	}
	text, found := t[p]
	if !found {
		text = string(p.JSON())
		t[p] = text
	}
	return text
}
