package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

func testState(t *testing.T, definition, input string, o sim.TestOptions) (*sim.TestResult, error) {
	t.Helper()
	return sim.TestState(t.Context(), []byte(definition), []byte(input), o)
}

func TestTestState(t *testing.T) {
	t.Parallel()
	lone := `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "TimeoutSeconds": 5, "Next": "Elsewhere",
		"Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}]}`
	slow := func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: 1, Latency: time.Minute}, nil
	}
	never := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{Never: true}, nil }
	two := 2
	tests := []struct {
		name, definition, input string
		options                 sim.TestOptions
		status                  sim.TestStatus
		next, output            string
	}{
		{"a handler instead of a mock", lone, `{}`, sim.TestOptions{Options: sim.Options{Role: "r", Handlers: map[string]sim.Handler{describe: returns(`7`)}}}, sim.TestSucceeded, "Elsewhere", `7`},
		{"a handler that is too slow", lone, `{}`, sim.TestOptions{Options: sim.Options{Role: "r", Handlers: map[string]sim.Handler{describe: slow}}}, sim.TestCaught, "Late", `{"Cause":"","Error":"States.Timeout"}`},
		{"a state of a machine", pollLoop, `{"check": {"status": "RUNNING"}}`, sim.TestOptions{State: "Done?"}, sim.TestSucceeded, "Wait", `{"check":{"status":"RUNNING"}}`},
		{"a wait takes no time", `{"Type": "Wait", "Seconds": 100000, "End": true}`, `1`, sim.TestOptions{}, sim.TestSucceeded, "", `1`},
		{"variables", `{"Type": "Pass", "Parameters": {"v.$": "$v"}, "End": true}`, `{}`, sim.TestOptions{Variables: map[string]any{"v": "x"}}, sim.TestSucceeded, "", `{"v":"x"}`},
		{"a Map in a Map's machine", mapOver(``), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []string{"a", "b"}}}, sim.TestSucceeded, "", `["a","b"]`},
		{"a Map with failures", distributed("STANDARD", `, "ToleratedFailureCount": 1`), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{1}}, MapIterationFailureCount: &two}, sim.TestFailed, "", ``},
		{"a Map with failures that says no tolerance", distributed("STANDARD", ``), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{1}}, MapIterationFailureCount: &two}, sim.TestSucceeded, "", `[1]`},
		{"an inline Map with failures", mapOver(``), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{1}}, MapIterationFailureCount: &two}, sim.TestSucceeded, "", `[1]`},
		{"a Map with as many failures as it tolerates", distributed("STANDARD", `, "ToleratedFailureCount": 2`), `[1, 2]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{}}, MapIterationFailureCount: &two}, sim.TestSucceeded, "", `[]`},
		{"a Map that writes its results", distributed("STANDARD", `, "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}}`), `[1]`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: map[string]string{"MapRunArn": "x"}}}, sim.TestSucceeded, "", `{"MapRunArn":"x"}`},
		{"a Map with a handler for its reader", distributed("STANDARD", reader), `{}`, sim.TestOptions{State: "M", Mock: &sim.Mock{Result: []int{3}}, Options: sim.Options{Handlers: map[string]sim.Handler{getObject: returns(`[1, 2]`)}}}, sim.TestSucceeded, "", `[3]`},
		{"a state in a Map", `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Pass", "Parameters": {"i.$": "$$.Map.Item"}, "End": true}}}}}}`, `"x"`, sim.TestOptions{State: "P"}, sim.TestSucceeded, "", `{"i":{"Index":0,"Value":"x"}}`},
		{"Go values as variables", `{"Type": "Choice", "Choices": [{"Variable": "$n", "NumericEquals": 3, "Next": "Three"}], "Default": "Other"}`, `{}`, sim.TestOptions{Variables: map[string]any{"n": 3}}, sim.TestSucceeded, "Three", `{}`},
		{"Go values in the context object", `{"Type": "Pass", "Parameters": {"v.$": "$$.Execution.Input.n"}, "End": true}`, `{}`, sim.TestOptions{Context: map[string]any{"Execution": map[string]any{"Input": struct {
			N int `json:"n"`
		}{5}}}}, sim.TestSucceeded, "", `{"v":5}`},
		{"the time of the start", `{"Type": "Pass", "InputPath": "$$.Execution.StartTime", "End": true}`, `{}`, sim.TestOptions{Options: sim.Options{StartTime: at(-60)}}, sim.TestSucceeded, "", `"2025-12-31T23:59:00.000Z"`},
		{"a placeholder elsewhere", `{"StartAt": "P", "States": {"P": {"Type": "Pass", "Next": "W"}, "W": {"Type": "Wait", "SecondsPath": "${Path}", "End": true}}}`, `1`, sim.TestOptions{State: "P"}, sim.TestSucceeded, "W", `1`},
		{"a Task that never answers", `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}`, `{}`, sim.TestOptions{Options: sim.Options{Role: "r", Handlers: map[string]sim.Handler{describe: never}}}, sim.TestFailed, "", ``},
		{"a mock on a real clock", lone, `{}`, sim.TestOptions{Mock: &sim.Mock{Result: 7}, Options: sim.Options{Clock: sim.NewRealClock()}}, sim.TestSucceeded, "Elsewhere", `7`},
		{"a Fail", `{"Type": "Fail", "Error": "E"}`, `{}`, sim.TestOptions{}, sim.TestFailed, "", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := testState(t, tt.definition, tt.input, tt.options)
			require.NoError(t, err)
			require.Equal(t, []any{tt.status, tt.next, tt.output}, []any{r.Status, r.Next, string(r.Output)}, r.Cause)
			require.JSONEq(t, tt.input, string(r.Inspection["input"]))
		})
	}
}

