package sim_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// What others measured on AWS and no recording of the corpus shows. Each case
// has its source.
func TestMeasuredAtAWS(t *testing.T) {
	t.Parallel()
	const in = "An error occurred while executing the state 'S' (entered at the event id #2). "
	inner := func(state string) string {
		return `{"StartAt": "P", "States": {"Caught": {"Type": "Pass", "End": true}, "P": {"Type": "Parallel", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}], "End": true,
			"Branches": [{"StartAt": "S", "States": {"S": ` + state + `}}]}}}`
	}
	const choice = `{"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 9, "Next": "X"}]}`
	only := func(state string) string { return `{"StartAt": "S", "States": {"S": ` + state + `}}` }
	const invoke, reader = "arn:aws:states:::lambda:invoke", "arn:aws:states:::s3:getObject"
	items := func(items string) string {
		return jsonata(`"S": {"Type": "Map", "Items": ` + items + `, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}`)
	}
	expression := func(text string) string {
		return task(`, "QueryLanguage": "JSONata", "Arguments": "{% ` + text + ` %}"`)
	}
	tests := []struct {
		name, source, definition, input string
		err, cause                      string // both empty: it succeeds
		output                          string
	}{
		{
			"no choice matches", "floci#3167, us-east-1, 2026-09-07", `{"StartAt": "S", "States": {"S": ` + choice + `, "X": {"Type": "Succeed"}}}`, `{"a": 1}`,
			"States.Runtime", in + "Failed to transition out of the state. The state does not point to a next state.", "",
		},
		{
			"no choice matches in a branch, which no Catch takes", "floci#3167, us-east-1, 2026-09-07", inner(choice + `, "X": {"Type": "Succeed"}`), `{"a": 1}`,
			"States.Runtime", "An error occurred while executing the state 'S' (entered at the event id #4). Failed to transition out of the state. The state does not point to a next state.", "",
		},
		{
			"a missing path of Parameters", "floci#3167, us-east-1, 2026-09-07", only(`{"Type": "Pass", "Parameters": {"f.$": "$.x"}, "End": true}`), `{"a": 1}`,
			"States.Runtime", in + `The JSONPath '$.x' specified for the field 'f.$' could not be found in the input '{"a":1}'`, "",
		},
		{
			"an index past the end is null", "localstack test_invalid_jsonpath, 2025-01-02", only(`{"Type": "Pass", "Parameters": {"f.$": "$.a[7]"}, "End": true}`), `{"a": [1]}`,
			"", "", `{"f":null}`,
		},
		{
			"TimeoutSecondsPath leads nowhere", "localstack test_invalid_jsonpath, 2025-01-02", task(`, "TimeoutSecondsPath": "$.x"`), `{}`,
			"States.Runtime", in + "Invalid path '$.x' : No results for path: $['x']", "",
		},
		{
			"HeartbeatSecondsPath leads nowhere", "localstack test_invalid_jsonpath, 2025-01-02", task(`, "HeartbeatSecondsPath": "$.x"`), `{}`,
			"States.Runtime", in + "Invalid path '$.x' : No results for path: $['x']", "",
		},
		{
			"OutputPath leads nowhere", "localstack test_invalid_jsonpath, 2025-01-02", only(`{"Type": "Pass", "OutputPath": "$.x", "End": true}`), `{}`,
			"States.Runtime", in + "Invalid path '$.x' : No results for path: $['x']", "",
		},
		{
			"SecondsPath of a negative number", "localstack test_wait, 2024-03-22", only(`{"Type": "Wait", "SecondsPath": "$.x", "End": true}`), `{"x": -1}`,
			"States.Runtime", in + "The SecondsPath parameter references a negative value: $.x == -1", "",
		},
		{
			"SecondsPath of a fraction", "localstack test_wait, 2024-03-22", only(`{"Type": "Wait", "SecondsPath": "$.x", "End": true}`), `{"x": 1.5}`,
			"States.Runtime", in + "The SecondsPath parameter cannot be parsed as a long value: $.x == 1.5", "",
		},
		{
			"Items of a wrong type", "floci#2736, 2026-08-30", items(`"{% 'x' %}"`), `{}`,
			"States.QueryEvaluationError", in + "The JSONata expression ''x'' specified for the field 'Items' returned an unexpected result type. Expected 'array', but was 'string' for value: \"x\"", "",
		},
		{
			"Items that are a function", "localstack test_map_state_items_eval_jsonata_fail, 2024-11-19", items(`"{% $sum %}"`), `{}`,
			"States.QueryEvaluationError", in + "The JSONata expression '$sum' specified for the field 'Items' returned an unsupported result type.", "",
		},
		{
			"200 terms", "floci#2737, 2026-08-29", expression("1" + strings.Repeat("+1", 200)), `{}`,
			"States.QueryEvaluationError", in + "The JSONata expression '1" + strings.Repeat("+1", 200) + "' specified for the field 'Arguments' threw an error during evaluation: " +
				"Stack overflow error: Check for non-terminating recursive function. Consider rewriting as tail-recursive", "",
		},
		{
			"a range of 900,000", "floci#2737, 2026-08-29", expression("[1..900000]"), `{}`,
			"States.QueryEvaluationError", in + "The JSONata expression '[1..900000]' specified for the field 'Arguments' threw an error during evaluation: " +
				"Expression evaluation memory limit exceeded: Check for excessive memory usage", "",
		},
		{
			"a negative MaxItemsPath", "localstack, 2024-03-25", distributed("STANDARD", `, "ItemReader": {"Resource": "`+reader+`", "ReaderConfig": {"InputType": "JSON", "MaxItemsPath": "$.n"}}`), `{"n": -1}`,
			"States.ItemReaderFailed", "field MaxItems must be positive", "",
		},
		{
			"a result of lambda:invoke that is too large", "localstack, 2024-03-21", strings.ReplaceAll(task(`, "Parameters": {"FunctionName": "check"}`), describe, invoke), `{}`,
			"States.DataLimitExceeded", "The state/task 'lambda' returned a result with a size exceeding the maximum number of bytes service limit.", "",
		},
		{
			"a result of a function that is too large", "localstack, 2024-03-21", strings.ReplaceAll(task(``), describe, function), `{}`,
			"States.DataLimitExceeded", "The state/task '" + function + "' returned a result with a size exceeding the maximum number of bytes service limit.", "",
		},
		{
			"SecondsPath leads nowhere", "localstack test_wait, 2024-03-22", only(`{"Type": "Wait", "SecondsPath": "$.x", "End": true}`), `{}`,
			"States.Runtime", in + "The SecondsPath parameter does not reference an input value: $.x", "",
		},
		{
			"a timestamp 24,856 days ahead", "localstack test_wait, 2023-12-13", only(`{"Type": "Wait", "Timestamp": "` + day(24_856) + `", "End": true}`), `{}`,
			"States.Runtime", in + "Wait state delay is too long.", "",
		},
		{
			"a timestamp that JSONata gives and nobody can read", "localstack test_wait_timestamp_jsonata, 2024-12-27", only(`{"Type": "Wait", "QueryLanguage": "JSONata", "Timestamp": "{% 'soon' %}", "End": true}`), `{}`,
			"States.QueryEvaluationError", in + "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: soon", "",
		},
		{
			"the prefix of the innermost state alone", "floci#2868, us-east-1, 2026-09-07", inner(`{"Type": "Pass", "InputPath": "$.x", "End": true}`), `{}`,
			"States.Runtime", "An error occurred while executing the state 'S' (entered at the event id #4). Invalid path '$.x' : No results for path: $['x']", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler := returns(`{}`)
			switch tt.err {
			case "States.DataLimitExceeded":
				handler = returns(quoted(asl.MaxPayloadBytes + 1))
			case "States.ItemReaderFailed":
				handler = returns(`[1]`)
			}
			r := runWith(t, tt.definition, tt.input, sim.Options{Handlers: map[string]sim.Handler{describe: handler, function: handler, invoke: handler, reader: handler}})
			require.Equal(t, tt.err, r.Error, tt.source)
			require.Equal(t, tt.cause, r.Cause, tt.source)
			require.Equal(t, tt.output, string(r.Output), tt.source)
		})
	}
}

