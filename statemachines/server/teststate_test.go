package server_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A test shows as much of a state as it is asked for.
func TestTestState(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	in := map[string]any{
		"definition": `{"Type":"Pass","Parameters":{"b.$":"$.a","v.$":"$v"},"Next":"B"}`, "input": `{"a":1}`, "variables": `{"v":2}`,
	}
	want := map[string]any{"status": "SUCCEEDED", "output": `{"b":1,"v":2}`, "nextState": "B"}
	require.Equal(t, want, c.ok("TestState", in))
	data := map[string]any{"input": `{"a":1}`, "afterInputPath": `{"a":1}`, "afterParameters": `{"b":1,"v":2}`}
	require.Subset(t, c.ok("TestState", with(in, map[string]any{"inspectionLevel": "DEBUG"}))["inspectionData"], data)
	data["variables"] = `{"v":2}`
	require.Subset(t, c.ok("TestState", with(in, map[string]any{"inspectionLevel": "TRACE"}))["inspectionData"], data)
}

// Without a mock a Task does its work: that of an execution's handler, or a call of the
// server itself.
func TestTestStateWorks(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{Prepare: func(_ server.StartInfo, o *sim.Options) error {
		o.Handler = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: map[string]any{"called": call.Resource}}, nil
		}
		return nil
	}})
	t.Cleanup(s.Close)
	c := caller{t, s}
	task := func(resource, parameters string) map[string]any {
		return map[string]any{"roleArn": role, "definition": `{"Type":"Task","Resource":"` + resource + `","Parameters":` + parameters + `,"End":true}`}
	}
	require.Equal(t, map[string]any{"status": "SUCCEEDED", "output": `{"called":"arn:aws:states:::sqs:sendMessage"}`},
		c.ok("TestState", task("arn:aws:states:::sqs:sendMessage", `{"QueueUrl":"q","MessageBody":"b"}`)))
	made := c.ok("CreateStateMachine", machine)
	list := c.ok("TestState", task("arn:aws:states:::aws-sdk:sfn:listStateMachines", `{}`))
	require.Contains(t, list["output"], made["stateMachineArn"])
	code, message := c.refused("TestState", task("arn:aws:states:::states:startExecution.sync", `{"StateMachineArn":"a"}`))
	require.Equal(t, []any{"ValidationException", "TestState does not support the '.sync' service integration pattern when a mock is not specified."}, []any{code, message})
}

// A Task that nothing answers fails, and Retry and Catch take the failure.
func TestTestStateUnanswered(t *testing.T) {
	t.Parallel()
	broken := server.New(server.Options{Prepare: func(_ server.StartInfo, o *sim.Options) error {
		o.Handler = func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, errors.New("out of order") }
		return nil
	}})
	t.Cleanup(broken.Close)
	for cause, c := range map[string]caller{
		"Nothing here answers arn:aws:states:::lambda:invoke: pass a mock.": newCaller(t),
		"out of order": {t, broken},
	} {
		testUnanswered(t, c, map[string]any{"error": "States.TaskFailed", "cause": cause})
	}
}

func testUnanswered(t *testing.T, c caller, failed map[string]any) {
	t.Helper()
	for fields, want := range map[string]map[string]any{
		``: {"status": "FAILED"},
		`"Retry":[{"ErrorEquals":["States.TaskFailed"]}],`:                       {"status": "RETRIABLE"},
		`"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Z","ResultPath":null}],`: {"status": "CAUGHT_ERROR", "nextState": "Z", "output": `{"a":1}`},
	} {
		require.Equal(t, with(failed, want), c.ok("TestState", map[string]any{
			"roleArn": role, "input": `{"a":1}`,
			"definition": `{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},` + fields + `"End":true}`,
		}), fields)
	}
}

func TestTestStateRefusals(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	task := `{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"End":true}`
	state := map[string]any{"definition": `{"Type":"Pass","End":true}`}
	tests := []struct {
		in            map[string]any
		code, message string
	}{
		{
			map[string]any{"input": "not json"},
			"InvalidExecutionInput",
			"Invalid State Machine Execution Input: 'Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')'",
		},
		{map[string]any{"variables": "[]"}, "ValidationException", "Variables must be a valid JSON object"},
		{map[string]any{"context": "null"}, "ValidationException", "Invalid Context object provided: Context must be a valid JSON object"},
		{map[string]any{"context": `{"Pet":{}}`}, "ValidationException", "Invalid Context object provided: Field 'Pet' is not allowed"},
		{map[string]any{"definition": task}, "ValidationException", "RoleArn must be specified when testing a Task state"},
		{map[string]any{"mock": map[string]any{"result": "{}"}}, "ValidationException", "State type 'Pass' is not supported when a mock is specified"},
		{map[string]any{"definition": pass, "stateName": "Z"}, "ValidationException", "State not found in definition"},
		{
			map[string]any{"definition": `{"Type":"Task","Resource":"arn:aws:states:::lambda:bad","Parameters":{},"End":true}`},
			"InvalidDefinition",
			"Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: The resource provided arn:aws:states:::lambda:bad is not recognized. " +
				"The value is not a valid resource ARN, or the resource is not available in this region. at /States/StateName/Resource'",
		},
	}
	for _, tt := range tests {
		code, message := c.refused("TestState", with(state, tt.in))
		require.Equal(t, []any{tt.code, tt.message}, []any{code, message}, tt.in)
	}
	code, _ := c.refused("TestState", map[string]any{"definition": task, "mock": map[string]any{"result": "{}"}, "revealSecrets": true})
	require.Equal(t, "ValidationException", code)
}
