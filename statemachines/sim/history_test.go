package sim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The events of each type of state, as AWS writes them.
func TestHistoryEvents(t *testing.T) {
	t.Parallel()
	lambda := strings.ReplaceAll(task(`, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}]`), describe, function)
	tests := []struct {
		name, definition string
		handler          sim.Handler
		want             []string
	}{
		{"wait, pass, succeed", `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 0, "Next": "P"}, "P": {"Type": "Pass", "Next": "S"}, "S": {"Type": "Succeed"}}}`, nil, []string{
			"ExecutionStarted", "WaitStateEntered", "WaitStateExited", "PassStateEntered", "PassStateExited", "SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded",
		}},
		{"fail", `{"StartAt": "F", "States": {"F": {"Type": "Fail"}}}`, nil, []string{"ExecutionStarted", "FailStateEntered", "ExecutionFailed"}},
		{"task", task(``), returns(`{}`), []string{
			"ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskSucceeded", "TaskStateExited",
			"ChoiceStateEntered", "ChoiceStateExited", "SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded",
		}},
		{"retry and catch", task(`, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 1}], "Catch": [{"ErrorEquals": ["E"], "Next": "Caught"}]`), failsWith("E", ""), []string{
			"ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskFailed", "TaskScheduled", "TaskStarted", "TaskFailed", "TaskStateExited",
			"PassStateEntered", "PassStateExited", "ExecutionSucceeded",
		}},
		{"timeout", task(``), failsWith("States.Timeout", ""), []string{"ExecutionStarted", "TaskStateEntered", "TaskScheduled", "TaskStarted", "TaskTimedOut", "ExecutionFailed"}},
		{"function", lambda, steps(failsWith("E", ""), returns(`{}`)), []string{
			"ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionFailed",
			"LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionSucceeded", "TaskStateExited",
			"ChoiceStateEntered", "ChoiceStateExited", "SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded",
		}},
		{"function timeout", lambda, failsWith("States.Timeout", ""), []string{"ExecutionStarted", "TaskStateEntered", "LambdaFunctionScheduled", "LambdaFunctionStarted", "LambdaFunctionTimedOut", "ExecutionFailed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var seen []sim.Event
			r := run(t, tt.definition, `{}`, tt.handler, sim.Options{OnEvent: func(e sim.Event) { seen = append(seen, e) }})
			require.Equal(t, tt.want, types(r))
			require.Equal(t, r.Events, seen)
			for i, e := range r.Events {
				require.EqualValues(t, i+1, e.ID)
				previous := i
				if i == 1 {
					previous = 0 // the first state's, as at AWS
				}
				require.EqualValues(t, previous, e.PreviousEventID)
			}
		})
	}
}