func day(n int) string {
	return sim.DefaultStart().Add(time.Duration(n) * 24 * time.Hour).Format(time.RFC3339)
}

// A timestamp 24,855 days ahead is fine (localstack test_wait, 2023-12-13); the
// execution ends before it.
func TestWaitOfAlmostTwoToThe31Seconds(t *testing.T) {
	t.Parallel()
	r := run(t, `{"StartAt": "S", "States": {"S": {"Type": "Wait", "Timestamp": "`+day(24_855)+`", "End": true}}}`, `{}`, nil, sim.Options{})
	require.Equal(t, sim.StatusTimedOut, r.Status)
}

// An undefined expression fails the state at each of these fields, under this
// name, and Catch takes it (floci#2665 and #2689, 2026-08-28).
func TestUndefinedExpressionsByField(t *testing.T) {
	t.Parallel()
	const nothing = `"{% $states.input.none %}"`
	state := func(fields string) string { return task(`, "QueryLanguage": "JSONata", ` + fields) }
	tests := map[string]string{
		"Output":           state(`"Output": ` + nothing),
		"Output/a/b":       state(`"Output": {"a": {"b": ` + nothing + `}}`),
		"Output/values[0]": state(`"Output": {"values": [` + nothing + `]}`),
		"Assign/x/y":       state(`"Assign": {"x": {"y": ` + nothing + `}}`),
		"Arguments/K":      state(`"Arguments": {"K": ` + nothing + `}`),
		"TimeoutSeconds":   state(`"TimeoutSeconds": ` + nothing),
		"Choices[1]/Condition": jsonata(`"S": {"Type": "Choice", "Choices": [{"Condition": "{% false %}", "Next": "Z"}, {"Condition": ` + nothing + `, "Next": "Z"}], "Default": "Z"},
			"Z": {"Type": "Succeed"}`),
		"Choices[1]/Output/v": jsonata(`"S": {"Type": "Choice", "Choices": [{"Condition": "{% false %}", "Next": "Z"}, {"Condition": "{% true %}", "Output": {"v": ` + nothing + `}, "Next": "Z"}]},
			"Z": {"Type": "Succeed"}`),
		"Choices[0]/Assign/x": jsonata(`"S": {"Type": "Choice", "Choices": [{"Condition": "{% true %}", "Assign": {"x": ` + nothing + `}, "Next": "Z"}]}, "Z": {"Type": "Succeed"}`),
		"Catch[0]/Output":     state(`"Catch": [{"ErrorEquals": ["E"], "Output": ` + nothing + `, "Next": "Caught"}]`),
		"Catch[0]/Assign/x":   state(`"Catch": [{"ErrorEquals": ["E"], "Assign": {"x": ` + nothing + `}, "Next": "Caught"}]`),
		"Seconds":             jsonata(`"S": {"Type": "Wait", "Seconds": ` + nothing + `, "End": true}`),
		"Error":               jsonata(`"S": {"Type": "Fail", "Error": ` + nothing + `}`),
		"Cause":               jsonata(`"S": {"Type": "Fail", "Cause": ` + nothing + `}`),
		"MaxConcurrency":      jsonata(`"S": {"Type": "Map", "MaxConcurrency": ` + nothing + `, "Items": [1], "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}`),
		"Items":               jsonata(`"S": {"Type": "Map", "Items": ` + nothing + `, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}`),
	}
	for field, definition := range tests {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			handler := returns(`{}`)
			if strings.HasPrefix(field, "Catch") {
				handler = failsWith("E", "c")
			}
			r := run(t, definition, `{}`, handler, sim.Options{})
			require.Equal(t, "States.QueryEvaluationError", r.Error)
			require.Contains(t, r.Cause, "specified for the field '"+field+"' returned nothing (undefined).")
		})
	}
	r := run(t, state(`"Arguments": {"K": `+nothing+`}, "Catch": [{"ErrorEquals": ["States.QueryEvaluationError"], "Next": "Caught"}]`), `{}`, returns(`{}`), sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.NotContains(t, types(r), "TaskScheduled", "the request is not sent")
}

