package history

import (
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
)

// Visit is one time in a state.
type Visit struct {
	State string
	Type  asl.Type
	// Start and End are the end of the history where it does not say.
	Start, End time.Time
	// First and Last are the events of the visit, by their places in the Events of
	// Execution: the one that was asked for visits, or one of its children.
	First, Last   int
	Execution     *Execution
	Input, Output string    // JSON text
	Attempts      []Attempt // of a Task
	// Error and Cause are those of the last failure, if nothing succeeded after it.
	Error, Cause string
	// Open tells that the history does not have its end.
	Open bool
	// Strand tells visits that follow one another from those of other branches and
	// iterations.
	Strand int64
	// Assigned are the variables that it assigned, as JSON text.
	Assigned map[string]string
}

// Attempt is one call of a Task.
type Attempt struct {
	Start, End time.Time
	Open       bool
	Failed     bool
	// Service and Action are those of the resource: "aws-sdk:athena" and
	// "getQueryExecution", or "lambda" and "invoke".
	Service, Action    string
	Parameters, Output string // JSON text
	Error, Cause       string
	// Event is the place of the event that scheduled it, as Visit.First is.
	Event int
}

// Failures is how many calls failed.
func (v *Visit) Failures() int {
	n := 0
	for i := range v.Attempts {
		if v.Attempts[i].Failed {
			n++
		}
	}
	return n
}

// Visits are the visits of an execution.
type Visits struct {
	// All are those of the execution and of its children, in the order in which
	// they began.
	All []*Visit
	// Of is the visit of each event of the execution by its place; nil for events
	// of none.
	Of []*Visit
}

// FindVisits finds the visits.
func (e *Execution) FindVisits() *Visits {
	own := e.ownVisits()
	var last int64 // strand: the IDs of events name them
	for i := range e.Events {
		last = max(last, e.Events[i].ID)
	}
	for _, child := range e.Children {
		strands := map[int64]int64{}
		for _, v := range child.FindVisits().All {
			if _, known := strands[v.Strand]; !known {
				last++
				strands[v.Strand] = last
			}
			v.Strand = strands[v.Strand]
			own.All = append(own.All, v)
		}
	}
	if len(e.Children) > 0 {
		slices.SortStableFunc(own.All, func(a, b *Visit) int { return a.Start.Compare(b.Start) })
	}
	return own
}

// tracker follows the events of an execution.
type tracker struct {
	visits *Visits
	e      *Execution
	of     map[int64]*Visit    // by the ID of an event
	kinds  map[int64]string    // types of events, by ID
	open   map[string][]*Visit // by state
	// composites are the Maps and the Parallels in the order in which they were
	// entered, as far as lastComposite knows still open.
	composites map[asl.Type][]*Visit
}

func (e *Execution) ownVisits() *Visits {
	t := &tracker{
		visits: &Visits{Of: make([]*Visit, len(e.Events))}, e: e,
		of: make(map[int64]*Visit, len(e.Events)), kinds: make(map[int64]string, len(e.Events)), open: map[string][]*Visit{},
		composites: map[asl.Type][]*Visit{},
	}
	for i := range e.Events {
		event := &e.Events[i]
		v := t.follow(event, i)
		if v != nil {
			t.of[event.ID], t.visits.Of[i], v.Last = v, v, i
		}
		t.kinds[event.ID] = event.Type
	}
	for _, v := range t.visits.All {
		if v.Open {
			v.leave(e.Stop)
			v.Open = !e.HasEnded()
		}
	}
	return t.visits
}

