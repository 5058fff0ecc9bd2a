package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// TestStateError is the error of TestState for a test that cannot be as it is
// asked for.
type TestStateError struct {
	// Code is the name of AWS's error: "ValidationException", or
	// "InvalidDefinition" for a Map or Parallel without a mock.
	Code string
	// Message is AWS's where AWS refuses it too.
	Message string
}

func (e *TestStateError) Error() string { return e.Message }

// The names of AWS's errors.
const (
	validationException = "ValidationException"
	invalidDefinition   = "InvalidDefinition"
)

func refuse(format string, args ...any) error {
	return &TestStateError{validationException, fmt.Sprintf(format, args...)}
}

// refusal is a request that AWS refuses, with the text. The recordings are of
// the LocalStack project, of December 2025 and February 2026.
type refusal struct {
	when    func(s *asl.State, o *TestOptions) bool
	code    string // validationException if empty
	message func(s *asl.State) string
}

func (r *refusal) error(s *asl.State) error {
	code := r.code
	if code == "" {
		code = validationException
	}
	return &TestStateError{code, r.message(s)}
}

// words is a message that is the same for all states.
func words(text string) func(*asl.State) string { return func(*asl.State) string { return text } }

// requestRefusals are AWS's refusals of what is asked for, in the order in which
// it checks as far as that is recorded.
var requestRefusals = []refusal{
	{ // test_state_mock_validation, map_iteration_failure_count_without_mock
		when:    func(_ *asl.State, o *TestOptions) bool { return o.Mock == nil && o.MapIterationFailureCount != nil },
		message: words("TestState does not support MapIterationFailureCount when a mock is not specified."),
	},
	{ // test_state_mock_validation, state_type_requires_mock
		when: func(s *asl.State, o *TestOptions) bool {
			return o.Mock == nil && (s.Map != nil || s.Parallel != nil)
		},
		code: invalidDefinition,
		message: words("TestState API does not support Map or Parallel states. " +
			"Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]"),
	},
	{ // test_state_scenarios, base_lambda_service_task_state_no_role_arn_validation
		when:    func(s *asl.State, o *TestOptions) bool { return o.Mock == nil && s.Task != nil && o.Options.Role == "" },
		message: words("RoleArn must be specified when testing a Task state"),
	},
	{ // test_state_mock_validation, state_type_does_not_accept_mock
		when: func(s *asl.State, o *TestOptions) bool { return o.Mock != nil && !works(s) },
		message: func(s *asl.State) string {
			return fmt.Sprintf("State type '%s' is not supported when a mock is specified", s.Type)
		},
	},
	{ // test_state_mock_validation, both_mock_result_and_mock_error_output_are_set
		when: func(_ *asl.State, o *TestOptions) bool {
			return o.Mock != nil && o.Mock.Error != nil && o.Mock.Result != nil
		},
		message: words("A test mock should have only one of the following fields: [result, errorOutput]."),
	},
}

// checkRequest refuses what AWS refuses, and then what cannot be.
func checkRequest(s *asl.State, o *TestOptions) error {
	for i := range requestRefusals {
		if r := &requestRefusals[i]; r.when(s, o) {
			return r.error(s)
		}
	}
	switch {
	case o.RetrierRetryCount < 0:
		return refuse("RetrierRetryCount cannot be negative: %d", o.RetrierRetryCount)
	case o.MapIterationFailureCount == nil:
		return nil
	case s.Map == nil:
		return refuse("MapIterationFailureCount needs a Map; the state is a %s", s.Type)
	case *o.MapIterationFailureCount < 0:
		return refuse("MapIterationFailureCount cannot be negative: %d", *o.MapIterationFailureCount)
	default:
		return nil
	}
}

// checkItems refuses a result that a Map or Parallel cannot have. Recorded in
// test_state_mock_validation.
func checkItems(value any, s *asl.State) error {
	if s.Map != nil && s.Map.ResultWriter != nil {
		if _, ok := value.(map[string]any); !ok {
			return refuse("Mocked result must be a JSON object.")
		}
		return nil
	}
	items, ok := value.([]any)
	if !ok {
		return refuse("Mocked result must be an array.")
	}
	if s.Parallel != nil && len(items) != len(s.Parallel.Branches) {
		return refuse("Mocked result must contain the same number of items as number of Parallel branches.")
	}
	return nil
}

// contextMembers are the members of a context object, with their types.
var contextMembers = map[string]map[string]contextType{
	"Execution": {
		"Id": contextText, "Input": contextAny, "Name": contextText, "RoleArn": contextText, "StartTime": contextText,
		"RedriveCount": contextInteger, "RedriveTime": contextText,
	},
	"State":        {"EnteredTime": contextText, "Name": contextText, "RetryCount": contextInteger},
	"StateMachine": {"Id": contextText, "Name": contextText},
	"Task":         {"Token": contextText},
}

// contextType is the type of a member, as AWS names it.
type contextType string

const (
	contextAny     contextType = ""
	contextText    contextType = "a string"
	contextInteger contextType = "an integer"
	contextObject  contextType = "an object"
)

const invalidContext = "Invalid Context object provided: "

// checkContext refuses what is not a context object. Recorded in
// test_state_context_object: members that are not known, Map, Task of another
// state, and a number for Execution.Id; the types of the others are its like.
func checkContext(object map[string]any, s *asl.State) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if name == "Map" {
			return refuse(invalidContext + "'Map' field is not supported when mocking a Context object")
		}
		members, ok := contextMembers[name]
		if !ok {
			return refuse(invalidContext+"Field '%s' is not allowed", name)
		}
		if name == "Task" && (s.Task == nil || asl.ParseResource(s.Task.Resource).Pattern == "") {
			return refuse(invalidContext + "Context object contains 'Task' when state is not a Task state with a " +
				"'.sync' or '.waitForTaskToken' service integration pattern")
		}
		inner, ok := object[name].(map[string]any)
		if !ok {
			return refuse(invalidContext+"%s must be %s", name, contextObject)
		}
		for _, member := range slices.Sorted(maps.Keys(inner)) {
			wanted, ok := members[member]
			if !ok {
				return refuse(invalidContext+"Field '%s' is not allowed", member)
			}
			if !wanted.holds(inner[member]) {
				return refuse(invalidContext+"%s.%s must be %s", name, member, wanted)
			}
		}
	}
	return nil
}

// holds tells whether a value is of the type. The null of a context object that
// came out of an execution without a role is left alone.
func (t contextType) holds(value any) bool {
	switch {
	case value == nil, t == contextAny:
		return true
	case t == contextInteger:
		number, ok := value.(json.Number)
		_, err := number.Int64()
		return ok && err == nil
	default:
		_, ok := value.(string)
		return ok
	}
}
