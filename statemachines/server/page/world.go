package page

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// World is what the page shows and steers. Its methods are called from many goroutines.
type World interface {
	// Runs yields the executions, newest first.
	Runs(yield func(Run) bool)
	// Run returns an execution as it is now; false if there is none.
	Run(arn string) (*Detail, bool)
	// Version changes with each event of an execution; false if there is none. It is
	// asked ten times a second.
	Version(arn string) (int64, bool)
	// Machines are the state machines, by name.
	Machines() []Machine
	// Machine returns a state machine; false if there is none.
	Machine(arn string) (*Machine, bool)
	// Clock is the time of the world.
	Clock() Clock
	// Steer changes the clock.
	Steer(ctx context.Context, s Steering) error
	// Skip ends the wait of a state of an execution.
	Skip(arn, state string) error
	// Call calls an operation of Step Functions' API for the account and region of an
	// ARN. Its error has the text that a client sees.
	Call(ctx context.Context, arn, operation string, input any) (json.RawMessage, error)
	// Answer sets what the next call of a Task gets.
	Answer(arn, state string, output json.RawMessage, errorName, cause string) error
}

// Run is an execution in a list.
type Run struct {
	ARN, Name string
	// Machine is the name of its state machine.
	Machine, MachineARN string
	Status              string
	Start, Stop         time.Time // Stop is zero while it runs
	Express             bool
}

// Detail is an execution with all that a page shows.
type Detail struct {
	Run

	// History ends at the time of the clock while the execution runs.
	History *history.Execution
	// Definition is the text of the definition; empty if it is not known.
	Definition string
	Version    int64
	Places     []Place
	// Redrivable tells that RedriveExecution takes it, and Reason why not.
	Redrivable bool
	Reason     string
}

// Place is a state that an execution is in.
type Place struct {
	State      string
	Type       asl.Type
	Iterations []int // of the Maps around it
	Entered    time.Time
	// Until is when it goes on by itself; zero if that is not known.
	Until time.Time
	// Token is what an answer from outside names; empty if the state waits for none.
	Token   string
	Retries int
	// Input and Variables are JSON text.
	Input, Variables string
}

// Machine is a state machine.
type Machine struct {
	ARN, Name  string
	Express    bool
	Definition string
	Created    time.Time
}

// Clock is the time of a world.
type Clock struct {
	Now time.Time
	// Next is when something happens by itself; zero if nothing does.
	Next time.Time
	// Rate is how many seconds pass in one: 0 for a clock that stands still.
	Rate float64
	// Virtual clocks jump where nothing runs.
	Virtual bool
}

// Steering is one change of the clock.
type Steering struct {
	// Rate is the new one, if it is not nil.
	Rate *float64
	// Virtual makes the clock virtual.
	Virtual bool
	// Advance is how far the clock goes forward.
	Advance time.Duration
	// Next goes to the next time at which something happens.
	Next bool
}
