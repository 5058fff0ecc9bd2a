package sim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

func TestDataFlow(t *testing.T) {
	t.Parallel()
	const input = `{"a": {"b": 1}, "c": [10, 9007199254740993]}`
	tests := []struct {
		name, definition, result, output string
		arguments                        string // of the task; empty: there is none
	}{
		{"pass", `{"Type": "Pass", "End": true}`, "", input, ""},
		{"InputPath", `{"Type": "Pass", "InputPath": "$.a", "End": true}`, "", `{"b": 1}`, ""},
		{"InputPath null", `{"Type": "Pass", "InputPath": null, "End": true}`, "", `{}`, ""},
		{"InputPath of the context", `{"Type": "Pass", "InputPath": "$$.Execution.Input.c[1]", "End": true}`, "", `9007199254740993`, ""},
		{"OutputPath", `{"Type": "Pass", "OutputPath": "$.c[0]", "End": true}`, "", `10`, ""},
		{"OutputPath null", `{"Type": "Pass", "OutputPath": null, "End": true}`, "", `{}`, ""},
		{"Result", `{"Type": "Pass", "Result": {"x.$": "$.a"}, "ResultPath": "$.r.s", "End": true}`, "", `{"a": {"b": 1}, "c": [10, 9007199254740993], "r": {"s": {"x.$": "$.a"}}}`, ""},
		{"Result before Parameters", `{"Type": "Pass", "Result": 1, "Parameters": {"p": 2}, "End": true}`, "", `1`, ""},
		{"null Result", `{"Type": "Pass", "Result": null, "ResultPath": "$.a", "OutputPath": "$.a", "End": true}`, "", `null`, ""},
		{
			"Parameters", `{"Type": "Pass", "InputPath": "$.a", "Parameters": {"all.$": "$", "list": [1, {"b.$": "$.b", "State.$": "$$.State.Name"}], "fixed": "$.b"}, "End": true}`,
			"", `{"all": {"b": 1}, "list": [1, {"b": 1, "State": "S"}], "fixed": "$.b"}`, "",
		},
		{"ResultPath null", `{"Type": "Pass", "Result": 1, "ResultPath": null, "End": true}`, "", input, ""},
		{"ResultPath into an array", `{"Type": "Pass", "Result": 1, "ResultPath": "$.c[0]", "OutputPath": "$.c", "End": true}`, "", `[1, 9007199254740993]`, ""},
		{"succeed", `{"Type": "Succeed", "InputPath": "$.a", "OutputPath": "$.b"}`, "", `1`, ""},
		{"wait", `{"Type": "Wait", "Seconds": 1, "InputPath": "$.a", "OutputPath": "$.b", "End": true}`, "", `1`, ""},
		{"task", `{"Type": "Task", "Resource": "` + function + `", "End": true}`, `{"big": 12345678901234567890}`, `{"big": 12345678901234567890}`, input},
		{
			"task with all fields",
			`{"Type": "Task", "Resource": "` + describe + `", "InputPath": "$.a", "Parameters": {"p.$": "$.b", "n.$": "$$.State.RetryCount"},
			  "ResultSelector": {"s.$": "$.status", "in.$": "$$.Execution.Input.a.b"}, "ResultPath": "$.a.task", "OutputPath": "$.a", "End": true}`,
			`{"status": "DONE", "more": 1}`, `{"b": 1, "task": {"s": "DONE", "in": 1}}`, `{"p": 1, "n": 0}`,
		},
		{"task without result", `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"p": 1}, "ResultPath": null, "End": true}`, `{"status": "DONE"}`, input, `{"p": 1}`},
		{"task that returns null", `{"Type": "Task", "Resource": "` + function + `", "InputPath": null, "End": true}`, `null`, `null`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var arguments any
			h := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
				arguments = call.Arguments
				return returns(tt.result)(ctx, call)
			}
			r := run(t, `{"StartAt": "S", "States": {"S": `+tt.definition+`}}`, input, h, sim.Options{})
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.JSONEq(t, tt.output, string(r.Output))
			require.NotContains(t, string(r.Output), "e+", "integers keep all digits")
			if tt.arguments != "" {
				text, err := jsonText(arguments)
				require.NoError(t, err)
				require.JSONEq(t, tt.arguments, text)
			}
		})
	}
}

