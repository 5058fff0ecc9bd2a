package sim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// jsonata is a machine in JSONata mode of the states.
func jsonata(states string) string {
	return `{"QueryLanguage": "JSONata", "StartAt": "S", "States": {` + states + `}}`
}

func TestJSONata(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, states, input, output string }{
		{
			"Output", `"S": {"Type": "Pass", "Output": {"sum": "{% $sum($states.input.n) %}", "deep": [{"x": "{% 'y' %}"}], "fixed": 1.50}, "End": true}`, `{"n": [1, 2.5]}`,
			`{"deep":[{"x":"y"}],"fixed":1.50,"sum":3.5}`,
		},
		{"no Output", `"S": {"Type": "Succeed"}`, `[1]`, `[1]`},
		{"context object", `"S": {"Type": "Pass", "Output": "{% $states.context.State.Name & $states.context.Execution.Name %}", "End": true}`, `{}`, `"Sexecution-1"`},
		{
			"clock", `"S": {"Type": "Wait", "Seconds": 90, "Next": "T"}, "T": {"Type": "Pass", "Output": "{% [$now(), $millis() - $toMillis($states.context.Execution.StartTime)] %}", "End": true}`, `{}`,
			`["2026-01-01T00:01:30.000Z",90000]`,
		},
		{"Seconds", `"S": {"Type": "Wait", "Seconds": "{% $states.input * 2 %}", "Output": "{% $millis() %}", "End": true}`, `30`, `1767225660000`},
		{"Timestamp", `"S": {"Type": "Wait", "Timestamp": "{% $states.input %}", "Output": "{% $now() %}", "End": true}`, `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00.000Z"`},
		{
			"Task", `"S": {"Type": "Task", "Resource": "` + describe + `", "Arguments": {"a": "{% $states.input.x %}"}, "Output": "{% {'in': $states.input, 'out': $states.result} %}", "End": true}`,
			`{"x": 1}`, `{"in":{"x":1},"out":{"a":1}}`,
		},
		{"Task without Output", `"S": {"Type": "Task", "Resource": "` + describe + `", "Arguments": 7, "End": true}`, `{}`, `7`},
		{"Choice by rule", `"S": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input > 1 %}", "Next": "A", "Output": "rule", "Assign": {"v": 1}}], "Default": "A", "Output": "default", "Assign": {"v": 2}},
			"A": {"Type": "Pass", "Output": "{% [$states.input, $v] %}", "End": true}`, `2`, `["rule",1]`},
		{"Choice by default", `"S": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input > 1 %}", "Next": "A", "Output": "rule", "Assign": {"v": 1}}], "Default": "A", "Output": "default", "Assign": {"v": 2}},
			"A": {"Type": "Pass", "Output": "{% [$states.input, $v] %}", "End": true}`, `1`, `["default",2]`},
		{"Catch", `"S": {"Type": "Map", "Items": [1], "ItemProcessor": {"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "{% 'E' & $states.input %}", "Cause": "c"}}}, "End": true,
			"Catch": [{"ErrorEquals": ["E1"], "Assign": {"why": "{% $states.errorOutput.Cause %}"}, "Output": "{% $states.errorOutput.Error %}", "Next": "A"}]},
			"A": {"Type": "Pass", "Output": "{% [$states.input, $why] %}", "End": true}`, `{}`, `["E1","c"]`},
		{"Catch without Output", `"S": {"Type": "Parallel", "Branches": [{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E"}}}], "End": true,
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "A"}]}, "A": {"Type": "Succeed"}`, `{}`, `{"Cause":null,"Error":"E"}`},
		{"Items and ItemSelector", `"S": {"Type": "Map", "Items": "{% [1..3] %}", "ItemSelector": "{% $states.context.Map.Item.Value * 10 + $states.context.Map.Item.Index %}",
			"ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Succeed"}}}, "End": true}`, `{}`, `[10,21,32]`},
		{"a state in JSONata mode", `"S": {"Type": "Pass", "Output": "{% 1 %}", "End": true}`, `{}`, `1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			echo := func(_ context.Context, call sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: call.Arguments}, nil
			}
			r := run(t, jsonata(tt.states), tt.input, echo, sim.Options{})
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.Equal(t, tt.output, string(r.Output))
		})
	}
}

func TestJSONataFailures(t *testing.T) {
	t.Parallel()
	at := "An error occurred while executing the state 'S' (entered at the event id #2). "
	task := `"S": {"Type": "Task", "Resource": "` + describe + `", `
	tests := []struct{ name, states, input, cause, location string }{
		{
			"undefined", `"S": {"Type": "Pass", "Output": {"v": "{% $states.input.x %}"}, "End": true}`, `{}`,
			"The JSONata expression '$states.input.x' specified for the field 'Output/v' returned nothing (undefined).", "Output/v",
		},
		{
			"in an array", `"S": {"Type": "Pass", "Output": [1, {"v": "{% $states.input.x %}"}], "End": true}`, `{}`,
			"The JSONata expression '$states.input.x' specified for the field 'Output[1]/v' returned nothing (undefined).", "Output[1]/v",
		},
		{
			"Assign", `"S": {"Type": "Pass", "Assign": {"v": "{% $nobody %}"}, "End": true}`, `{}`,
			"The JSONata expression '$nobody' specified for the field 'Assign/v' returned nothing (undefined).", "Assign/v",
		},
		{
			"Condition", `"S": {"Type": "Choice", "Choices": [{"Condition": "{% 1 %}", "Next": "Z"}], "Default": "Z"}, "Z": {"Type": "Succeed"}`, `{}`,
			"The JSONata expression '1' specified for the field 'Choices[0]/Condition' returned an unexpected result type. Expected 'boolean', but was 'number' for value: 1", "Choices[0]/Condition",
		},
		{
			"Seconds", `"S": {"Type": "Wait", "Seconds": "{% 1.5 %}", "End": true}`, `{}`,
			"The JSONata expression '1.5' specified for the field 'Seconds' returned an unexpected result type. Expected 'integer', but was 'number' for value: 1.5", "Seconds",
		},
		{
			"Arguments", task + `"Arguments": "{% $states.input.x %}", "End": true}`, `{}`,
			"The JSONata expression '$states.input.x' specified for the field 'Arguments' returned nothing (undefined).", "Arguments",
		},
		{
			"TimeoutSeconds", task + `"Arguments": {}, "TimeoutSeconds": "{% -1 %}", "End": true}`, `{}`,
			"The JSONata expression '-1' specified for the field 'TimeoutSeconds' returned a value that is not between 1 and 99999999: -1", "TimeoutSeconds",
		},
		{
			"Error", `"S": {"Type": "Fail", "Error": "{% 1 %}"}`, `{}`,
			"The JSONata expression '1' specified for the field 'Error' returned an unexpected result type. Expected 'string', but was 'number' for value: 1", "Error",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, jsonata(tt.states), tt.input, returns(`1`), sim.Options{})
			require.Equal(t, []string{"States.QueryEvaluationError", at + tt.cause}, []string{r.Error, r.Cause})
			failed := r.Events[len(r.Events)-2]
			require.Equal(t, sim.EvaluationFailed, failed.Type)
			require.Equal(t, tt.location, failed.Details().Location)
			require.Equal(t, "S", failed.Details().State)
		})
	}
}

// A failing Output is retried as a failure of the Task: the call is made again.
// This is how one Task can be a whole poll loop.
func TestOutputErrorIsRetried(t *testing.T) {
	t.Parallel()
	calls := 0
	h := func(context.Context, sim.Call) (sim.Reply, error) {
		if calls++; calls < 4 {
			return sim.Reply{Output: map[string]any{"Status": "RUNNING"}}, nil
		}
		return sim.Reply{Output: map[string]any{"Status": "DONE"}}, nil
	}
	r := run(t, jsonata(`"S": {"Type": "Task", "Resource": "`+describe+`", "Arguments": {"ExportArn": "e"}, "Output": "{% $states.result.Status = 'RUNNING' ? $error('pending') : $states.result.Status %}",
		"Retry": [{"ErrorEquals": ["States.QueryEvaluationError"], "IntervalSeconds": 10, "BackoffRate": 1, "MaxAttempts": 100}], "End": true}`), `{}`, h, sim.Options{})
	require.Equal(t, `"DONE"`, string(r.Output), r.Cause)
	require.Equal(t, 30*time.Second, r.Duration())
	require.Equal(t, 4, r.Transitions)
	require.Equal(t, []string{"TaskScheduled", "TaskStarted", "TaskSucceeded", "EvaluationFailed"}, types(r)[2:6])
}

func TestVariables(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, definition, input, output string }{
		{"JSONPath", `{"StartAt": "S", "States": {"S": {"Type": "Pass", "Assign": {"a": 1, "b.$": "$.x", "c": {"d.$": "$.x.y"}}, "Next": "T"},
			"T": {"Type": "Pass", "Parameters": {"a.$": "$a", "y.$": "$b.y", "d.$": "$c.d"}, "End": true}}}`, `{"x": {"y": 2}}`, `{"a":1,"d":2,"y":2}`},
		{
			"all of an Assign see the values before", jsonata(`"S": {"Type": "Pass", "Assign": {"a": 1, "b": 2}, "Next": "T"},
			"T": {"Type": "Pass", "Assign": {"a": "{% $b %}", "b": "{% $a %}"}, "Output": "{% {'a': $a, 'b': $b} %}", "Next": "U"}, "U": {"Type": "Pass", "Output": "{% [$states.input, $a, $b] %}", "End": true}`),
			`{}`, `[{"a":1,"b":2},2,1]`,
		},
		{"inner flows read outer variables, and keep their own", jsonata(`"S": {"Type": "Pass", "Assign": {"a": 1}, "Next": "M"},
			"M": {"Type": "Map", "Items": [1, 2], "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Assign": {"own": "{% $states.input + $a %}"}, "Next": "Q"},
			"Q": {"Type": "Pass", "Output": "{% $own %}", "End": true}}}, "Next": "E"}, "E": {"Type": "Pass", "Output": "{% [$states.input, $exists($own)] %}", "End": true}`), `{}`, `[2,3,false]`},
		{"a loop counts", jsonata(`"S": {"Type": "Pass", "Assign": {"n": 0}, "Next": "L"}, "L": {"Type": "Choice", "Choices": [{"Condition": "{% $n < 3 %}", "Next": "L", "Assign": {"n": "{% $n + 1 %}"}}], "Default": "E"},
			"E": {"Type": "Pass", "Output": "{% $n %}", "End": true}`), `{}`, `3`},
		{"result of a Task", `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"x": 5}, "ResultSelector": {"y.$": "$.x"}, "Assign": {"v.$": "$.y"}, "ResultPath": null, "Next": "E"},
			"E": {"Type": "Pass", "Parameters": {"v.$": "$v", "in.$": "$"}, "End": true}}}`, `{}`, `{"in":{},"v":5}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			echo := func(_ context.Context, call sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: call.Arguments}, nil
			}
			r := run(t, tt.definition, tt.input, echo, sim.Options{})
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.Equal(t, tt.output, string(r.Output))
		})
	}
}

