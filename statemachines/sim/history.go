package sim

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// EventType is the type of a history event. The type of the events of entering
// and leaving a state is the type of the state with StateEntered or
// StateExited: "WaitStateEntered".
type EventType string

// The types of event that do not name a type of state.
const (
	ExecutionStarted        EventType = "ExecutionStarted"
	ExecutionSucceeded      EventType = "ExecutionSucceeded"
	ExecutionFailed         EventType = "ExecutionFailed"
	ExecutionTimedOut       EventType = "ExecutionTimedOut"
	ExecutionAborted        EventType = "ExecutionAborted"
	TaskScheduled           EventType = "TaskScheduled"
	TaskStarted             EventType = "TaskStarted"
	TaskSucceeded           EventType = "TaskSucceeded"
	TaskFailed              EventType = "TaskFailed"
	TaskTimedOut            EventType = "TaskTimedOut"
	TaskSubmitted           EventType = "TaskSubmitted"
	LambdaFunctionScheduled EventType = "LambdaFunctionScheduled"
	LambdaFunctionStarted   EventType = "LambdaFunctionStarted"
	LambdaFunctionSucceeded EventType = "LambdaFunctionSucceeded"
	LambdaFunctionFailed    EventType = "LambdaFunctionFailed"
	LambdaFunctionTimedOut  EventType = "LambdaFunctionTimedOut"
	ActivityScheduled       EventType = "ActivityScheduled"
	ActivityStarted         EventType = "ActivityStarted"
	ActivitySucceeded       EventType = "ActivitySucceeded"
	ActivityFailed          EventType = "ActivityFailed"
	ActivityTimedOut        EventType = "ActivityTimedOut"
	EvaluationFailed        EventType = "EvaluationFailed"
	ParallelStateStarted    EventType = "ParallelStateStarted"
	ParallelStateSucceeded  EventType = "ParallelStateSucceeded"
	ParallelStateFailed     EventType = "ParallelStateFailed"
	MapStateStarted         EventType = "MapStateStarted"
	MapStateSucceeded       EventType = "MapStateSucceeded"
	MapStateFailed          EventType = "MapStateFailed"
	MapIterationStarted     EventType = "MapIterationStarted"
	MapIterationSucceeded   EventType = "MapIterationSucceeded"
	MapIterationFailed      EventType = "MapIterationFailed"
	MapIterationAborted     EventType = "MapIterationAborted"
	MapRunStarted           EventType = "MapRunStarted"
	MapRunSucceeded         EventType = "MapRunSucceeded"
	MapRunFailed            EventType = "MapRunFailed"
	MapRunAborted           EventType = "MapRunAborted"
	MapRunRedriven          EventType = "MapRunRedriven"
	ExecutionRedriven       EventType = "ExecutionRedriven"
)

const (
	stateEntered = "StateEntered"
	stateExited  = "StateExited"
	stateAborted = "StateAborted"
)

// entered and exited are the types of the events of entering and leaving a state,
// by its type.
var entered, exited = stateEvents(stateEntered), stateEvents(stateExited)

func stateEvents(suffix string) map[asl.Type]EventType {
	all := map[asl.Type]EventType{}
	for _, t := range []asl.Type{
		asl.TypeTask, asl.TypeWait, asl.TypeChoice, asl.TypePass, asl.TypeSucceed, asl.TypeFail, asl.TypeParallel, asl.TypeMap,
	} {
		all[t] = EventType(string(t) + suffix)
	}
	return all
}

// Event is an event of the history of an execution, as GetExecutionHistory
// gives it. Its JSON has AWS's shape: Details are the member that AWS names
// after the type of the event.
type Event struct {
	ID              int64 // from 1
	PreviousEventID int64 // 0 for the first event and for the first state
	Timestamp       time.Time
	Type            EventType
	Details         Details
}

// Details is what an event tells besides its type. Which members an event has
// follows from its type; all others are empty.
type Details struct {
	Name               string // of the state
	Input              *Payload
	Output             *Payload
	Parameters         *Payload // of TaskScheduled
	Resource           string
	ResourceType       string
	Region             string
	TimeoutInSeconds   int64
	HeartbeatInSeconds int64
	Error              string
	Cause              string
	RoleArn            string // of ExecutionStarted
	AssignedVariables  map[string]*Payload
	TaskCredentials    *Payload
	Index              *int // of MapIteration events, from 0
	Length             *int // of MapStateStarted: the number of items
	MapRunArn          string
	RedriveCount       int
	State, Location    string // of EvaluationFailed: the state, and the field in it
}

// growing is a history under way, in pieces: an append to one slice would copy a
// long history several times.
type growing struct {
	full  [][]Event
	piece []Event
	count int
}

