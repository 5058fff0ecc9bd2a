package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// What is wrong in a definition is said in AWS's words, as they are recorded or were
// measured.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	machine := func(state string) string { return `{"StartAt":"A","States":{"A":` + state + `}}` }
	tests := []struct{ name, definition, kind, want string }{
		{"nothing", "", "STANDARD", "SCHEMA_VALIDATION_FAILED: Definition must be a valid JSON object at null"},
		{"no object", "[]", "STANDARD", "SCHEMA_VALIDATION_FAILED: Definition must be a valid JSON object at null"},
		{"no fields", "{}", "STANDARD", "SCHEMA_VALIDATION_FAILED: These fields are required: [States, StartAt] at /"},
		{
			"dangling target and unreachable state", `{"StartAt":"A","States":{"A":{"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true,"Next":"NO"}],"Default":"B"},` +
				`"B":{"Type":"Succeed"}}}`, "STANDARD", "MISSING_TRANSITION_TARGET: Missing 'Next' target: NO at /States/A/Choices[0]/Next",
		},
		{
			"unreachable state", `{"StartAt":"A","States":{"A":{"Type":"Pass","End":true},"C":{"Type":"Pass","End":true}}}`, "STANDARD",
			`MISSING_TRANSITION_TARGET: State "C" is not reachable. at /States/C`,
		},
		{
			"no end", `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"A"},"C":{"Type":"Pass","Next":"A"}}}`, "STANDARD",
			"MISSING_END_STATE: Workflow has no terminal state at null",
		},
		{
			"dangling target and no end", machine(`{"Type":"Pass","Next":"NOPE"}`), "STANDARD",
			"MISSING_TRANSITION_TARGET: Missing 'Next' target: NOPE at /States/A/Next, MISSING_END_STATE: Workflow has no terminal state at null",
		},
		{
			"state type", machine(`{"Type":"Pazz","End":true}`), "STANDARD",
			"SCHEMA_VALIDATION_FAILED: The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map] at /States/A/Type",
		},
		{"field", machine(`{"Type":"Pass","End":true,"TimeoutSeconds":3}`), "STANDARD", "SCHEMA_VALIDATION_FAILED: Field 'TimeoutSeconds' is not supported at /States/A"},
		{
			"no parameters", machine(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true}`), "STANDARD",
			"SCHEMA_VALIDATION_FAILED: Parameters field is required for resource ARN: arn:aws:states:::lambda:invoke at /States/A/Resource",
		},
		{
			"required and unknown parameter", machine(`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"Foo":1},"End":true}`), "STANDARD",
			"SCHEMA_VALIDATION_FAILED: The field 'FunctionName' is required but was missing at /States/A/Parameters, " +
				`SCHEMA_VALIDATION_FAILED: The field "Foo" is not supported by Step Functions at /States/A/Parameters`,
		},
		{
			"integration", machine(`{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:dynamodb:putItem.sync","Parameters":{},"End":true}`), "STANDARD",
			"SCHEMA_VALIDATION_FAILED: The resource provided arn:aws:states:::aws-sdk:dynamodb:putItem.sync is not recognized. " +
				"The value is not a valid resource ARN, or the resource is not available in this region. at /States/A/Resource",
		},
		{"range", machine(`{"Type":"Wait","Seconds":-1,"End":true}`), "STANDARD", "SCHEMA_VALIDATION_FAILED: Minimum value is 0 at /States/A/Seconds"},
		{"number", machine(`{"Type":"Wait","Seconds":"x","End":true}`), "STANDARD", "SCHEMA_VALIDATION_FAILED: Expected value of type Integer at /States/A/Seconds"},
		{
			"Express with an activity", machine(`{"Type":"Task","Resource":"arn:aws:states:us-east-1:111111111111:activity:a","End":true}`), "EXPRESS",
			"SCHEMA_VALIDATION_FAILED: Express state machine does not support Activity ARN at /States/A/Resource",
		},
		{
			"JSONata", `{"StartAt":"A","QueryLanguage":"JSONata","States":{"A":{"Type":"Pass","Output":{"v":"{% phone %}"},"End":true}}}`, "STANDARD",
			"UNSUPPORTED_JSONATA_EXPRESSION: Reference to 'phone' at the top level is not supported. at /States/A/Output/v",
		},
	}
	for _, tt := range tests {
		status, answer := send(t, s, "CreateStateMachine", text(t, map[string]any{"name": "m", "definition": tt.definition, "roleArn": role, "type": tt.kind}))
		require.Equal(t, http.StatusBadRequest, status, tt.name)
		require.Equal(t, "Invalid State Machine Definition: '"+tt.want+"'", answer["message"], tt.name)
		_, validated := send(t, s, "ValidateStateMachineDefinition", text(t, map[string]any{"definition": tt.definition, "type": tt.kind}))
		require.Equal(t, "FAIL", validated["result"], tt.name)
		require.Len(t, validated["diagnostics"], strings.Count(tt.want, " at /")+strings.Count(tt.want, " at null"), tt.name)
	}
}

// An answer has as many diagnostics as are asked for, and warnings where they are.
func TestDiagnosticsAreSelected(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	validate := func(definition string, more map[string]any) map[string]any {
		more["definition"] = definition
		status, answer := send(t, s, "ValidateStateMachineDefinition", text(t, more))
		require.Equal(t, http.StatusOK, status, answer)
		return answer
	}
	choice := `{"StartAt":"A","States":{"A":{"Type":"Choice","Choices":[{"Variable":"$.a","IsNull":true,"Next":"B"}]},"B":{"Type":"Succeed"}}}`
	require.Equal(t, map[string]any{"result": "OK", "diagnostics": []any{}, "truncated": false}, validate(choice, map[string]any{}))
	require.Len(t, validate(choice, map[string]any{"severity": "WARNING"})["diagnostics"], 1)

	wrong := `{"StartAt":"A","States":{"A":{"Type":"Pass","Foo":1,"Bar":2,"End":true}}}`
	require.Len(t, validate(wrong, map[string]any{"maxResults": 0})["diagnostics"], 2)
	one := validate(wrong, map[string]any{"maxResults": 1})
	require.Len(t, one["diagnostics"], 1)
	require.Equal(t, true, one["truncated"])
}