// A machine's time limit: nothing comes before the event, which has an error and
// no cause, and the execution has neither (floci#2733 and #2965, 2026-08-29).
func TestEventOfTheMachinesTimeLimit(t *testing.T) {
	t.Parallel()
	r := run(t, `{"TimeoutSeconds": 5, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 9, "End": true}}}`, `{}`, nil, sim.Options{})
	require.Equal(t, sim.StatusTimedOut, r.Status)
	require.Equal(t, 5*time.Second, r.Duration())
	require.Empty(t, r.Error)
	require.Empty(t, r.Cause)
	text, err := json.Marshal(r.Events[len(r.Events)-1])
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 3, "previousEventId": 0, "timestamp": "2026-01-01T00:00:05.000Z", "type": "ExecutionTimedOut",
		"executionTimedOutEventDetails": {"error": "States.Timeout"}}`, string(text))
}

// A stop: nothing comes before the event, whose details are empty but there
// (floci#2734 and #2965, 2026-08-29; a recording of StopExecution).
func TestEventOfAStop(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	stops := func(context.Context, sim.Call) (sim.Reply, error) {
		cancel()
		return sim.Reply{Never: true}, nil
	}
	r, err := sim.Run(ctx, parse(t, task(``)), nil, sim.Options{Handlers: map[string]sim.Handler{describe: stops}})
	require.NoError(t, err)
	require.Equal(t, sim.StatusAborted, r.Status)
	text, err := json.Marshal(r.Events[len(r.Events)-1])
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 5, "previousEventId": 0, "timestamp": "2026-01-01T00:00:00.000Z", "type": "ExecutionAborted", "executionAbortedEventDetails": {}}`, string(text))
}