// follow returns the visit that an event belongs to, or nil.
func (t *tracker) follow(event *Event, i int) *Visit {
	v := t.of[event.Previous]
	switch {
	case event.isEntry():
		return t.enter(event, i, v)
	case event.isExit():
		if v == nil || v.State != "" && v.State != event.Name || !v.Open {
			v = t.lastOpen(event.Name)
		}
		if v == nil { // it was entered before the history begins
			v = t.enter(event, i, nil)
			v.Start, v.Input = t.start(event.Time), ""
		}
		v.State, v.Output, v.Assigned = event.Name, event.Output, event.Assigned
		v.Type = asl.Type(strings.TrimSuffix(event.Type, "StateExited"))
		v.leave(event.Time)
		t.forget(v)
	case strings.HasSuffix(event.Type, "StateAborted"):
		if v != nil {
			v.leave(event.Time)
			t.forget(v)
		}
	case event.isOfTask():
		if v == nil && event.Previous != 0 { // its state was entered before the history begins
			v = t.enter(event, i, nil)
			v.State, v.Type, v.Input = "", asl.TypeTask, ""
		}
		if v != nil && v.Open {
			v.note(event, i)
		}
	case strings.HasPrefix(event.Type, "Execution"):
		if v != nil && event.IsFailure() && v.Open && v.Error == "" {
			v.Error, v.Cause = event.Error, event.Cause
		}
		if event.Type != "ExecutionStarted" && event.Type != "ExecutionRedriven" {
			t.leaveAll(event.Time)
		}
		return nil
	default:
		v = t.noteComposite(event, v)
	}
	return v
}

// noteComposite takes in an event of a Map or a Parallel, or the failure of an
// expression. What failed inside of a Map ends there: the state is not left.
func (t *tracker) noteComposite(event *Event, v *Visit) *Visit {
	failed := event.IsFailure() || strings.HasSuffix(event.Type, "Aborted")
	if event.isOfComposite() && v != nil && v.Open && failed && v.Type != asl.TypeMap && v.Type != asl.TypeParallel {
		v.leave(event.Time)
		t.forget(v)
	}
	if strings.HasSuffix(event.Type, "StateFailed") || strings.HasPrefix(event.Type, "MapRun") || strings.HasSuffix(event.Type, "StateSucceeded") {
		if outer := t.lastComposite(event); outer != nil {
			v = outer
		}
	}
	if v == nil || !v.Open {
		return v
	}
	if failed && (event.Error != "" || event.Cause != "") {
		v.Error, v.Cause = event.Error, event.Cause
	}
	return v
}

