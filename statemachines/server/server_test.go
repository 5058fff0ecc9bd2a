package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

const (
	pass   = `{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`
	role   = "arn:aws:iam::111111111111:role/r"
	signed = "AWS4-HMAC-SHA256 Credential=111111111111/20260101/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=00"
)

// send makes one request and returns the status and the answer.
func send(t testing.TB, s http.Handler, operation, body string) (status int, answer map[string]any) {
	t.Helper()
	q := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	q.Header.Set("Authorization", signed)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	text, err := io.ReadAll(w.Result().Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &answer), "%s", text)
	require.NotEmpty(t, w.Header().Get("X-Amzn-Requestid"))
	if w.Code != http.StatusOK {
		require.Equal(t, answer["__type"], w.Header().Get("X-Amzn-Errortype"))
	}
	return w.Code, answer
}

func text(t testing.TB, value any) string {
	t.Helper()
	out, err := json.Marshal(value)
	require.NoError(t, err)
	return string(out)
}

func TestMachine(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	status, made := send(t, s, "CreateStateMachine", text(t, map[string]any{"name": "m", "definition": pass, "roleArn": role}))
	require.Equal(t, http.StatusOK, status, made)
	require.Equal(t, "arn:aws:states:eu-west-1:111111111111:stateMachine:m", made["stateMachineArn"])
	require.Greater(t, made["creationDate"], 1.7e9)

	_, described := send(t, s, "DescribeStateMachine", text(t, map[string]any{"stateMachineArn": made["stateMachineArn"]}))
	require.Equal(t, map[string]any{
		"stateMachineArn": made["stateMachineArn"], "name": "m", "status": "ACTIVE", "definition": pass, "roleArn": role, "type": "STANDARD",
		"creationDate": made["creationDate"], "loggingConfiguration": map[string]any{"level": "OFF", "includeExecutionData": false},
		"tracingConfiguration": map[string]any{"enabled": false}, "encryptionConfiguration": map[string]any{"type": "AWS_OWNED_KEY"},
	}, described)

	_, deleted := send(t, s, "DeleteStateMachine", text(t, map[string]any{"stateMachineArn": made["stateMachineArn"]}))
	require.Empty(t, deleted)
	_, gone := send(t, s, "DescribeStateMachine", text(t, map[string]any{"stateMachineArn": made["stateMachineArn"]}))
	require.Equal(t, "StateMachineDoesNotExist", gone["__type"])
}

// What is wrong in a request is said in AWS's words.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	tests := []struct{ operation, body, code, message string }{
		{"Nothing", `{}`, "UnknownOperationException", ""},
		{"ListStateMachines", `{`, "SerializationException", "the request is not JSON: unexpected EOF"},
		{"ListStateMachines", `{} {}`, "SerializationException", "something follows the JSON object of the request"},
		{"ListStateMachines", `[]`, "SerializationException", "the request is not a JSON object"},
		{"ListStateMachines", `{"maxResults":"1"}`, "SerializationException", "STRING_VALUE can not be converted to an Integer"},
		{"ListStateMachines", `{"maxResults":1.5}`, "SerializationException", "NUMBER_VALUE can not be converted to an Integer"},
		{"ListStateMachines", `{"maxResults":4294967296}`, "SerializationException", "NUMBER_VALUE can not be converted to an Integer"},
		{
			"ListStateMachines", `{"maxResults":1001}`, "ValidationException",
			"1 validation error detected: Value '1001' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 1000",
		},
		{
			"CreateStateMachine", `{"name":"","definition":null,"roleArn":"arn:x","type":"FAST","Name":"other"}`, "ValidationException",
			"3 validation errors detected: Value null at 'definition' failed to satisfy constraint: Member must not be null; " +
				"Value '' at 'name' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
				"Value 'FAST' at 'type' failed to satisfy constraint: Member must satisfy enum value set: [STANDARD, EXPRESS]",
		},
		{
			"CreateStateMachine", `{"name":"m","definition":"{}","roleArn":"arn:x","tags":[{"key":""},null]}`, "ValidationException",
			"2 validation errors detected: Value '' at 'tags.1.member.key' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
				"Value null at 'tags.2.member' failed to satisfy constraint: Member must not be null",
		},
		{"CreateStateMachine", `{"name":"a b","definition":"{}","roleArn":"arn:x"}`, "InvalidName", "Invalid Name: 'a b'"},
		{"DescribeStateMachine", `{"stateMachineArn":"x"}`, "InvalidArn", "Invalid Arn: 'Invalid ARN prefix: x'"},
		{"ListStateMachines", `{"nextToken":"x"}`, "InvalidToken", "Invalid Token: 'Invalid token'"},
	}
	for _, tt := range tests {
		status, answer := send(t, s, tt.operation, tt.body)
		require.Equal(t, http.StatusBadRequest, status, tt.body)
		require.Equal(t, tt.code, answer["__type"], tt.body)
		if tt.message != "" {
			require.Equal(t, tt.message, answer["message"], tt.body)
		}
	}
}

// Pages hold everything once, and a token is good for its own list alone.
func TestPages(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	for _, name := range []string{"c", "a", "e", "b", "d"} {
		status, _ := send(t, s, "CreateStateMachine", text(t, map[string]any{"name": name, "definition": pass, "roleArn": role}))
		require.Equal(t, http.StatusOK, status)
	}
	var names []any
	q := map[string]any{"maxResults": 2}
	for {
		_, page := send(t, s, "ListStateMachines", text(t, q))
		items, _ := page["stateMachines"].([]any)
		require.LessOrEqual(t, len(items), 2)
		for _, item := range items {
			names = append(names, item.(map[string]any)["name"])
		}
		if page["nextToken"] == nil {
			break
		}
		q["nextToken"] = page["nextToken"]
	}
	require.Equal(t, []any{"a", "b", "c", "d", "e"}, names)
	other := server.New(server.Options{})
	_, refused := send(t, other, "ListStateMachines", text(t, q))
	require.Equal(t, "InvalidToken", refused["__type"])
}

// A request without bounds is refused before it takes much.
func TestHostileBodies(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	t.Cleanup(s.Close)
	deep := strings.Repeat("[", 1<<20)
	tests := []struct {
		name, body, code string
		status           int
	}{
		{"large", `{"definition":"` + strings.Repeat("x", 9<<20) + `"}`, "RequestEntityTooLargeException", http.StatusRequestEntityTooLarge},
		{"deep", `{"name":` + deep, "SerializationException", http.StatusBadRequest},
		{
			"many errors", `{"name":"m","definition":"{}","roleArn":"arn:x","tags":[` + strings.Repeat(`{"key":""},`, 100_000) + `{"key":""}]}`,
			"ValidationException", http.StatusBadRequest,
		},
		{"deep definition", text(t, map[string]any{"name": "m", "roleArn": role, "definition": deep[:1<<20-1]}), "InvalidDefinition", http.StatusBadRequest},
	}
	for _, tt := range tests {
		status, answer := send(t, s, "CreateStateMachine", tt.body)
		require.Equal(t, tt.status, status, tt.name)
		require.Equal(t, tt.code, answer["__type"], tt.name)
		require.Less(t, len(text(t, answer)), 10_000, tt.name)
	}
}
