package sim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The names of the errors that the service itself raises.
const (
	errorRuntime           = asl.ErrorRuntime
	errorDataLimitExceeded = "States.DataLimitExceeded"
	errorResultPath        = "States.ResultPathMatchFailure"
	errorQueryEvaluation   = asl.ErrorQueryEvaluation
	errorHeartbeatTimeout  = "States.HeartbeatTimeout"
	errorItemReader        = "States.ItemReaderFailed"
	errorResultWriter      = "States.ResultWriterFailed"
	errorToleratedExceeded = "States.ExceedToleratedFailureThreshold"
)

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

// sizeFailure is the failure of a result, argument or output above the limit.
func sizeFailure(who string, fromTask bool) *failure {
	return &failure{
		name:     errorDataLimitExceeded,
		cause:    "The state/task '" + who + "' returned a result with a size exceeding the maximum number of bytes service limit.",
		fromTask: fromTask,
	}
}

// runtimeFailure is a States.Runtime of the state that the strand is in.
func (s *strand) runtimeFailure(format string, args ...any) *failure {
	return &failure{name: errorRuntime, cause: cutCause(s.at() + fmt.Sprintf(format, args...))}
}

// evaluationFailure is a States.QueryEvaluationError at a place in the state.
func (s *strand) evaluationFailure(location, format string, args ...any) *failure {
	return &failure{name: errorQueryEvaluation, cause: cutCause(s.at() + fmt.Sprintf(format, args...)), evaluation: true, location: location}
}

// invalidPath is the failure of InputPath or OutputPath.
func (s *strand) invalidPath(err error) *failure {
	if missing, ok := errors.AsType[*jsonpath.NotFoundError](err); ok {
		return s.runtimeFailure("%s", missing.AWS())
	}
	return s.runtimeFailure("%v", err)
}

// at is how AWS starts the cause of an error that it finds in a state of an
// execution. TestState says nothing of where.
func (s *strand) at() string {
	if s.probe != nil {
		return ""
	}
	return fmt.Sprintf("An error occurred while executing the state '%s' (entered at the event id #%d). ", s.state.Name, s.entered)
}

// cutCause cuts the text of a cause to as many bytes as the API has characters
// for one.
func cutCause(text string) string {
	if len(text) <= asl.MaxCauseLength {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:asl.MaxCauseLength]), "")
}
