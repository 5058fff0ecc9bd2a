package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const invoke = "arn:aws:states:::lambda:invoke"

// invokes runs one lambda:invoke Task with the arguments.
func invokes(t *testing.T, arguments string, functions map[string]sim.LambdaFunction) (*sim.Result, error) {
	t.Helper()
	m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+invoke+`", "Parameters": `+arguments+`, "End": true}}}`)
	return sim.Run(t.Context(), m, []byte(`{"id": 7}`), sim.Options{
		Region: "eu-west-1", Handlers: map[string]sim.Handler{invoke: sim.LambdaInvoke(functions)},
	})
}

func TestLambdaInvoke(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, arguments, payload, version string }{
		{"name", `{"FunctionName": "check", "Payload": {"a.$": "$.id", "b": "<x>"}}`, `{"a":7,"b":"<x>"}`, "$LATEST"},
		{"whole input", `{"FunctionName": "check", "Payload.$": "$"}`, `{"id":7}`, "$LATEST"},
		{"name and version", `{"FunctionName": "check:3", "Payload": []}`, `[]`, "3"},
		{"partial ARN", `{"FunctionName": "123456789012:function:check", "Payload": {}}`, `{}`, "$LATEST"},
		{"full ARN with alias", `{"FunctionName": "arn:aws:lambda:eu-west-1:123456789012:function:check:live", "Payload": {}}`, `{}`, "live"},
		{"qualifier", `{"FunctionName": "check", "Qualifier": "5", "Payload": {}}`, `{}`, "5"},
		{"no payload", `{"FunctionName": "check", "InvocationType": "RequestResponse", "LogType": "None"}`, `{}`, "$LATEST"},
		{"null payload", `{"FunctionName": "check", "Payload": null}`, `{}`, "$LATEST"},
		{"text payload", `{"FunctionName": "check", "Payload": "\"text\""}`, `"text"`, "$LATEST"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			check := func(_ context.Context, payload []byte) ([]byte, error) {
				got = string(payload)
				return []byte(`{"status": "RUNNING"}`), nil
			}
			r, err := invokes(t, tt.arguments, map[string]sim.LambdaFunction{"check": check})
			require.NoError(t, err)
			require.Equal(t, tt.payload, got)
			var envelope struct {
				ExecutedVersion string          `json:"ExecutedVersion"`
				Payload         json.RawMessage `json:"Payload"`
				HTTP            struct {
					All    map[string][]string `json:"AllHttpHeaders"`
					Single map[string]string   `json:"HttpHeaders"`
					Status int                 `json:"HttpStatusCode"`
				} `json:"SdkHttpMetadata"`
				Response struct {
					RequestID string `json:"RequestId"`
				} `json:"SdkResponseMetadata"`
				StatusCode int `json:"StatusCode"`
			}
			require.NoError(t, json.Unmarshal(r.Output, &envelope))
			require.Equal(t, tt.version, envelope.ExecutedVersion)
			require.JSONEq(t, `{"status": "RUNNING"}`, string(envelope.Payload))
			require.Equal(t, 200, envelope.StatusCode)
			require.Equal(t, 200, envelope.HTTP.Status)
			require.Equal(t, "21", envelope.HTTP.Single["Content-Length"])
			require.Equal(t, []string{tt.version}, envelope.HTTP.All["X-Amz-Executed-Version"])
			require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, envelope.Response.RequestID)
		})
	}
}

func TestLambdaInvokeReturnsNull(t *testing.T) {
	t.Parallel()
	for _, result := range []string{"", "null"} {
		check := func(context.Context, []byte) ([]byte, error) { return []byte(result), nil }
		r, err := invokes(t, `{"FunctionName": "check"}`, map[string]sim.LambdaFunction{"check": check})
		require.NoError(t, err)
		require.Contains(t, string(r.Output), `"Payload":null`)
	}
}

