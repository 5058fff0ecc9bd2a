package history

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// FromRun returns a run of a state machine here.
func FromRun(m *asl.StateMachine, r *sim.Result) *Execution {
	e := &Execution{
		Status: string(r.Status), Start: r.Start, Stop: r.Stop, Output: string(r.Output), Error: r.Error, Cause: r.Cause,
		Machine: m, Transitions: r.Transitions, Edges: make(map[graph.Edge]int, len(r.Edges)), Events: make([]Event, len(r.Events)),
	}
	e.Identify(r.ExecutionARN)
	for edge, n := range r.Edges {
		e.Edges[graph.Edge(edge)] = n
	}
	for i := range r.Events {
		e.Events[i] = eventOf(&r.Events[i])
	}
	for _, run := range r.MapRuns {
		for _, child := range run.Executions {
			if child != nil && len(child.Events) > 0 {
				e.Children = append(e.Children, FromRun(m, child))
			}
		}
	}
	if len(e.Events) > 0 {
		status, start, stop := e.Status, e.Start, e.Stop
		e.settle()
		e.Status, e.Start, e.Stop = status, start, stop // the clock went on behind the last event
	}
	return e
}

func eventOf(e *sim.Event) Event {
	d := e.Details()
	out := Event{
		ID: e.ID, Previous: e.PreviousEventID, Time: e.Timestamp, Type: string(e.Type), Name: d.Name, Input: textOf(d.Input), Output: textOf(d.Output),
		Parameters: textOf(d.Parameters), Resource: d.Resource, ResourceType: d.ResourceType, Region: d.Region,
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
			out.Assigned[name] = textOf(value)
		}
	}
	return out
}

func textOf(p *sim.Payload) string {
	if p == nil {
		return ""
	}
	return string(p.JSON())
}