// Integers beyond the range of a double go through unchanged.
func TestNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	r := run(t, task(`, "ResultPath": "$.r"`), `{"n": 9007199254740993}`, returns(`12345678901234567890`), sim.Options{})
	require.Equal(t, `{"n":9007199254740993,"r":12345678901234567890}`, string(r.Output))
}

func TestOutputOfAnyGoType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		output any
		want   string
	}{
		{struct {
			Status string `json:"status"`
			N      int64
		}{"DONE", 1 << 62}, `{"status":"DONE","N":4611686018427387904}`},
		{map[string]any{"f": 1.5, "i": 2, "none": []any(nil)}, `{"f":1.5,"i":2,"none":null}`},
		{"<text>", `"<text>"`},
		{nil, `null`},
	}
	for _, tt := range tests {
		h := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Output: tt.output}, nil }
		r := run(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "End": true}}}`, "", h, sim.Options{})
		require.JSONEq(t, tt.want, string(r.Output))
	}
}

// The failures of states, with AWS's names and texts. Recorded are those of
// Parameters, of paths that lead nowhere, of SecondsPath and TimestampPath, and
// of ErrorPath (asl-recordings: invalid_jsonpath, catch_states_runtime,
// base_wait_seconds_path, wait_timestamp_path; localstack test_wait, 2024-03-22);
// "no choice" was measured (floci#3167, 2026-09-07). For the others no source is
// known: they are formed after these.
func TestStateFailures(t *testing.T) {
	t.Parallel()
	const in = "An error occurred while executing the state 'S' (entered at the event id #2). "
	tests := []struct{ name, definition, input, err, cause string }{
		{"Parameters", `{"Type": "Pass", "Parameters": {"v.$": "$.no"}, "End": true}`, `{"a": 1}`, "States.Runtime", in + `The JSONPath '$.no' specified for the field 'v.$' could not be found in the input '{"a":1}'`},
		{"Parameters of null", `{"Type": "Pass", "Parameters": {"v.$": "$"}, "End": true}`, `null`, "States.Runtime", in + "Unable to apply Path transformation to null or empty input."},
		{"InputPath", `{"Type": "Pass", "InputPath": "$.no.such", "End": true}`, `{}`, "States.Runtime", in + "Invalid path '$.no.such' : Missing property in path $['no']"},
		{"OutputPath", `{"Type": "Pass", "OutputPath": "$.No", "End": true}`, `{}`, "States.Runtime", in + "Invalid path '$.No' : No results for path: $['No']"},
		{"OutputPath index", `{"Type": "Pass", "OutputPath": "$[3]", "End": true}`, `[]`, "States.Runtime", in + "Invalid path '$[3]' : No results for path: $[3]"},
		{"ResultPath", `{"Type": "Pass", "ResultPath": "$.a.b", "End": true}`, `{"a": 1}`, "States.ResultPathMatchFailure", `Unable to apply step "b" to input {"a":1}`},
		{"SecondsPath missing", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{}`, "States.Runtime", in + "The SecondsPath parameter does not reference an input value: $.s"},
		{"SecondsPath fraction", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{"s": 1.5}`, "States.Runtime", in + "The SecondsPath parameter cannot be parsed as a long value: $.s == 1.5"},
		{"SecondsPath negative", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{"s": -1}`, "States.Runtime", in + "The SecondsPath parameter references a negative value: $.s == -1"},
		{"SecondsPath too large", `{"Type": "Wait", "SecondsPath": "$.s", "End": true}`, `{"s": 100000000}`, "States.Runtime", in + "The SecondsPath parameter references a value that is not between 0 and 99999999: $.s == 100000000"},
		{"TimestampPath", `{"Type": "Wait", "TimestampPath": "$.t", "End": true}`, `{"t": "2016-12-05T21:29:29"}`, "States.Runtime", in + "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: $.t == 2016-12-05T21:29:29"},
		{"TimestampPath number", `{"Type": "Wait", "TimestampPath": "$.t", "End": true}`, `{"t": 1}`, "States.Runtime", in + "The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: $.t == 1"},
		{"Variable", `{"Type": "Choice", "Choices": [{"Variable": "$.no", "IsNull": true, "Next": "Z"}], "Default": "Z"}`, `{}`, "States.Runtime", in + "Invalid path '$.no': The choice state's condition path references an invalid value."},
		{"no choice", `{"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "Z"}]}`, `{"a": 1}`, "States.Runtime", in + "Failed to transition out of the state. The state does not point to a next state."},
		{"Fail", `{"Type": "Fail", "Error": "E", "Cause": "C"}`, `{}`, "E", "C"},
		{"Fail without text", `{"Type": "Fail"}`, `{}`, "", ""},
		{"Fail by path", `{"Type": "Fail", "ErrorPath": "$.e", "CausePath": "$.c"}`, `{"e": "E", "c": "C"}`, "E", "C"},
		{"ErrorPath missing", `{"Type": "Fail", "ErrorPath": "$.e"}`, `{}`, "States.Runtime", in + "The JSONPath '$.e' specified for the field 'ErrorPath' could not be found in the input '{}'"},
		{"CausePath not a string", `{"Type": "Fail", "CausePath": "$.c"}`, `{"c": {}}`, "States.Runtime", in + "The CausePath parameter does not reference a string: $.c == {}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			end := ""
			if strings.Contains(tt.definition, `"Z"`) {
				end = `, "Z": {"Type": "Succeed"}`
			}
			r := run(t, `{"StartAt": "S", "States": {"S": `+tt.definition+end+`}}`, tt.input, nil, sim.Options{})
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, tt.err, r.Error)
			require.Equal(t, tt.cause, r.Cause)
			require.Nil(t, r.Output)
			last := r.Events[len(r.Events)-1]
			require.Equal(t, sim.ExecutionFailed, last.Type)
			require.EqualValues(t, 2, last.PreviousEventID)
		})
	}
}