// A limit of a Task: the state fails with States.Timeout and no cause, by the
// event of its kind (floci#2733, 2026-08-29; localstack test_timeouts, 2024-03-10).
// A missed heartbeat does the same (localstack test_heartbeats, 2024-04-18).
func TestEventsOfTimeLimitsOfTasks(t *testing.T) {
	t.Parallel()
	never := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
	const activity = "arn:aws:states:us-east-1:123456789012:activity:a"
	for resource, event := range map[string]sim.EventType{
		describe: sim.TaskTimedOut, function: sim.LambdaFunctionTimedOut, activity: sim.ActivityTimedOut,
	} {
		for _, limit := range []string{`"TimeoutSeconds": 5`, `"HeartbeatSeconds": 5`} {
			definition := `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + resource + `", ` + limit + `, "Parameters": {}, "End": true}}}`
			r, err := sim.Run(t.Context(), parse(t, definition), nil, sim.Options{Handlers: map[string]sim.Handler{resource: never}})
			require.NoError(t, err)
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, "States.Timeout", r.Error)
			require.Empty(t, r.Cause)
			require.Equal(t, event, r.Events[len(r.Events)-2].Type, "%s %s", resource, limit)
		}
	}
}

// A caught failure still leaves the state: TaskStateExited comes after TaskFailed
// (localstack test_map_catch_error, 2024-11-12).
func TestCaughtFailureLeavesTheState(t *testing.T) {
	t.Parallel()
	r := run(t, task(`, "Catch": [{"ErrorEquals": ["E"], "Next": "Caught"}]`), `{}`, failsWith("E", "c"), sim.Options{})
	require.Equal(t, sim.TaskFailed, r.Events[4].Type)
	require.Equal(t, sim.EventType("TaskStateExited"), r.Events[5].Type)
	require.Equal(t, r.Events[4].ID, r.Events[5].PreviousEventID)
}

