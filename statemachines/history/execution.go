// Package history reads the history of an execution, of AWS or of a run here: its
// states, the calls of its Tasks, and the jobs that they poll.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// The statuses of an execution.
const (
	StatusRunning   = "RUNNING"
	StatusSucceeded = "SUCCEEDED"
	StatusFailed    = "FAILED"
	StatusTimedOut  = "TIMED_OUT"
	StatusAborted   = "ABORTED"
)

// Execution is an execution with its history. What is not known is empty.
type Execution struct {
	// Title is its name, or that of the file that it was read from.
	Title, ARN string
	// Status is RUNNING where the history has no end.
	Status string
	// Start is when the history begins, and Stop when the execution ended, or when
	// the history ends.
	Start, Stop   time.Time
	Input, Output string // JSON text
	Error, Cause  string
	Region        string
	Express       bool
	// Events are sorted by their IDs.
	Events []Event
	// Machine is nil if the definition is not known.
	Machine *asl.StateMachine
	// Transitions is what AWS bills, by the events that there are.
	Transitions int
	// Edges counts the transitions that were taken; nil: see CountEdges.
	Edges map[graph.Edge]int
	// Children are the executions of distributed Maps in a run here. MapRun is which Map
	// Run of its parent such a one belongs to, in the order of their start.
	Children []*Execution
	MapRun   int
	// Notes say what the history lacks.
	Notes []string
}

// Duration is how long the execution took, or what the history has of it.
func (e *Execution) Duration() time.Duration { return e.Stop.Sub(e.Start) }

// HasEnded tells whether the execution has ended.
func (e *Execution) HasEnded() bool { return e.Status != StatusRunning }

// CostUSD returns the price of the transitions in the region of the execution, or in
// that of asl.DefaultRegion if its price is not known.
func (e *Execution) CostUSD() (usd float64, region string) {
	price, err := asl.TransitionPrice(e.Region)
	if err != nil {
		return asl.TransitionCost(float64(e.Transitions)), asl.DefaultRegion
	}
	return price * float64(e.Transitions), cmp.Or(e.Region, asl.DefaultRegion)
}

// CountRedrives counts how often the execution was redriven.
func (e *Execution) CountRedrives() int {
	n := 0
	for i := range e.Events {
		if e.Events[i].Type == "ExecutionRedriven" {
			n++
		}
	}
	return n
}

// settle puts the events in order and derives from them what nothing else said.
func (e *Execution) settle() {
	slices.SortStableFunc(e.Events, func(a, b Event) int { return cmp.Compare(a.ID, b.ID) })
	before := len(e.Events)
	e.Events = slices.CompactFunc(e.Events, func(a, b Event) bool { return a.ID == b.ID })
	if double := before - len(e.Events); double > 0 {
		e.note("events in the file twice, shown once: %d", double)
	}
	e.fillTimes()
	first, last := e.Events[0], e.Events[len(e.Events)-1]
	if first.ID > 1 {
		e.note("the history begins at event %d: what happened before is not shown", first.ID)
	}
	if missing := last.ID - first.ID + 1 - int64(len(e.Events)); missing > 0 {
		e.note("events missing between event %d and event %d: %d", first.ID, last.ID, missing)
	}
	if e.Start.IsZero() || first.ID > 1 || e.Start.After(first.Time) {
		e.Start = first.Time
	}
	e.readEnds()
	for i := range e.Events {
		if e.Region != "" {
			break
		}
		e.Region = e.Events[i].Region
	}
	if e.Transitions == 0 {
		e.Transitions = countTransitions(e.Events)
	}
}

// fillTimes gives an event without a time that of the event before it.
func (e *Execution) fillTimes() {
	missing := 0
	var last time.Time
	for _, event := range e.Events {
		if last = event.Time; !last.IsZero() {
			break
		}
	}
	for i := range e.Events {
		if e.Events[i].Time.IsZero() {
			e.Events[i].Time = last
			missing++
		}
		last = e.Events[i].Time
	}
	if missing > 0 {
		e.note("events without a timestamp, shown at the time of the event before: %d", missing)
	}
}

// ends are the events that end an execution, with its status.
var ends = map[string]string{
	"ExecutionSucceeded": StatusSucceeded, "ExecutionFailed": StatusFailed, "ExecutionTimedOut": StatusTimedOut, "ExecutionAborted": StatusAborted,
}

// readEnds reads how the execution began and ended. A redriven execution has not
// ended where it did before.
func (e *Execution) readEnds() {
	latest := e.Start
	var end *Event
	for i := range e.Events {
		event := &e.Events[i]
		if event.Time.After(latest) {
			latest = event.Time
		}
		switch {
		case event.Type == "ExecutionStarted":
			e.Input = cmp.Or(e.Input, event.Input)
		case event.Type == "ExecutionRedriven":
			end = nil
		case ends[event.Type] != "":
			end = event
		}
	}
	if end != nil {
		e.Status, e.Output = ends[end.Type], cmp.Or(end.Output, e.Output)
		e.Error, e.Cause = end.Error, end.Cause
	}
	e.Status = cmp.Or(e.Status, StatusRunning)
	if e.Stop.IsZero() || end != nil || latest.After(e.Stop) {
		e.Stop = latest
	}
}

// note adds a note.
func (e *Execution) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// countTransitions counts what AWS bills: the states entered, retries and redrives.
func countTransitions(events []Event) int {
	n := 0
	failed := map[int64]bool{} // events after which a retry comes
	for i := range events {
		event := &events[i]
		switch {
		case strings.HasSuffix(event.Type, "StateEntered"), event.Type == "ExecutionRedriven":
			n++
		case failed[event.Previous] && (strings.HasSuffix(event.Type, "Scheduled") || strings.HasSuffix(event.Type, "StateStarted")):
			n++
		}
		if event.IsFailure() {
			failed[event.ID] = true
		}
	}
	return n
}