const (
	getObject = "arn:aws:states:::s3:getObject"
	reader    = `, "ItemReader": {"Resource": "` + getObject + `", "ReaderConfig": {"InputType": "JSON"}, "Parameters": {"Bucket": "b", "Key": "k"}}`
)

func TestInspection(t *testing.T) {
	t.Parallel()
	one := &sim.Mock{Result: []int{1}}
	tests := []struct {
		name, definition, input string
		options                 sim.TestOptions
		want                    string
	}{
		{
			"a Task", `{"Type": "Task", "Resource": "` + describe + `", "InputPath": "$.a", "Parameters": {"p.$": "$.b"}, "Credentials": {"RoleArn.$": "$.b"},
				"ResultSelector": {"s.$": "$[0]"}, "ResultPath": "$.r", "OutputPath": "$.r", "Assign": {"v.$": "$.s"}, "End": true}`,
			`{"a": {"b": "role"}}`,
			sim.TestOptions{Mock: one},
			`{"input": {"a": {"b": "role"}}, "afterInputPath": {"b": "role"}, "afterParameters": {"p": "role"}, "result": [1], "afterResultSelector": {"s": 1},
				"afterResultPath": {"a": {"b": "role"}, "r": {"s": 1}}, "variables": {"v": 1}}`,
		},
		{
			"the items of a Map", distributed("STANDARD", `, "ItemsPath": "$.i", "ItemSelector": {"n.$": "$$.Map.Item.Index"}, "ItemBatcher": {"MaxItemsPerBatch": 1, "BatchInput": {"b": 1}},
				"MaxConcurrency": 3, "ToleratedFailurePercentage": 12.5`),
			`{"i": ["x", "y"]}`,
			sim.TestOptions{State: "M", Mock: one},
			`{"input": {"i": ["x", "y"]}, "afterInputPath": {"i": ["x", "y"]}, "afterItemsPath": ["x", "y"], "afterItemSelector": [{"n": 0}, {"n": 1}],
				"afterItemBatcher": [{"BatchInput": {"b": 1}, "Items": [{"n": 0}]}, {"BatchInput": {"b": 1}, "Items": [{"n": 1}]}],
				"maxConcurrency": 3, "toleratedFailurePercentage": 12.5, "afterResultSelector": [1], "afterResultPath": [1]}`,
		},
		{
			"a Map with a reader", distributed("STANDARD", reader+`, "ItemSelector": {"v.$": "$$.Map.Item.Value"}`), `{}`,
			sim.TestOptions{State: "M", Mock: one, ItemReaderData: []byte(`[7]`)},
			`{"input": {}, "afterInputPath": {}, "afterItemSelector": [{"v": 7}], "maxConcurrency": 0, "afterResultSelector": [1], "afterResultPath": [1]}`,
		},
		{
			"an item that cannot be selected", mapOver(`, "ItemSelector": {"v.$": "$.none"}`), `[1]`,
			sim.TestOptions{State: "M", Mock: one},
			`{"input": [1], "afterInputPath": [1], "afterItemsPath": [1], "maxConcurrency": 0}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := testState(t, tt.definition, tt.input, tt.options)
			require.NoError(t, err)
			got, err := jsonText(r.Inspection)
			require.NoError(t, err)
			require.JSONEq(t, tt.want, got)
		})
	}
}

func TestRetryOrCatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fields string
		retries      int
		status       sim.TestStatus
		next, want   string
	}{
		{"neither", ``, 0, sim.TestFailed, "", ``},
		{"names of others", `, "Retry": [{"ErrorEquals": ["F"]}], "Catch": [{"ErrorEquals": ["F"], "Next": "C"}]`, 0, sim.TestFailed, "", ``},
		{"the second retrier", `, "Retry": [{"ErrorEquals": ["F"]}, {"ErrorEquals": ["E"]}]`, 0, sim.TestRetriable, "", `{"retryIndex": 1, "retryBackoffIntervalSeconds": 1}`},
		{"in whole seconds", `, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 3, "BackoffRate": 1.5}]`, 1, sim.TestRetriable, "", `{"retryIndex": 0, "retryBackoffIntervalSeconds": 4}`},
		{"up to a limit", `, "Retry": [{"ErrorEquals": ["E"], "MaxDelaySeconds": 5, "BackoffRate": 10}]`, 2, sim.TestRetriable, "", `{"retryIndex": 0, "retryBackoffIntervalSeconds": 5}`},
		{"beyond all limits", `, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 9, "BackoffRate": 1e300}]`, 8, sim.TestRetriable, "", `{"retryIndex": 0, "retryBackoffIntervalSeconds": 31622400}`},
		{"without jitter", `, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 8, "JitterStrategy": "FULL"}]`, 0, sim.TestRetriable, "", `{"retryIndex": 0, "retryBackoffIntervalSeconds": 8}`},
		{"no attempt left", `, "Retry": [{"ErrorEquals": ["E"], "MaxAttempts": 2}]`, 2, sim.TestFailed, "", `{"retryIndex": 0}`},
		{"caught after the last attempt", `, "Retry": [{"ErrorEquals": ["E"]}], "Catch": [{"ErrorEquals": ["F"], "Next": "D"}, {"ErrorEquals": ["States.ALL"], "Next": "C"}]`, 3, sim.TestCaught, "C", `{"retryIndex": 0, "catchIndex": 1}`},
		{"a catcher that fails", `, "Catch": [{"ErrorEquals": ["E"], "Assign": {"v.$": "$.none"}, "Next": "C"}]`, 0, sim.TestFailed, "", `{"catchIndex": 0}`},
	}
	for _, tt := range tests {
		for state, definition := range map[string]string{
			"Task":     `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true` + tt.fields + `}`,
			"Parallel": `{"Type": "Parallel", "Branches": [{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}], "End": true` + tt.fields + `}`,
		} {
			t.Run(tt.name+" in a "+state, func(t *testing.T) {
				t.Parallel()
				r, err := testState(t, definition, `{}`, sim.TestOptions{Mock: &sim.Mock{Error: &sim.TaskError{Name: "E", Cause: "c"}}, RetrierRetryCount: tt.retries})
				require.NoError(t, err)
				require.Equal(t, []any{tt.status, tt.next}, []any{r.Status, r.Next}, r.Cause)
				if tt.want == "" {
					require.NotContains(t, r.Inspection, "errorDetails")
					return
				}
				require.JSONEq(t, tt.want, string(r.Inspection["errorDetails"]))
			})
		}
	}
}

func TestTestStateStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	_, err := sim.TestState(ctx, []byte(`{"Type": "Succeed"}`), nil, sim.TestOptions{})
	require.ErrorIs(t, err, why)
}

// Mocked results of the recordings and their like, checked against AWS's models.
func TestMocksAreCheckedAgainstTheModels(t *testing.T) {
	t.Parallel()
	const (
		getFunction = "arn:aws:states:::aws-sdk:lambda:getFunction"
		start       = "arn:aws:states:::states:startExecution"
		invoke      = "arn:aws:states:::lambda:invoke"
		encrypt     = "arn:aws:states:::aws-sdk:kms:encrypt"
		schema      = "Mock result schema validation error: "
	)
	for _, tt := range []struct {
		resource string
		mode     sim.MockValidation
		result   string
		want     string
	}{
		{getFunction, "", `{"Configuration": {"MemorySize": 128, "Unknown": {}, "State": "Active"}}`, ""},
		{getFunction, "", `{"Configuration": {"MemorySize": 127}}`, schema + "Field 'MemorySize' is less than the minimum value"},
		{getFunction, sim.ValidatePresent, `{"Configuration": {"MemorySize": 1e999}}`, schema + "Field 'MemorySize' exceeds the maximum value"},
		{getFunction, sim.ValidateNone, `{"Configuration": {"MemorySize": 127}}`, ""},
		{getFunction, "", `{"Configuration": {"State": "Happy"}}`, schema + "Field 'State' is not an expected value"},
		{getFunction, "", `{"Configuration": {"Layers": {}}}`, schema + "Field 'Layers' must be an array"},
		{getFunction, "", `[]`, "Mocked result must be an object."},
		{getFunction, "STRIKT", `{}`, `The Validation of a Mock is "STRIKT"; expected STRICT, PRESENT or NONE`},
		{encrypt, sim.ValidatePresent, `{"CiphertextBlob": ""}`, schema + "Field 'CiphertextBlob' is smaller than the minimum length"},
		{encrypt, "", `{"CiphertextBlob": "eA=="}`, ""},
		{encrypt, "", `{"CiphertextBlob": 1}`, schema + "Field 'CiphertextBlob' must be a string"},
		{start, "", `{}`, schema + "Required field 'ExecutionArn' is missing"},
		{start, "", `{"executionArn": "a", "startDate": "d"}`, schema + "Required field 'ExecutionArn' is missing"},
		{start, "", `{"ExecutionArn": "a", "StartDate": 5}`, schema + "Field 'StartDate' must be a string"},
		{start, sim.ValidatePresent, `{"executionArn": "a", "startDate": "d"}`, ""},
		{start + ".sync:2", sim.ValidatePresent, `{"Output": {"any": 1}}`, ""},
		{start + ".sync:2", "", `{"Output": {"any": 1}}`, schema + "Required field 'ExecutionArn' is missing"},
		{start + ".waitForTaskToken", "", `7`, ""},
		{invoke, "", `{"Payload": {"any": 1}, "StatusCode": 200}`, ""},
		{invoke, "", `{"StatusCode": "200"}`, schema + "Field 'StatusCode' must be a number"},
		{"arn:aws:lambda:us-east-1:123456789012:function:f", "", `7`, ""},
		{"arn:aws:states:::http:invoke", "", `7`, ""},
		{"arn:aws:states:::aws-sdk:nosuchservice:do", "", `7`, ""},
	} {
		parameters := `{}`
		if tt.resource == invoke {
			parameters = `{"FunctionName": "f"}`
		} else if strings.HasPrefix(tt.resource, start) {
			parameters = `{"StateMachineArn": "a", "Input": {"t.$": "$$.Task.Token"}}`
		}
		_, err := testState(t, `{"Type": "Task", "Resource": "`+tt.resource+`", "Parameters": `+parameters+`, "End": true}`, `{}`,
			sim.TestOptions{Mock: &sim.Mock{Result: jsonRaw(tt.result), Validation: tt.mode}, Options: sim.Options{Models: models.Load}})
		if tt.want == "" {
			require.NoError(t, err, "%s %s", tt.resource, tt.result)
			continue
		}
		require.EqualError(t, err, tt.want, "%s %s", tt.resource, tt.result)
		_, ok := errors.AsType[*sim.TestStateError](err)
		require.True(t, ok)
	}
}

func TestModelsThatCannotBeReadEndTheTest(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	o := sim.Options{Models: func(string) (*catalog.Service, error) { return nil, broken }, Handlers: map[string]sim.Handler{describe: returns(`1`)}, Role: "r"}
	definition := `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "a"}, "End": true}`
	_, err := testState(t, definition, `{}`, sim.TestOptions{Mock: &sim.Mock{Result: 1}, Options: o})
	require.ErrorIs(t, err, broken)
	_, err = testState(t, definition, `{}`, sim.TestOptions{Options: o})
	require.ErrorIs(t, err, broken)
}

func TestTestStateRefuses(t *testing.T) {
	t.Parallel()
	task := `{"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}`
	result, array := &sim.Mock{Result: 1}, &sim.Mock{Result: []int{}}
	three, negative := 3, -1
	for name, tt := range map[string]struct {
		definition string
		options    sim.TestOptions
		want       string
	}{
		"unknown state":         {pollLoop, sim.TestOptions{State: "Nobody"}, "State not found in definition"},
		"Pass with a mock":      {`{"Type": "Pass", "End": true}`, sim.TestOptions{Mock: result}, "State type 'Pass' is not supported when a mock is specified"},
		"Map without a mock":    {mapOver(``), sim.TestOptions{State: "M"}, "TestState API does not support Map or Parallel states. Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]"},
		"Task without a role":   {task, sim.TestOptions{Options: sim.Options{Handlers: map[string]sim.Handler{describe: returns(`1`)}}}, "RoleArn must be specified when testing a Task state"},
		"number for an id":      {task, sim.TestOptions{Mock: result, Context: map[string]any{"Execution": map[string]any{"Id": 1}}}, "Invalid Context object provided: Execution.Id must be a string"},
		"text for a count":      {task, sim.TestOptions{Mock: result, Context: map[string]any{"State": map[string]any{"RetryCount": "1"}}}, "Invalid Context object provided: State.RetryCount must be an integer"},
		"Map with no array":     {mapOver(``), sim.TestOptions{State: "M", Mock: result}, "Mocked result must be an array."},
		"mock that is not JSON": {task, sim.TestOptions{Mock: &sim.Mock{Result: jsonRaw(`{`)}}, "Mocked result must be valid JSON"},
		"context":               {task, sim.TestOptions{Mock: result, Context: map[string]any{"State": map[string]any{"Nme": 1}}}, "Invalid Context object provided: Field 'Nme' is not allowed"},
		"context that is none":  {task, sim.TestOptions{Mock: result, Context: map[string]any{"State": "S"}}, "Invalid Context object provided: State must be an object"},
		"context of a channel":  {task, sim.TestOptions{Mock: result, Context: map[string]any{"State": make(chan int)}}, "Invalid Context object provided: json: unsupported type: chan int"},
		"variable, a channel":   {task, sim.TestOptions{Mock: result, Variables: map[string]any{"v": make(chan int)}}, `The variable "v" must be valid JSON: json: unsupported type: chan int`},
		"variables, too large":  {task, sim.TestOptions{Mock: result, Variables: map[string]any{"v": strings.Repeat("x", asl.MaxPayloadBytes)}}, "The variables exceed the maximum number of bytes service limit."},
		"result and failure":    {task, sim.TestOptions{Mock: &sim.Mock{Result: 1, Error: &sim.TaskError{Name: "E"}}}, "A test mock should have only one of the following fields: [result, errorOutput]."},
		"failure, no name":      {task, sim.TestOptions{Mock: &sim.Mock{Error: &sim.TaskError{}}}, "The Error of a Mock needs a Name"},
		"retries below zero":    {task, sim.TestOptions{Mock: result, RetrierRetryCount: -1}, "RetrierRetryCount cannot be negative: -1"},
		"failures, no Map":      {task, sim.TestOptions{Mock: result, MapIterationFailureCount: &three}, "MapIterationFailureCount needs a Map; the state is a Task"},
		"failures, no mock":     {mapOver(``), sim.TestOptions{State: "M", MapIterationFailureCount: &three}, "TestState does not support MapIterationFailureCount when a mock is not specified."},
		"failures below zero":   {mapOver(``), sim.TestOptions{State: "M", Mock: array, MapIterationFailureCount: &negative}, "MapIterationFailureCount cannot be negative: -1"},
		"failures of no items":  {mapOver(``), sim.TestOptions{State: "M", Mock: array, MapIterationFailureCount: &three}, "MapIterationFailureCount cannot exceed the number of items: 3 of 2"},
		"items with no reader":  {mapOver(``), sim.TestOptions{State: "M", Mock: array, ItemReaderData: []byte(`[]`)}, "ItemReaderData needs a Map with an ItemReader"},
		"items that are none":   {distributed("STANDARD", reader), sim.TestOptions{State: "M", Mock: array, ItemReaderData: []byte(`{}`)}, "ItemReaderData must be a JSON array"},
		"array for a writer":    {distributed("STANDARD", `, "ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}}`), sim.TestOptions{State: "M", Mock: array}, "Mocked result must be a JSON object."},
		"context of a Map":      {task, sim.TestOptions{Mock: result, Context: map[string]any{"Map": nil}}, "Invalid Context object provided: 'Map' field is not supported when mocking a Context object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := testState(t, tt.definition, `[1, 2]`, tt.options)
			var refused *sim.TestStateError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.want, refused.Message)
			require.Equal(t, strings.HasPrefix(tt.want, "TestState API"), refused.Code == "InvalidDefinition")
			require.Contains(t, []string{"ValidationException", "InvalidDefinition"}, refused.Code)
		})
	}
	for name, tt := range map[string]struct {
		definition string
		options    sim.TestOptions
		want       string // pointer of the problem
	}{
		"no Resource":      {`{"Type": "Task"}`, sim.TestOptions{}, "/States/StateName"},
		"two states":       {`{"Type": "Succeed"}, "Other": {"Type": "Succeed"}`, sim.TestOptions{}, ""},
		"a placeholder":    {`{"Type": "Wait", "SecondsPath": "${Path}", "End": true}`, sim.TestOptions{}, "/States/StateName/SecondsPath"},
		"no arguments":     {`{"Type": "Task", "Resource": "` + describe + `", "End": true}`, sim.TestOptions{Mock: result}, "/States/StateName/Resource"},
		"no Express state": {`{"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync", "Parameters": {"StateMachineArn": "m"}, "End": true}`, sim.TestOptions{Options: sim.Options{Express: true}}, "/States/StateName/Resource"},
		"no Express Map":   {distributed("STANDARD", ``), sim.TestOptions{State: "M", Mock: array, Options: sim.Options{Express: true}}, "/States/M/ItemProcessor/ProcessorConfig/Mode"},
		"no JSON input":    {`{"Type": "Succeed"}`, sim.TestOptions{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := testState(t, tt.definition, `{} {}`, tt.options)
			var problems diag.Problems
			require.ErrorAs(t, err, &problems)
			require.Equal(t, tt.want, problems[0].Pointer)
		})
	}
	for name, o := range map[string]sim.TestOptions{"T": {Options: sim.Options{Role: "r"}}, "M": {Mock: array}} {
		o.State = name
		_, err := testState(t, distributed("STANDARD", reader), `{}`, o)
		missing, ok := errors.AsType[*sim.ResourceError](err)
		require.True(t, ok, "%v", err)
		require.Len(t, missing.Tasks, 1)
		require.Equal(t, name, missing.Tasks[0].State)
	}
}

