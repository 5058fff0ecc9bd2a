package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The names of the errors that the service itself raises.
const (
	errorRuntime           = "States.Runtime"
	errorDataLimitExceeded = "States.DataLimitExceeded"
	errorNoChoiceMatched   = "States.NoChoiceMatched"
	errorResultPath        = "States.ResultPathMatchFailure"
)

// ErrClockBusy is the error of Run if another run drives the virtual clock.
var ErrClockBusy = errors.New("another run drives this virtual clock; give each run its own, or run one after the other")

// InputSizeError is the error of Run for an execution input above the limit.
type InputSizeError struct{ Size int } // in bytes

func (e *InputSizeError) Error() string {
	return fmt.Sprintf("execution input has %d bytes; the limit is %d", e.Size, MaxPayloadBytes)
}

// ResourceError is the error of Run if a Task's resource cannot be run. It
// lists every such Task.
type ResourceError struct {
	Tasks    []ResourceProblem
	Handlers []string // the resources that have a handler, sorted
}

// ResourceProblem is a Task whose resource cannot be run.
type ResourceProblem struct {
	State      string
	Resource   string
	Position   asl.Position // of the resource in the definition
	Reason     string
	Suggestion string // the nearest resource that has a handler, if one is near
}

func (e *ResourceError) Error() string {
	var b strings.Builder
	for _, t := range e.Tasks {
		fmt.Fprintf(&b, "%d:%d: state %q: resource %q %s", t.Position.Line, t.Position.Column, t.State, t.Resource, t.Reason)
		if t.Suggestion != "" {
			fmt.Fprintf(&b, " (did you mean %q?)", t.Suggestion)
		}
		b.WriteByte('\n')
	}
	if len(e.Handlers) == 0 {
		return b.String() + "there are no handlers"
	}
	return b.String() + "there are handlers for " + strings.Join(e.Handlers, ", ")
}

func checkResources(m *asl.StateMachine, handlers map[string]Handler) error {
	have := slices.Sorted(maps.Keys(handlers))
	have = slices.DeleteFunc(have, func(name string) bool { return handlers[name] == nil })
	e := &ResourceError{Handlers: have}
	for _, s := range m.States {
		if s.Task == nil {
			continue
		}
		p := ResourceProblem{State: s.Name, Resource: s.Task.Resource, Position: s.Task.ResourcePosition}
		if p.Reason = unsupportedPattern(p.Resource); p.Reason == "" && handlers[p.Resource] == nil {
			p.Reason, p.Suggestion = "has no handler", diag.Nearest(p.Resource, have)
		}
		if p.Reason != "" {
			e.Tasks = append(e.Tasks, p)
		}
	}
	if len(e.Tasks) > 0 {
		return e
	}
	return nil
}

func unsupportedPattern(resource string) string {
	switch {
	case strings.HasSuffix(resource, ".waitForTaskToken"):
		return "waits for a task token, which is not supported"
	case strings.HasSuffix(resource, ".sync"), strings.HasSuffix(resource, ".sync:2"):
		return "runs a job to its end (.sync), which is not supported"
	case strings.Contains(resource, ":activity:"):
		return "is an activity, which is not supported"
	default:
		return ""
	}
}

// failure is the failure of a state.
type failure struct {
	name, cause string
	// fromTask is set if the task itself reported it. States.ALL and
	// States.TaskFailed match States.DataLimitExceeded only then: AWS documents
	// it as out of their reach, but does catch a task's result that is too large.
	fromTask bool
}

// runtimeFailure is a States.Runtime of the state that the strand is in.
func (s *strand) runtimeFailure(format string, args ...any) *failure {
	return &failure{name: errorRuntime, cause: s.at() + fmt.Sprintf(format, args...)}
}

// at is how AWS starts the cause of an error that it finds in a state.
func (s *strand) at() string {
	return fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). ", s.state.Name, s.entered)
}

// invalidPath is the failure of InputPath or OutputPath.
func (s *strand) invalidPath(err error) *failure {
	missing, ok := errors.AsType[*jsonpath.NotFoundError](err)
	if !ok {
		return s.runtimeFailure("%v", err)
	}
	what := "No results for path: " + missing.At
	switch {
	case missing.Reason == jsonpath.NoElement:
		what = "Index out of bounds when evaluating path " + missing.At
	case missing.Reason != jsonpath.NoMember:
		what = "Unexpected type of value when evaluating path " + missing.At
	case !missing.Last:
		what = "Missing property in path " + missing.At
	}
	return s.runtimeFailure("Invalid path '%s' : %s", missing.Path, what)
}

// tooLarge is the failure of a result, argument or output above the limit.
func tooLarge(who string, fromTask bool) *failure {
	return &failure{
		name:     errorDataLimitExceeded,
		cause:    "The state/task '" + who + "' returned a result with a size exceeding the maximum number of bytes service limit.",
		fromTask: fromTask,
	}
}
