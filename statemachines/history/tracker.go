package history

import (
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// tracker follows the events of an execution.
type tracker struct {
	visits *Visits
	e      *Execution
	of     map[int64]*Visit // by the ID of an event
	kinds  map[int64]string // types of events, by ID
	// indexes are those of items, by the ID of an event; -1 for other events.
	indexes map[int64]int
	open    map[string][]*Visit // by state
	// halted are the visits by their states that a redrive enters anew inside of a Map or
	// Parallel.
	halted map[string][]*Visit
	// containers are the Maps and the Parallels in the order in which they were
	// entered, as far as lastContainer knows still open.
	containers map[asl.Type][]*Visit
	mapRuns    []mapRun
	ended      bool // until a redrive
	redrives   int
	states     map[string]*asl.State // of the definition, if it is known
}

// mapRun is which try of a distributed Map started a Map Run.
type mapRun struct {
	visit *Visit
	try   int
}

func (e *Execution) newTracker() *tracker {
	t := &tracker{
		visits: &Visits{Of: make([]*Visit, len(e.Events)), polled: map[int]bool{}}, e: e,
		of: make(map[int64]*Visit, len(e.Events)), kinds: make(map[int64]string, len(e.Events)), indexes: make(map[int64]int, len(e.Events)),
		open:       map[string][]*Visit{},
		containers: map[asl.Type][]*Visit{},
	}
	if e.Machine != nil {
		t.states = stateMap(e.Machine)
	}
	for i := range e.Events {
		event := &e.Events[i]
		v := t.follow(event, i)
		if v != nil {
			t.of[event.ID], t.visits.Of[i], v.Last = v, v, i
		}
		t.kinds[event.ID], t.indexes[event.ID] = event.Type, event.Index
	}
	for _, v := range t.visits.All {
		if v.pollsOn() {
			t.visits.polled[v.failedAt] = true
		}
		if v.Open {
			t.close(v)
		}
	}
	return t
}

// close ends a visit that no event ends: with the state around it, or with the history.
func (t *tracker) close(v *Visit) {
	switch p := v.parent; {
	case p != nil && v.try < p.tries:
		v.leave(p.restarted)
	case p != nil && !p.Open:
		v.leave(p.End)
	default:
		v.leave(t.e.Stop)
		v.Open = !t.e.HasEnded()
	}
}

// placeIn puts the visits of a child execution into the Map that started it.
func (t *tracker) placeIn(run mapRun) {
	for _, v := range t.visits.All {
		if v.parent == nil && v.Execution == t.e {
			v.parent, v.try, v.place = run.visit, run.try, -1
		}
	}
}

// follow returns the visit that an event belongs to, or nil.
func (t *tracker) follow(event *Event, i int) *Visit {
	v := t.of[event.Previous]
	switch {
	case event.isEntry():
		return t.enter(event, i, v)
	case event.isExit():
		return t.exit(event, i, v)
	case strings.HasSuffix(event.Type, "StateAborted"):
		if v = t.findStopped(event, v); v != nil {
			v.leave(event.Time)
			t.forget(v)
		}
	case event.isOfTask():
		if v == nil && event.Previous != 0 { // its state was entered before the history begins
			v = t.enter(event, i, nil)
			v.State, v.Type, v.Input = "", asl.TypeTask, ""
		}
		if v != nil && v.Open {
			t.note(v, event, i)
		}
	case strings.HasPrefix(event.Type, "Execution"):
		t.followExecution(event, v)
		return nil
	case strings.HasPrefix(event.Type, "MapIteration"):
		return t.followIteration(event, v)
	case event.isOfContainer():
		return t.followContainer(event, v)
	case event.IsFailure():
		return t.followEvaluation(event, i, v)
	}
	return v
}

// findStopped is the visit that an abort ends. The event names none and comes after the one
// that failed, be it for that one itself or for the states beside it.
func (t *tracker) findStopped(event *Event, v *Visit) *Visit {
	kind := asl.Type(strings.TrimSuffix(event.Type, "StateAborted"))
	if v == nil || v.Open && v.Type == kind {
		return v
	}
	var first *Visit
	for _, visits := range t.open { // each in the order in which they were entered
		i := slices.IndexFunc(visits, func(beside *Visit) bool { return beside.Type == kind && beside.isBeside(v) })
		if i >= 0 && (first == nil || visits[i].First < first.First) {
			first = visits[i]
		}
	}
	return first
}

// exit ends a visit: that of the event before, or one around it.
func (t *tracker) exit(event *Event, i int, v *Visit) *Visit {
	if v == nil || v.State != "" || !v.Open {
		v = v.around(func(outer *Visit) bool { return outer.Open && outer.State == event.Name })
	}
	if v == nil {
		v = t.lastOpen(event.Name)
	}
	if v == nil { // it was entered before the history begins
		v = t.enter(event, i, nil)
		v.Start, v.Input = t.start(event.Time), ""
	}
	v.State, v.Output, v.Assigned = event.Name, event.Output, event.Assigned
	v.Type = asl.Type(strings.TrimSuffix(event.Type, "StateExited"))
	v.leave(event.Time)
	v.left = true
	t.forget(v)
	return v
}

// followExecution takes in an event of the execution as a whole.
func (t *tracker) followExecution(event *Event, v *Visit) {
	switch event.Type {
	case "ExecutionStarted":
	case "ExecutionRedriven":
		if t.ended {
			t.redrive()
		}
	case "ExecutionFailed":
		if v == nil { // the history lacks events
			v = t.innermost()
		}
		if v != nil {
			v.blame(event)
		}
		t.leaveAll(event.Time)
	default:
		t.leaveAll(event.Time)
	}
}

// innermost is the visit that was entered last of those under way.
func (t *tracker) innermost() *Visit {
	for _, v := range slices.Backward(t.visits.All) {
		if v.Open {
			return v
		}
	}
	return nil
}

// redrive goes on with the Maps and Parallels that did not end. It enters the other
// states anew.
func (t *tracker) redrive() {
	t.ended = false
	t.redrives++
	t.halted = map[string][]*Visit{}
	for _, v := range t.visits.All {
		p := v.parent
		switch {
		case v.left || v.redriven:
		case v.tries > 0 && (p == nil || p.redrive == t.redrives && v.try == p.tries-1):
			v.Open, v.redrive = true, t.redrives
			v.begin(v.End)
			if p != nil {
				v.try = p.tries
			}
			t.open[v.State] = append(t.open[v.State], v)
			t.containers[v.Type] = append(t.containers[v.Type], v)
		default:
			v.redriven = true
			if p != nil && p.redrive == t.redrives {
				t.halted[v.State] = append(t.halted[v.State], v)
			}
		}
	}
}

// resume takes the visit that a redrive enters anew; nil if there is none.
func (t *tracker) resume(state string) *Visit {
	all := t.halted[state]
	if len(all) == 0 {
		return nil
	}
	t.halted[state] = all[1:]
	return all[0]
}

// followIteration takes in an event of an iteration of a Map.
func (t *tracker) followIteration(event *Event, v *Visit) *Visit {
	outer := v.around(func(outer *Visit) bool { return outer.Open && outer.State == event.Name })
	if outer == nil {
		outer = t.lastOpen(event.Name)
	}
	switch {
	case outer == nil || strings.HasSuffix(event.Type, "Succeeded"):
		return v
	case strings.HasSuffix(event.Type, "Failed"):
		t.failInside(v, outer, event)
		return v
	}
	return outer
}

// followContainer takes in an event of a Map or a Parallel as a whole.
func (t *tracker) followContainer(event *Event, v *Visit) *Visit {
	outer := t.container(event, v)
	if outer == nil {
		return v
	}
	switch {
	case strings.HasSuffix(event.Type, "StateStarted"):
		if v != nil { // after a failure inside, if it is a retry
			t.failInside(v, outer, &t.e.Events[v.Last])
		}
		outer.begin(event.Time)
	case event.Type == "MapRunStarted":
		t.mapRuns = append(t.mapRuns, mapRun{outer, outer.tries})
	case strings.HasSuffix(event.Type, "Succeeded"):
		outer.failing, outer.Error, outer.Cause = false, "", ""
	case event.IsFailure():
		t.failInside(v, outer, event)
		outer.fail(event)
		if outer.Error == "" && v != nil {
			outer.Error, outer.Cause = v.Error, v.Cause
		}
	}
	return outer
}

// container is the Map or Parallel that an event is about: the one around the event
// before, or, where the history does not lead there, the one entered last.
func (t *tracker) container(event *Event, v *Visit) *Visit {
	kind := asl.TypeMap
	if strings.HasPrefix(event.Type, "Parallel") {
		kind = asl.TypeParallel
	}
	if v != nil && strings.HasSuffix(t.kinds[event.Previous], "StateFailed") { // it failed inside of another one
		v = v.parent
	}
	if outer := v.around(func(outer *Visit) bool { return outer.Open && outer.Type == kind }); outer != nil {
		return outer
	}
	all := t.containers[kind]
	for len(all) > 0 && !all[len(all)-1].Open {
		all = all[:len(all)-1]
	}
	t.containers[kind] = all
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

// failInside ends the visit whose failure ends an iteration or a branch.
func (t *tracker) failInside(v, outer *Visit, event *Event) {
	if v == nil || v == outer || v.left {
		return
	}
	v.failing = true
	v.failThrough(outer)
	if v.Open {
		v.leave(event.Time)
		t.forget(v)
	}
}

// followEvaluation takes in the failure of an expression. AWS says that it comes after
// the state before, where it is the first event of its state.
func (t *tracker) followEvaluation(event *Event, i int, v *Visit) *Visit {
	if event.Name != "" && (v == nil || v.State != event.Name || !v.Open) {
		v = nil
		for _, open := range t.open[event.Name] {
			if open.Open && (v == nil || open.Execution.Events[open.First].Previous == event.Previous) {
				v = open
			}
		}
	}
	if v == nil || !v.Open {
		return v
	}
	n := len(v.Attempts)
	v.fail(event)
	v.failedAt, v.evaluated = i, n > 0 && !v.Attempts[n-1].Failed && !v.Attempts[n-1].Open
	return v
}

func (t *tracker) enter(event *Event, i int, before *Visit) *Visit {
	v := &Visit{
		State: event.Name, Type: asl.Type(strings.TrimSuffix(event.Type, "StateEntered")), Start: event.Time, End: t.e.Stop,
		First: i, Last: i, Execution: t.e, Input: event.Input, Open: true,
	}
	kind := t.kinds[event.Previous]
	starts := kind == "MapIterationStarted" || kind == "ParallelStateStarted" || kind == "MapStateStarted"
	var halted *Visit
	if starts || kind == "ExecutionRedriven" {
		halted = t.resume(v.State)
	}
	switch {
	case halted != nil:
		v.Strand, v.parent, v.try, v.place = halted.Strand, halted.parent, halted.parent.tries, halted.place
	case starts:
		v.Strand = event.ID
		if before != nil {
			v.parent, v.try, v.place = before, before.tries, t.indexes[event.Previous]
		}
		if before != nil && kind == "ParallelStateStarted" {
			v.place = before.branches
			before.branches++
		}
	case before != nil:
		v.Strand, v.parent, v.try, v.place = before.Strand, before.parent, before.try, before.place
		if before.left {
			before.next = v
			before.failing = before.failing || t.mustHaveFailed(before)
		}
	}
	t.visits.All = append(t.visits.All, v)
	t.open[v.State] = append(t.open[v.State], v)
	if v.Type == asl.TypeMap || v.Type == asl.TypeParallel {
		t.containers[v.Type] = append(t.containers[v.Type], v)
	}
	return v
}

// mustHaveFailed tells of a visit that was left whether only a Catch leads to the state
// after it: some failures have no event.
func (t *tracker) mustHaveFailed(v *Visit) bool {
	s := t.states[v.State]
	return s != nil && s.Next != v.next.State && len(s.Catch) > 0 && transitionTo(s, v).Kind == asl.TransitionCatch
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

// leaveAll ends the visits under way with the execution.
func (t *tracker) leaveAll(at time.Time) {
	for _, visits := range t.open {
		for _, v := range visits {
			if v.Open {
				v.leave(at)
			}
		}
	}
	clear(t.open)
	t.ended = true
}

// leave ends the visit.
func (v *Visit) leave(at time.Time) {
	v.End, v.Open = at, false
	v.endAttempt(at, nil)
}

// note takes in an event of a Task's call.
func (t *tracker) note(v *Visit, event *Event, i int) {
	switch {
	case strings.HasSuffix(event.Type, "Scheduled"):
		a := Attempt{
			Start: event.Time, End: event.Time, Open: true, Service: event.ResourceType, Action: event.Resource, Event: i,
			Parameters: event.Parameters,
		}
		if !strings.HasPrefix(event.Type, "Task") { // a function or an activity by its ARN
			a.Service, a.Parameters = "", event.Input
		}
		if v.evaluated {
			t.visits.polled[v.failedAt] = true
		}
		v.failing, v.evaluated = false, false
		v.Attempts = append(v.Attempts, a)
	case event.IsFailure():
		v.endAttempt(event.Time, event)
		v.fail(event)
		if n := len(v.Attempts); n > 0 && v.Attempts[n-1].Polled {
			t.visits.polled[i] = true
		}
	case strings.HasSuffix(event.Type, "Succeeded"):
		if n := len(v.Attempts); n > 0 {
			v.Attempts[n-1].Output = event.Output
		}
		v.endAttempt(event.Time, nil)
		v.failing, v.Error, v.Cause = false, "", ""
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
		a.Polled = saysRunning(failure.Error) && callsCheckStatus(a)
	}
}