// FuzzTestState: whatever state is accepted comes to an end, without a panic.
func FuzzTestState(f *testing.F) {
	f.Add(`{"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "ResultSelector": {"a.$": "$.a"}, "Retry": [{"ErrorEquals": ["E"], "BackoffRate": 9}], "End": true}`, "", `{}`, `{"a": 1}`, `{}`, 2, false)
	f.Add(`{"Type": "Parallel", "Branches": [], "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "N"}], "End": true}`, "", `{}`, ``, `{}`, 0, true)
	f.Add(distributed("STANDARD", reader+`, "ItemSelector": {"v.$": "$v"}, "ItemBatcher": {"MaxItemsPerBatch": 2}`), "M", `{}`, `[1, 2]`, `{"v": [3]}`, 1, false)
	f.Add(`{"Type": "Wait", "QueryLanguage": "JSONata", "Seconds": "{% $n %}", "Output": "{% $states.context %}", "End": true}`, "", `3`, ``, `{"n": 1e9}`, 0, false)
	f.Fuzz(func(t *testing.T, definition, state, input, mock, variables string, count int, fails bool) {
		o := sim.TestOptions{State: state, RetrierRetryCount: count, Mock: &sim.Mock{Result: jsonRaw(mock)}}
		switch {
		case fails:
			o.Mock = &sim.Mock{Error: &sim.TaskError{Name: "E", Cause: mock}}
		case mock == "":
			o.Mock = nil
		case strings.Contains(definition, "ItemReader"):
			o.ItemReaderData, o.MapIterationFailureCount = []byte(mock), &count
		}
		o.Variables = object(variables)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		r, err := sim.TestState(ctx, []byte(definition), []byte(input), o)
		if err != nil {
			return
		}
		require.Contains(t, []sim.TestStatus{sim.TestSucceeded, sim.TestFailed, sim.TestRetriable, sim.TestCaught}, r.Status)
		require.Equal(t, r.Status == sim.TestSucceeded || r.Status == sim.TestCaught, json.Valid(r.Output))
		for name, value := range r.Inspection {
			require.True(t, json.Valid(value), name)
		}
	})
}

// object is the JSON object that the text is, or nil.
func object(text string) (out map[string]any) {
	if json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}