func TestContextObject(t *testing.T) {
	t.Parallel()
	var call sim.Call
	h := func(_ context.Context, c sim.Call) (sim.Reply, error) {
		call = c
		return sim.Reply{}, nil
	}
	definition := `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 90, "Next": "S"},
		"S": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "Next": "P"}, "P": {"Type": "Pass", "InputPath": "$$", "End": true}}}`
	r := run(t, definition, `{"a": 1}`, h, sim.Options{Execution: "E", StateMachine: "M", Region: "eu-west-1", Account: "111122223333"})
	text, err := jsonText(call.Context)
	require.NoError(t, err)
	const execution = `"Execution": {"Id": "arn:aws:states:eu-west-1:111122223333:execution:M:E", "Input": {"a": 1}, "Name": "E",
		"RoleArn": "arn:aws:iam::111122223333:role/M", "StartTime": "2026-01-01T00:00:00.000Z", "RedriveCount": 0}`
	const machine = `"StateMachine": {"Id": "arn:aws:states:eu-west-1:111122223333:stateMachine:M", "Name": "M"}`
	require.JSONEq(t, `{`+execution+`, "State": {"Name": "S", "EnteredTime": "2026-01-01T00:01:30.000Z", "RetryCount": 0}, `+machine+`}`, text)
	require.JSONEq(t, `{`+execution+`, "State": {"Name": "P", "EnteredTime": "2026-01-01T00:01:30.000Z"}, `+machine+`}`, string(r.Output))
	require.Equal(t, "arn:aws:states:eu-west-1:111122223333:execution:M:E", r.ExecutionARN)
	require.Equal(t, "S", call.State)
	require.Equal(t, describe, call.Resource)
}