// What fails the Task.
func TestLambdaInvokeFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments string
		err             error
		want, cause     string // the cause as a regular expression
	}{
		{"function error", `{"FunctionName": "check"}`, &sim.FunctionError{Type: "JobPoller.Running", Message: "attempt 2"}, "JobPoller.Running", `^\{"errorMessage":"attempt 2","errorType":"JobPoller.Running"\}$`},
		{"no type", `{"FunctionName": "check"}`, &sim.FunctionError{Message: "m"}, "Lambda.Unknown", `^The cause could not be determined because Lambda did not return an error type. Returned payload: \{"errorMessage":"m"\}$`},
		{"unknown function", `{"FunctionName": "chek:2"}`, nil, "Lambda.ResourceNotFoundException", `^Function not found: arn:aws:lambda:eu-west-1:123456789012:function:chek:2 \(Service: AWSLambda; Status Code: 404; .*\); there are check$`},
		{"payload not JSON", `{"FunctionName": "check", "Payload": "{"}`, nil, "Lambda.InvalidRequestContentException", `^Could not parse request body into json`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(context.Context, []byte) ([]byte, error) { return nil, tt.err }
			r, err := invokes(t, tt.arguments, map[string]sim.LambdaFunction{"check": check})
			require.NoError(t, err)
			require.Equal(t, sim.StatusFailed, r.Status)
			require.Equal(t, tt.want, r.Error)
			require.Regexp(t, tt.cause, r.Cause)
		})
	}
	r, err := invokes(t, `{"FunctionName": "check"}`, nil)
	require.NoError(t, err)
	require.Contains(t, r.Cause, "; there are no functions")
}

// Lambda passes on whatever a runtime answers.
func TestLambdaResultNotJSON(t *testing.T) {
	t.Parallel()
	for _, result := range []string{`{} {}`, `{`, `not JSON`, strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "\xff"} {
		function := func(context.Context, []byte) ([]byte, error) { return []byte(result), nil }
		for resource, handler := range map[string]sim.Handler{
			invoke:                            sim.LambdaInvoke(map[string]sim.LambdaFunction{"check": function}),
			"arn:aws:lambda:::function:check": sim.LambdaDirect(function),
		} {
			m := parse(t, `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+resource+`", "Parameters": {"FunctionName": "check"}, "End": true}}}`)
			r, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{resource: handler}})
			require.NoError(t, err)
			require.Equal(t, "Lambda.Unknown", r.Error)
			require.Contains(t, r.Cause, "Returned payload: "+strings.ToValidUTF8(result[:min(len(result), 1000)], ""))
			require.LessOrEqual(t, len(r.Cause), asl.MaxCauseLength)
		}
	}
}

// What ends the run: AWS would have refused the definition, or the test is
// broken.
func TestLambdaInvokeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, arguments, result, want string
		err                           error
	}{
		{"no object", `7`, ``, "lambda:invoke needs an object", nil},
		{"no name", `{"Payload": {}}`, ``, `lambda:invoke needs the argument "FunctionName"`, nil},
		{"name not a string", `{"FunctionName": 1}`, ``, `argument "FunctionName" must be a string`, nil},
		{"unknown argument", `{"FunctionName": "check", "Paylod": {}}`, ``, `argument "Paylod" is not supported`, nil},
		{"asynchronous", `{"FunctionName": "check", "InvocationType": "Event"}`, ``, `argument InvocationType "Event" is not supported`, nil},
		{"log", `{"FunctionName": "check", "LogType": "Tail"}`, ``, `argument LogType "Tail" is not supported`, nil},
		{"plain error", `{"FunctionName": "check"}`, ``, "broken", errors.New("broken")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(context.Context, []byte) ([]byte, error) { return []byte(tt.result), tt.err }
			// As an expression, for a definition is refused that has them as they are.
			expression, err := json.Marshal("{% " + tt.arguments + " %}")
			require.NoError(t, err)
			m := parse(t, `{"QueryLanguage": "JSONata", "StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "`+invoke+`", "Arguments": `+string(expression)+`, "End": true}}}`)
			_, err = sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{
				invoke: sim.LambdaInvoke(map[string]sim.LambdaFunction{"check": check}),
			}})
			require.ErrorContains(t, err, tt.want)
		})
	}
}
