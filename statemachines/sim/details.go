package sim

import (
	"strings"
	"time"
)

// holder is the member that holds the payload of an event of the type.
func (d *Details) holder(t EventType) **Payload {
	switch {
	case t == TaskScheduled:
		return &d.Parameters
	case t == ExecutionStarted, t == LambdaFunctionScheduled, t == ActivityScheduled, strings.HasSuffix(string(t), stateEntered):
		return &d.Input
	default:
		return &d.Output
	}
}

// rest is what an event has besides its name and its payload.
type rest interface{ fill(d *Details) }

type (
	// taskRest is shared by the events of the Tasks of an execution.
	taskRest struct {
		resourceType, resource, region string
		timeout, heartbeat             int64
	}
	failureRest struct {
		task                         *taskRest
		name, cause, state, location string
	}
	assignedRest map[string]*Payload
	indexRest    int
	roleRest     string
	wideRest     Details // details of events that fit none of the types above
)

func (r *taskRest) fill(d *Details) {
	d.ResourceType, d.Resource, d.Region = r.resourceType, r.resource, r.region
	d.TimeoutInSeconds, d.HeartbeatInSeconds = r.timeout, r.heartbeat
}

func (r *failureRest) fill(d *Details) {
	r.task.fill(d)
	d.Error, d.Cause, d.State, d.Location = r.name, r.cause, r.state, r.location
}

func (r assignedRest) fill(d *Details) { d.AssignedVariables = r }

func (r indexRest) fill(d *Details) { d.Index = new(int(r)) }

func (r roleRest) fill(d *Details) { d.RoleArn = string(r) }

func (r *wideRest) fill(d *Details) { *d = Details(*r) }

// The rests that details need.
const (
	needsTask = 1 << iota
	needsFailure
	needsAssigned
	needsIndex
	needsRole
	needsWide
)

// needs tells which rests hold the details of an event with the payload.
func (d *Details) needs(payload *Payload) int {
	needs := 0
	for _, part := range []struct {
		there bool
		rest  int
	}{
		{d.ResourceType != "" || d.Resource != "" || d.Region != "" || d.TimeoutInSeconds != 0 || d.HeartbeatInSeconds != 0, needsTask},
		{d.Error != "" || d.Cause != "" || d.State != "" || d.Location != "", needsFailure},
		{d.AssignedVariables != nil, needsAssigned},
		{d.Index != nil, needsIndex},
		{d.RoleArn != "", needsRole},
		{d.TaskCredentials != nil || d.Length != nil || d.MapRunArn != "" || d.RedriveCount != 0, needsWide},
		{d.VersionArn != "" || d.AliasArn != "" || d.WorkerName != "", needsWide},
		{
			d.Input != nil && d.Input != payload || d.Output != nil && d.Output != payload || d.Parameters != nil && d.Parameters != payload,
			needsWide,
		},
	} {
		if part.there {
			needs |= part.rest
		}
	}
	return needs
}

// taskRests are the rests of the Tasks of an execution. Few Tasks make most of a
// history, so it looks at few.
type taskRests struct {
	known [8]*taskRest
	next  int
}

// of returns the rest of the details, the same one for equal details.
func (t *taskRests) of(d *Details) *taskRest {
	r := taskRest{d.ResourceType, d.Resource, d.Region, d.TimeoutInSeconds, d.HeartbeatInSeconds}
	for _, known := range t.known {
		if known != nil && *known == r {
			return known
		}
	}
	t.known[t.next%len(t.known)] = &r
	t.next++
	return &r
}

// newEvent makes an event with the details.
func newEvent(id, previous int64, at time.Time, t EventType, d Details, tasks *taskRests) Event {
	e := Event{ID: id, PreviousEventID: previous, Timestamp: at, Type: t, name: d.Name, payload: *d.holder(t)}
	switch d.needs(e.payload) {
	case 0:
	case needsTask:
		e.rest = tasks.of(&d)
	case needsFailure, needsFailure | needsTask:
		e.rest = &failureRest{tasks.of(&d), d.Error, d.Cause, d.State, d.Location}
	case needsAssigned:
		e.rest = assignedRest(d.AssignedVariables)
	case needsIndex:
		e.rest = indexRest(*d.Index)
	case needsRole:
		e.rest = roleRest(d.RoleArn)
	default:
		wide := wideRest(d)
		e.rest = &wide
	}
	return e
}
