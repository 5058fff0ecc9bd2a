package sim

import (
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Status is the status of an execution.
type Status string

// The statuses.
const (
	StatusRunning   Status = "RUNNING" // in a World
	StatusSucceeded Status = "SUCCEEDED"
	StatusFailed    Status = "FAILED"
	StatusTimedOut  Status = "TIMED_OUT"
	StatusAborted   Status = "ABORTED" // it was stopped, the context of Run ended, or an error ended the run
	// StatusPendingRedrive is that of a child execution of a Map whose redrive has not
	// come to it.
	StatusPendingRedrive Status = "PENDING_REDRIVE"
)

// Result is an execution that has ended.
type Result struct {
	ExecutionARN string
	Status       Status
	Output       json.RawMessage // of SUCCEEDED
	Error, Cause string          // of FAILED, and the cause of a run that an error ended; empty where AWS has none
	Start, Stop  time.Time
	// Transitions is what AWS bills for a Standard workflow: one for every
	// state entered, one for every retry and one for every redrive, with those
	// of the Standard child executions of distributed Maps.
	Transitions int
	Events      []Event
	// Visits counts how often each state was entered, and Edges how often each
	// transition was taken, with those in child executions. Names of states are
	// unique in a state machine.
	Visits map[string]int
	Edges  map[Edge]int
	// Calls counts how often the Task of each state was called, retries and
	// child executions with it.
	Calls map[string]int
	// MapRuns are the runs of distributed Maps in the order of their start.
	MapRuns []MapRun

	root         *strand // where a redrive goes on
	redriveCount int
	redriveDate  time.Time
	context      map[string]any // the part of the context object that stays
	random       *randomState
}

// Edge is a transition from one state to another; To is empty for the end of
// the flow.
type Edge struct {
	From, To string
	Kind     asl.TransitionKind
	Rule     int // number of the choice rule or catcher, from 0
}

// MapRun is the run of a distributed Map.
type MapRun struct {
	ARN        string
	State      string    // name of the Map
	Executions []*Result // of the items or batches, in their order; nil for one that never started
}

// Duration returns how long the execution took on its clock.
func (r *Result) Duration() time.Duration { return r.Stop.Sub(r.Start) }

// CostUSD returns the price of the transitions as a Standard workflow in
// asl.DefaultRegion. The free tier is not counted.
func (r *Result) CostUSD() float64 { return asl.TransitionCost(float64(r.Transitions)) }