// The variables of an iteration that has ended do not count any more, nor do
// those of one that is retried.
func TestVariablesOfEndedFlows(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", asl.MaxPayloadBytes/2) + `"`
	r := run(t, jsonata(`"S": {"Type": "Pass", "Assign": {"big": "{% $states.input %}"}, "Output": "{% [1..200] %}", "Next": "M"},
		"M": {"Type": "Map", "MaxConcurrency": 1, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Assign": {"own": "{% $big %}"}, "End": true}}}, "End": true}`), big, nil, sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	r = run(t, `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 200, "BackoffRate": 1}], "Catch": [{"ErrorEquals": ["E"], "Next": "Z"}], "End": true,
		"Branches": [{"StartAt": "A", "States": {"A": {"Type": "Pass", "Assign": {"a.$": "$"}, "Next": "F"}, "F": {"Type": "Fail", "Error": "E"}}}]}, "Z": {"Type": "Succeed"}}}`, big, nil, sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	r = run(t, jsonata(`"S": {"Type": "Choice", "Choices": [{"Condition": "{% $count($states.input) < 90 %}", "Next": "S", "Assign": {"v": "`+strings.Repeat("y", 200_000)+`"}, "Output": "{% $append($states.input, 1) %}"}], "Default": "Z"},
		"Z": {"Type": "Succeed"}`), `[]`, nil, sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status, "a variable that is set anew takes the place of the old one")
}

func TestVariableLimits(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", asl.MaxPayloadBytes/2) + `"`
	r := run(t, `{"StartAt": "S", "States": {"S": {"Type": "Pass", "Assign": {"a.$": "$", "b.$": "$"}, "End": true}}}`, big, nil, sim.Options{})
	require.Equal(t, "States.DataLimitExceeded", r.Error, "one Assign sets at most 256 KiB")

	states := ""
	for i := range 81 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		states += `"` + name + `": {"Type": "Pass", "Assign": {"` + name + `.$": "$"}, `
		if i < 80 {
			states += `"Next": "` + string(rune('a'+(i+1)/26)) + string(rune('a'+(i+1)%26)) + `"}, `
		}
	}
	r = run(t, `{"StartAt": "aa", "States": {`+states+`"End": true}}}`, big, nil, sim.Options{})
	require.Equal(t, "States.DataLimitExceeded", r.Error, "an execution keeps at most 10 MiB")
	require.Equal(t, 79+1, r.Transitions)
}
