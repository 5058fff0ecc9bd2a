package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ErrEndless is the error of Run if the history of an execution without a limit
// of events, such as that of an Express workflow, has a quarter of a million.
var ErrEndless = errors.New("an execution has 250,000 events and no end: a loop in it takes no time")

// ErrTooMuch is the error of Run if its executions come to more than 10,000,000
// events and attempts, or to payloads of more than 4 GiB together.
var ErrTooMuch = errors.New("the run is too large to simulate")

// The reasons why an execution cannot be redriven.
var (
	ErrRedriveSucceeded = errors.New("the execution succeeded; only one that failed, timed out or was aborted can be redriven")
	ErrRedriveTooLate   = errors.New("the execution ended more than 14 days ago; it can no longer be redriven")
	ErrRedriveTooLong   = errors.New("the execution was open for a year; it cannot be redriven")
	ErrRedriveFull      = errors.New("the history of the execution is full; it cannot be redriven")
	ErrRedriveExpress   = errors.New("an Express workflow cannot be redriven")
	ErrRedriveRunning   = errors.New("the execution runs; only one that has ended can be redriven")
	ErrRedriveChild     = errors.New("a child execution of a Map is redriven with the execution of the Map")
)

// InternalError is the error of Run and its kin for a defect of this package,
// and no fault of the definition or its input.
type InternalError struct {
	State string // that the run was in; empty before the first
	Value any    // of the panic
	Stack []byte
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("state %q: the simulator has a defect: %v\nReport it with the definition and the input, please.\n\n%s", e.State, e.Value, e.Stack)
}

// PanicError is what a handler in a World fails its Task with where it panics.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("the handler panicked: %v\n\n%s", e.Value, e.Stack)
}

// InputSizeError is the error of Run for an execution input above the limit.
type InputSizeError struct{ Size int } // in bytes

func (e *InputSizeError) Error() string {
	return fmt.Sprintf("execution input has %d bytes; the limit is %d", e.Size, asl.MaxPayloadBytes)
}

// ModelError is the error of Run if a call does not fit the model of its service:
// arguments lack what it requires, or a handler returned what it never does.
type ModelError struct {
	State    string
	Resource string
	What     string // "arguments" or "result"
	Problems []string
}

func (e *ModelError) Error() string {
	verb := "does"
	if e.What == "arguments" {
		verb = "do"
	}
	text := fmt.Sprintf("state %q: the %s of %s %s not fit the model", e.State, e.What, e.Resource, verb)
	if len(e.Problems) == 1 {
		return text + ": " + e.Problems[0]
	}
	return text + ":\n  " + strings.Join(e.Problems, "\n  ")
}

// ResourceError is the error of Run if Tasks, or readers of items, have no
// handler, neither by state nor by resource. It lists every one.
type ResourceError struct {
	Tasks    []ResourceProblem
	Handlers []string // the resources that have a handler, sorted
}

// ResourceProblem is a state whose resource has no handler.
type ResourceProblem struct {
	State      string
	Resource   string
	Position   asl.Position // of the resource in the definition
	Suggestion string       // the nearest resource that has a handler, if one is near
}

// Place returns the error with its positions where they stand in another text.
func (e *ResourceError) Place(where func(asl.Position) asl.Position) error {
	moved := &ResourceError{Tasks: slices.Clone(e.Tasks), Handlers: e.Handlers}
	for i := range moved.Tasks {
		moved.Tasks[i].Position = where(moved.Tasks[i].Position)
	}
	return moved
}

func (e *ResourceError) Error() string {
	var b strings.Builder
	for _, t := range e.Tasks {
		fmt.Fprintf(&b, "%d:%d: state %q: resource %q has no handler%s\n", t.Position.Line, t.Position.Column, t.State, t.Resource,
			nearest.Question(t.Suggestion))
	}
	if len(e.Handlers) == 0 {
		return b.String() + "no resource has a handler"
	}
	return b.String() + "there are handlers for " + strings.Join(e.Handlers, ", ")
}