// lastComposite is the Map or Parallel entered last that is still open.
func (t *tracker) lastComposite(event *Event) *Visit {
	kind := asl.TypeMap
	if strings.HasPrefix(event.Type, "Parallel") {
		kind = asl.TypeParallel
	}
	all := t.composites[kind]
	for len(all) > 0 && !all[len(all)-1].Open {
		all = all[:len(all)-1]
	}
	t.composites[kind] = all
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func (t *tracker) enter(event *Event, i int, before *Visit) *Visit {
	v := &Visit{
		State: event.Name, Type: asl.Type(strings.TrimSuffix(event.Type, "StateEntered")), Start: event.Time, End: t.e.Stop,
		First: i, Last: i, Execution: t.e, Input: event.Input, Open: true,
	}
	switch kind := t.kinds[event.Previous]; {
	case kind == "MapIterationStarted" || kind == "ParallelStateStarted" || kind == "MapStateStarted":
		v.Strand = event.ID
	case before != nil:
		v.Strand = before.Strand
	}
	t.visits.All = append(t.visits.All, v)
	t.open[v.State] = append(t.open[v.State], v)
	if v.Type == asl.TypeMap || v.Type == asl.TypeParallel {
		t.composites[v.Type] = append(t.composites[v.Type], v)
	}
	return v
}

// start is when the first visit began, or a time before any.
func (t *tracker) start(at time.Time) time.Time {
	if all := t.visits.All; len(all) > 0 && all[0].Start.Before(at) {
		return all[0].Start
	}
	return at
}

// lastOpen is the visit of a state that an event ends which does not follow it.
func (t *tracker) lastOpen(state string) *Visit {
	for _, v := range slices.Backward(t.open[state]) {
		if v.Open {
			return v
		}
	}
	return nil
}

// forget takes a visit that has ended from those that are open. One that was entered
// before the history begins had no name at first.
func (t *tracker) forget(v *Visit) {
	for _, name := range []string{v.State, ""} {
		if i := slices.Index(t.open[name], v); i >= 0 {
			t.open[name] = slices.Delete(t.open[name], i, i+1)
		}
	}
}

// leaveAll ends the visits under way with the execution. A redrive enters the state
// anew that failed.
func (t *tracker) leaveAll(at time.Time) {
	for _, visits := range t.open {
		for _, v := range visits {
			if v.Open {
				v.leave(at)
			}
		}
	}
	clear(t.open)
}

// leave ends the visit.
func (v *Visit) leave(at time.Time) {
	v.End, v.Open = at, false
	v.endAttempt(at, nil)
}

// note takes in an event of a Task's call.
func (v *Visit) note(event *Event, i int) {
	switch {
	case strings.HasSuffix(event.Type, "Scheduled"):
		a := Attempt{
			Start: event.Time, End: event.Time, Open: true, Service: event.ResourceType, Action: event.Resource, Event: i,
			Parameters: event.Parameters,
		}
		if !strings.HasPrefix(event.Type, "Task") { // a function or an activity by its ARN
			a.Service, a.Parameters = "", event.Input
		}
		v.Attempts = append(v.Attempts, a)
	case event.IsFailure():
		v.endAttempt(event.Time, event)
		v.Error, v.Cause = event.Error, event.Cause
	case strings.HasSuffix(event.Type, "Succeeded"):
		if n := len(v.Attempts); n > 0 {
			v.Attempts[n-1].Output = event.Output
		}
		v.endAttempt(event.Time, nil)
		v.Error, v.Cause = "", ""
	}
}

// endAttempt ends the call under way, if there is one.
func (v *Visit) endAttempt(at time.Time, failure *Event) {
	n := len(v.Attempts)
	if n == 0 || !v.Attempts[n-1].Open {
		return
	}
	a := &v.Attempts[n-1]
	a.End, a.Open = at, false
	if failure != nil {
		a.Failed, a.Error, a.Cause = true, failure.Error, failure.Cause
	}
}

// CountVisits counts how often each state was entered.
func (v *Visits) CountVisits() map[string]int {
	counts := map[string]int{}
	for _, visit := range v.All {
		counts[visit.State]++
	}
	return counts
}

// CountEdges counts how often each transition of a definition was taken. Where two
// transitions lead from one state to another, a history of AWS does not say which
// was taken, so the first counts.
func (e *Execution) CountEdges(m *asl.StateMachine) map[graph.Edge]int {
	if e.Edges != nil {
		return e.Edges
	}
	edges := map[graph.Edge]int{}
	left := map[int64]string{} // by event: the state that it left
	ended := map[int64]bool{}  // events after which a state was entered
	states := map[string]*asl.State{}
	for s := range m.All {
		states[s.Name] = s
	}
	for i := range e.Events {
		switch event := &e.Events[i]; {
		case event.isExit():
			left[event.ID] = event.Name
		case event.isEntry():
			if from := states[left[event.Previous]]; from != nil {
				ended[event.Previous] = true
				edges[transitionTo(from, event.Name)]++
			}
		}
	}
	for id, from := range left {
		if s := states[from]; s != nil && !ended[id] && (s.End || s.Type == asl.TypeSucceed) {
			edges[graph.Edge{From: from}]++
		}
	}
	return edges
}

// transitionTo is the first transition from a state to another.
func transitionTo(from *asl.State, to string) graph.Edge {
	for _, way := range from.Transitions() {
		if way.To == to {
			return graph.Edge{From: from.Name, To: to, Kind: way.Kind, Rule: way.Rule}
		}
	}
	return graph.Edge{From: from.Name, To: to}
}
