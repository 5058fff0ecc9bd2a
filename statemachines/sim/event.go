package sim

import (
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
	TaskSubmitFailed        EventType = "TaskSubmitFailed"
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
// gives it. Its JSON has AWS's shape.
//
// Histories are long and many are kept, so an Event holds only what it has: a
// name, a payload, and the rest where there is a rest.
type Event struct {
	ID              int64 // from 1
	PreviousEventID int64 // 0 for the first event and for the first state
	Timestamp       time.Time
	Type            EventType

	name    string
	payload *Payload // the one that holder names
	rest    rest
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
	RoleArn            string // of ExecutionStarted, with the next two
	VersionArn         string // of the state machine
	AliasArn           string
	WorkerName         string // of ActivityStarted
	AssignedVariables  map[string]*Payload
	TaskCredentials    *Payload
	Index              *int // of MapIteration events, from 0
	Length             *int // of MapStateStarted: the number of items
	MapRunArn          string
	RedriveCount       int
	State, Location    string // of EvaluationFailed: the state, and the field in it
}

// Details returns what the event tells besides its type.
func (e Event) Details() Details {
	var d Details
	if e.rest != nil {
		e.rest.fill(&d)
	}
	if e.name != "" {
		d.Name = e.name
	}
	if e.payload != nil {
		*d.holder(e.Type) = e.payload
	}
	return d
}
