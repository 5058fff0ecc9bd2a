package sim

import (
	"errors"
	"fmt"
	"iter"
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
	errorResultPath        = "States.ResultPathMatchFailure"
	errorQueryEvaluation   = "States.QueryEvaluationError"
	errorHeartbeatTimeout  = "States.HeartbeatTimeout"
	errorItemReader        = "States.ItemReaderFailed"
	errorToleratedExceeded = "States.ExceedToleratedFailureThreshold"
)

// ErrClockBusy is the error of Run if another run drives the virtual clock.
var ErrClockBusy = errors.New("another run drives this virtual clock; give each run its own, or run one after the other")

// ErrEndless is the error of Run if the history of an execution without a limit
// of events, such as that of an Express workflow, has a quarter of a million.
var ErrEndless = errors.New("an execution has 250,000 events and no end: a loop in it takes no time")

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

// InputSizeError is the error of Run for an execution input above the limit.
type InputSizeError struct{ Size int } // in bytes

func (e *InputSizeError) Error() string {
	return fmt.Sprintf("execution input has %d bytes; the limit is %d", e.Size, asl.MaxPayloadBytes)
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

func (e *ResourceError) Error() string {
	var b strings.Builder
	for _, t := range e.Tasks {
		fmt.Fprintf(&b, "%d:%d: state %q: resource %q has no handler", t.Position.Line, t.Position.Column, t.State, t.Resource)
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

// checkDefinition refuses what cannot be run.
func checkDefinition(m *asl.StateMachine, o *Options) error {
	problems := openProblems(m, o)
	for s := range m.All {
		if s.Map != nil && s.Map.ResultWriter != nil {
			problems = append(problems, m.Problem(s.Position.Pointer+"/ResultWriter",
				"a result writer cannot be simulated: leave it out, and the output of the Map is the array of all results"))
		}
	}
	if err := problems.Err(); err != nil {
		return err
	}
	return checkResources(m.All, o)
}

// openProblems are what the definition leaves open, and what the type of the
// workflow does not allow.
func openProblems(m *asl.StateMachine, o *Options) asl.Problems {
	var problems asl.Problems
	for _, h := range m.Placeholders {
		if h.Needed {
			problems = append(problems, m.Problem(h.Position.Pointer, "the placeholder \"${%s}\" needs a value to run the definition", h.Name))
		}
	}
	if o.Express {
		problems = append(problems, asl.ExpressProblems(m)...)
	}
	return problems
}

func checkResources(states iter.Seq[*asl.State], o *Options) error {
	have := slices.Sorted(maps.Keys(o.Handlers))
	have = slices.DeleteFunc(have, func(name string) bool { return o.Handlers[name] == nil })
	e := &ResourceError{Handlers: have}
	check := func(s *asl.State, resource string, position asl.Position) {
		if o.handler(s.Name, resource) != nil {
			return
		}
		task := ResourceProblem{State: s.Name, Resource: resource, Position: position}
		if len(e.Tasks) < diag.MaxShown {
			task.Suggestion = diag.Nearest(resource, have)
		}
		e.Tasks = append(e.Tasks, task)
	}
	for s := range states {
		if s.Task != nil {
			check(s, s.Task.Resource, s.Task.ResourcePosition)
		}
		if s.Map != nil && s.Map.ItemReader != nil {
			check(s, s.Map.ItemReader.Resource, s.Map.ItemReader.ResourcePosition)
		}
	}
	if len(e.Tasks) > 0 {
		return e
	}
	return nil
}

// failure is the failure of a state.
type failure struct {
	name, cause string
	// fromTask is set if the task itself reported it. States.ALL and
	// States.TaskFailed match States.DataLimitExceeded only then: AWS documents
	// it as out of their reach, but does catch a task's result that is too large.
	fromTask bool
	// inner is set if it came from a branch or an iteration of the state.
	inner bool
	// heartbeat is set if a heartbeat did not come in time, which AWS reports as
	// States.Timeout.
	heartbeat bool
	// evaluation is set if an expression at the location failed, and that is not
	// in the history yet.
	evaluation bool
	location   string
	// pastEnd is set if a path ends in an index that its array does not have.
	pastEnd bool
}

// runtimeFailure is a States.Runtime of the state that the strand is in.
func (s *strand) runtimeFailure(format string, args ...any) *failure {
	return &failure{name: errorRuntime, cause: bounded(s.at() + fmt.Sprintf(format, args...))}
}

// at is how AWS starts the cause of an error that it finds in a state of an
// execution. TestState says nothing of where.
func (s *strand) at() string {
	if s.probe != nil {
		return ""
	}
	return fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). ", s.state.Name, s.entered)
}

// invalidPath is the failure of InputPath or OutputPath.
func (s *strand) invalidPath(err error) *failure {
	if missing, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return s.runtimeFailure("%s", missing.AWS())
	}
	return s.runtimeFailure("%v", err)
}

// tooLarge is the failure of a result, argument or output above the limit.
func tooLarge(who string, fromTask bool) *failure {
	return &failure{
		name:     errorDataLimitExceeded,
		cause:    "The state/task '" + who + "' returned a result with a size exceeding the maximum number of bytes service limit.",
		fromTask: fromTask,
	}
}