func (g *growing) add(e Event) {
	const first, most = 32, 1024
	if len(g.piece) == cap(g.piece) {
		if len(g.piece) > 0 {
			g.full = append(g.full, g.piece)
		}
		g.piece = make([]Event, 0, min(max(first, 2*cap(g.piece)), most))
	}
	g.piece = append(g.piece, e)
	g.count++
}

// appendTo appends the history to the events before it, in a slice that has room
// for no more, and forgets it.
func (g *growing) appendTo(before []Event) []Event {
	all := append(make([]Event, 0, len(before)+g.count), before...)
	for _, piece := range g.full {
		all = append(all, piece...)
	}
	all = append(all, g.piece...)
	*g = growing{}
	return all
}

// wireDetails are details with AWS's member names. Payloads are JSON text in
// a string.
type wireDetails struct {
	Name               string     `json:"name,omitempty"`
	Input              *string    `json:"input,omitempty"`
	InputDetails       *truncated `json:"inputDetails,omitempty"`
	Output             *string    `json:"output,omitempty"`
	OutputDetails      *truncated `json:"outputDetails,omitempty"`
	ResourceType       string     `json:"resourceType,omitempty"`
	Resource           string     `json:"resource,omitempty"`
	Region             string     `json:"region,omitempty"`
	Parameters         *string    `json:"parameters,omitempty"`
	TimeoutInSeconds   int64      `json:"timeoutInSeconds,omitempty"`
	HeartbeatInSeconds int64      `json:"heartbeatInSeconds,omitempty"`
	Error              string     `json:"error,omitempty"`
	Cause              string     `json:"cause,omitempty"`
	RoleArn            string     `json:"roleArn,omitempty"`
	MapRunArn          string     `json:"mapRunArn,omitempty"`
	Index              *int       `json:"index,omitempty"`
	Length             *int       `json:"length,omitempty"`
	RedriveCount       int        `json:"redriveCount,omitempty"`
	State              string     `json:"state,omitempty"`
	Location           string     `json:"location,omitempty"`

	TaskCredentials          json.RawMessage    `json:"taskCredentials,omitempty"`
	AssignedVariables        *map[string]string `json:"assignedVariables,omitempty"`
	AssignedVariablesDetails *truncated         `json:"assignedVariablesDetails,omitempty"`
}

type truncated struct {
	Truncated bool `json:"truncated"`
}

// MarshalJSON writes the event in AWS's shape.
func (e Event) MarshalJSON() ([]byte, error) {
	members := map[string]any{
		"id": e.ID, "previousEventId": e.PreviousEventID, "timestamp": formatTime(e.Timestamp), "type": e.Type,
	}
	d := e.Details
	wire := wireDetails{
		Name: d.Name, Input: textOf(d.Input), Output: textOf(d.Output), Parameters: textOf(d.Parameters),
		ResourceType: d.ResourceType, Resource: d.Resource, Region: d.Region,
		TimeoutInSeconds: d.TimeoutInSeconds, HeartbeatInSeconds: d.HeartbeatInSeconds,
		Error: d.Error, Cause: d.Cause, RoleArn: d.RoleArn, MapRunArn: d.MapRunArn, Index: d.Index, Length: d.Length,
		RedriveCount: d.RedriveCount, State: d.State, Location: d.Location,
	}
	if d.TaskCredentials != nil {
		wire.TaskCredentials = d.TaskCredentials.JSON()
	}
	if d.AssignedVariables != nil {
		texts := make(map[string]string, len(d.AssignedVariables))
		for name, value := range d.AssignedVariables {
			texts[name] = string(value.JSON())
		}
		wire.AssignedVariables, wire.AssignedVariablesDetails = &texts, &truncated{}
	}
	if d.Input != nil {
		wire.InputDetails = &truncated{}
	}
	if d.Output != nil {
		wire.OutputDetails = &truncated{}
	}
	text, err := json.Marshal(wire)
	if err != nil {
		return nil, err
	}
	if string(text) != "{}" || e.Type == ExecutionAborted || e.Type == ActivityStarted { // as AWS has it
		members[detailsName(e.Type)] = json.RawMessage(text)
	}
	return json.Marshal(members)
}

func textOf(p *Payload) *string {
	if p == nil {
		return nil
	}
	text := string(p.JSON())
	return &text
}

// detailsName is the name of the member that holds the details of an event.
func detailsName(t EventType) string {
	name := string(t)
	for _, suffix := range []string{stateEntered, stateExited} {
		if strings.HasSuffix(name, suffix) {
			name = suffix
		}
	}
	first := min(1, len(name))
	return strings.ToLower(name[:first]) + name[first:] + "EventDetails"
}

// formatTime writes a time as AWS does in the context object.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