// The keys of TaskScheduled (localstack, 2023 to 2025).
func TestDetailsOfTaskScheduled(t *testing.T) {
	t.Parallel()
	r := run(t, task(`, "Parameters": {"a": 1}, "TimeoutSeconds": 9, "HeartbeatSeconds": 3, "Credentials": {"RoleArn": "arn:aws:iam::123456789012:role/r"}`), `{}`, returns(`{}`), sim.Options{})
	text, err := json.Marshal(r.Events[2])
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 3, "previousEventId": 2, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskScheduled", "taskScheduledEventDetails": {
		"parameters": "{\"a\":1}", "region": "us-east-1", "resource": "describeExport", "resourceType": "aws-sdk:dynamodb",
		"timeoutInSeconds": 9, "heartbeatInSeconds": 3, "taskCredentials": {"roleArn": "arn:aws:iam::123456789012:role/r"}}}`, string(text))
}

// A Map that fails: first the iteration that failed, then those that are stopped,
// each with the state that it is in. All come after the event of the failure
// (localstack test_service_lambda_map_timeout, 2024-03-10).
func TestEventsOfAFailingMap(t *testing.T) {
	t.Parallel()
	never := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
	r := run(t, `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "T", "States": {
		"T": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {}, "TimeoutSeconds": 5, "End": true}}}}}}`, `[1, 2, 3]`, never, sim.Options{})
	require.Equal(t, "States.Timeout", r.Error)
	const failure = 16
	require.Equal(t, []link{
		{failure, 9, "TaskTimedOut"},
		{failure + 1, failure, "MapIterationFailed"},
		{failure + 2, failure, "TaskStateAborted"},
		{failure + 3, failure, "MapIterationAborted"},
		{failure + 4, failure, "TaskStateAborted"},
		{failure + 5, failure, "MapIterationAborted"},
		{failure + 6, failure, "TaskStateAborted"},
		{failure + 7, failure, "MapStateFailed"},
		{failure + 8, failure + 7, "ExecutionFailed"},
	}, links(r)[failure-1:])
}

// Each branch has a chain of its own. The exit of a Map comes after the last event
// in it, and not after MapStateSucceeded or MapRunSucceeded (floci#3167 and #2868,
// us-east-1, 2026-09-07; recordings since November 2024).
func TestEventsThatNoOtherComesAfter(t *testing.T) {
	t.Parallel()
	const inner = `{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`
	r := run(t, `{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemProcessor": `+inner+`, "End": true}}}`, `[1]`, nil, sim.Options{})
	require.Equal(t, []link{
		{1, 0, "ExecutionStarted"},
		{2, 0, "MapStateEntered"},
		{3, 2, "MapStateStarted"},
		{4, 3, "MapIterationStarted"},
		{5, 4, "PassStateEntered"},
		{6, 5, "PassStateExited"},
		{7, 6, "MapIterationSucceeded"},
		{8, 7, "MapStateSucceeded"},
		{9, 7, "MapStateExited"},
		{10, 9, "ExecutionSucceeded"},
	}, links(r))

	r = run(t, `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}, {"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}]}}}`, `{}`, nil, sim.Options{})
	require.Equal(t, []link{
		{3, 2, "ParallelStateStarted"},
		{4, 3, "PassStateEntered"},
		{5, 4, "PassStateExited"},
		{6, 3, "PassStateEntered"},
		{7, 6, "PassStateExited"},
		{8, 7, "ParallelStateSucceeded"},
		{9, 7, "ParallelStateExited"},
		{10, 9, "ExecutionSucceeded"},
	}, links(r)[2:])

	r = run(t, distributed("STANDARD", ``), `[1]`, returns(`1`), sim.Options{})
	require.Equal(t, []link{
		{1, 0, "ExecutionStarted"},
		{2, 0, "MapStateEntered"},
		{3, 2, "MapStateStarted"},
		{4, 3, "MapRunStarted"},
		{5, 4, "MapRunSucceeded"},
		{6, 5, "MapStateSucceeded"},
		{7, 4, "MapStateExited"},
		{8, 7, "ExecutionSucceeded"},
	}, links(r), "the events of children are in histories of their own")
}

// link is an event with the one that comes before it.
type link struct {
	id, previous int64
	event        string
}

func links(r *sim.Result) []link {
	out := make([]link, len(r.Events))
	for i, e := range r.Events {
		out[i] = link{e.ID, e.PreviousEventID, string(e.Type)}
	}
	return out
}

// An expression that fails in a Task with Retry leaves an event for each attempt,
// and limits of expressions are caught like any other failure of theirs (floci#3167
// and #2737, us-east-1, 2026-09-07).
func TestEachAttemptOfAFailingExpressionLeavesAnEvent(t *testing.T) {
	t.Parallel()
	r := run(t, task(`, "QueryLanguage": "JSONata", "Arguments": {"K": "{% [1..900000] %}"}, "Retry": [{"ErrorEquals": ["States.QueryEvaluationError"], "MaxAttempts": 2}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Caught"}]`), `{}`, returns(`{}`), sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status)
	failed := 0
	for _, e := range r.Events {
		if e.Type == sim.EvaluationFailed {
			failed++
			require.Equal(t, []string{"States.QueryEvaluationError", "S", "Arguments/K"}, []string{e.Details().Error, e.Details().State, e.Details().Location})
		}
	}
	require.Equal(t, 3, failed)
}

// TestState tells the cause without the state (floci#2736, 2026-08-29).
func TestCauseOfATestStateHasNoPrefix(t *testing.T) {
	t.Parallel()
	r, err := sim.TestState(t.Context(), []byte(`{"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $states.input.x %}", "End": true}`), []byte(`{}`), sim.TestOptions{})
	require.NoError(t, err)
	require.Equal(t, "The JSONata expression '$states.input.x' specified for the field 'Output' returned nothing (undefined).", r.Cause)
}

// The details of ActivityStarted are there, though the worker has no name
// (localstack test_activities, 2024-03-17).
func TestDetailsOfActivityStarted(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(sim.Event{ID: 4, PreviousEventID: 3, Timestamp: sim.DefaultStart(), Type: sim.ActivityStarted})
	require.NoError(t, err)
	require.JSONEq(t, `{"id": 4, "previousEventId": 3, "timestamp": "2026-01-01T00:00:00.000Z", "type": "ActivityStarted", "activityStartedEventDetails": {}}`, string(text))
}