func TestEventJSON(t *testing.T) {
	t.Parallel()
	r := run(t, task(`, "Parameters": {"ExportArn.$": "$.arn"}, "TimeoutSeconds": 60, "HeartbeatSeconds": 5, "ResultPath": null`), `{"arn": "<a>"}`, returns(`{"n": 1.50}`), sim.Options{})
	text, err := json.Marshal(r.Events[:6])
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"id": 1, "previousEventId": 0, "timestamp": "2026-01-01T00:00:00.000Z", "type": "ExecutionStarted", "executionStartedEventDetails":
			{"input": "{\"arn\":\"<a>\"}", "inputDetails": {"truncated": false}, "roleArn": "arn:aws:iam::123456789012:role/StateMachine"}},
		{"id": 2, "previousEventId": 0, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskStateEntered", "stateEnteredEventDetails":
			{"name": "S", "input": "{\"arn\":\"<a>\"}", "inputDetails": {"truncated": false}}},
		{"id": 3, "previousEventId": 2, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskScheduled", "taskScheduledEventDetails":
			{"resourceType": "aws-sdk:dynamodb", "resource": "describeExport", "region": "us-east-1", "parameters": "{\"ExportArn\":\"<a>\"}", "timeoutInSeconds": 60, "heartbeatInSeconds": 5}},
		{"id": 4, "previousEventId": 3, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskStarted", "taskStartedEventDetails":
			{"resourceType": "aws-sdk:dynamodb", "resource": "describeExport"}},
		{"id": 5, "previousEventId": 4, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskSucceeded", "taskSucceededEventDetails":
			{"resourceType": "aws-sdk:dynamodb", "resource": "describeExport", "output": "{\"n\":1.50}", "outputDetails": {"truncated": false}}},
		{"id": 6, "previousEventId": 5, "timestamp": "2026-01-01T00:00:00.000Z", "type": "TaskStateExited", "stateExitedEventDetails":
			{"name": "S", "output": "{\"arn\":\"<a>\"}", "outputDetails": {"truncated": false}}}
	]`, string(text))

	bare := strings.ReplaceAll(task(`, "Parameters": {}`), describe, function)
	text, err = json.Marshal(run(t, bare, `{}`, failsWith("E", "c"), sim.Options{}).Events[2:])
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"id": 3, "previousEventId": 2, "timestamp": "2026-01-01T00:00:00.000Z", "type": "LambdaFunctionScheduled", "lambdaFunctionScheduledEventDetails":
			{"resource": "`+function+`", "input": "{}", "inputDetails": {"truncated": false}}},
		{"id": 4, "previousEventId": 3, "timestamp": "2026-01-01T00:00:00.000Z", "type": "LambdaFunctionStarted"},
		{"id": 5, "previousEventId": 4, "timestamp": "2026-01-01T00:00:00.000Z", "type": "LambdaFunctionFailed", "lambdaFunctionFailedEventDetails": {"error": "E", "cause": "c"}},
		{"id": 6, "previousEventId": 5, "timestamp": "2026-01-01T00:00:00.000Z", "type": "ExecutionFailed", "executionFailedEventDetails": {"error": "E", "cause": "c"}}
	]`, string(text))
}

// The same seed gives the same history, whatever has no seed.
func TestRunsRepeat(t *testing.T) {
	t.Parallel()
	definition := task(`, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 20, "JitterStrategy": "FULL"}]`)
	history := func(seed uint64) string {
		r := run(t, definition, `{"a": 1}`, failsWith("E", "c"), sim.Options{Seed: seed})
		text, err := json.Marshal(r.Events)
		require.NoError(t, err)
		return string(text)
	}
	first, again, other := history(7), history(7), history(8)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
}

func TestResultFigures(t *testing.T) {
	t.Parallel()
	r := run(t, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Timestamp": "2026-01-01T02:00:00+01:00", "Next": "V"},
		"V": {"Type": "Wait", "TimestampPath": "$.past", "Next": "S"}, "S": {"Type": "Succeed"}}}`, `{"past": "2025-12-31T00:00:00Z"}`, nil, sim.Options{})
	require.Equal(t, time.Hour, r.Duration())
	require.Equal(t, sim.DefaultStart(), r.Start)
	require.Equal(t, at(3600), r.Stop)
	require.Equal(t, 3, r.Transitions)
	require.InDelta(t, 0.000075, r.CostUSD(), 1e-12)
}

// An execution that has ended keeps the events that it is told to, and a redrive
// goes on with their numbers.
func TestKeepEvents(t *testing.T) {
	t.Parallel()
	whole := run(t, task(``), `{}`, failsWith("E", ""), sim.Options{})
	require.Len(t, whole.Events, 6)
	for keep, want := range map[int][]sim.Event{0: whole.Events, 2: whole.Events[4:], 9: whole.Events, sim.KeepNoEvents: nil} {
		o := sim.Options{KeepEvents: keep}
		r := run(t, task(``), `{}`, failsWith("E", ""), o)
		require.Equal(t, sim.AppendHistory(nil, want, sim.EventFormat{}), sim.AppendHistory(nil, r.Events, sim.EventFormat{}))

		o = sim.Options{KeepEvents: 3, Handlers: map[string]sim.Handler{describe: failsWith("E", "")}}
		again, err := sim.Redrive(t.Context(), parse(t, task(``)), r, o)
		require.NoError(t, err)
		require.Len(t, again.Events, 3)
		require.EqualValues(t, 12, again.Events[2].ID)
	}
}
