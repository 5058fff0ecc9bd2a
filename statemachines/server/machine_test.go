package server_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// caller makes calls that must succeed, or must be refused.
type caller struct {
	t *testing.T
	s http.Handler
}

func newCaller(t *testing.T) caller {
	t.Helper()
	s := server.New(server.Options{})
	t.Cleanup(s.Close)
	return caller{t, s}
}

func (c caller) ok(operation string, in map[string]any) map[string]any {
	c.t.Helper()
	status, out := send(c.t, c.s, operation, text(c.t, in))
	require.Equal(c.t, http.StatusOK, status, "%s: %v", operation, out)
	return out
}

func (c caller) refused(operation string, in map[string]any) (code, message any) {
	c.t.Helper()
	status, out := send(c.t, c.s, operation, text(c.t, in))
	require.Equal(c.t, http.StatusBadRequest, status, "%s: %v", operation, out)
	return out["__type"], out["message"]
}

// with returns a request with some members more.
func with(in, more map[string]any) map[string]any {
	out := maps.Clone(in)
	maps.Copy(out, more)
	return out
}

var machine = map[string]any{"name": "m", "definition": pass, "roleArn": role}

// A request that repeats another makes nothing, whatever its role and tags are; one that
// wants something else under the name is refused.
func TestCreateIsIdempotent(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	first := c.ok("CreateStateMachine", machine)
	require.Equal(t, first, c.ok("CreateStateMachine", machine))
	require.Equal(t, first, c.ok("CreateStateMachine", with(machine, map[string]any{
		"roleArn": role + "2", "type": "STANDARD", "loggingConfiguration": map[string]any{}, "tags": []any{map[string]any{"key": "k", "value": "v"}},
	})))
	for _, other := range []map[string]any{
		{"definition": pass + " "},
		{"type": "EXPRESS"},
		{"tracingConfiguration": map[string]any{"enabled": true}},
		{"publish": true},
		{"loggingConfiguration": map[string]any{"includeExecutionData": true}},
	} {
		code, message := c.refused("CreateStateMachine", with(machine, other))
		require.Equal(t, "StateMachineAlreadyExists", code, other)
		require.Equal(t, "State Machine Already Exists: '"+first["stateMachineArn"].(string)+"'", message)
	}
}

// An update is a new revision where it changes something. A published version keeps the
// revision that it was published of.
func TestUpdate(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	arn := map[string]any{"stateMachineArn": c.ok("CreateStateMachine", machine)["stateMachineArn"]}
	code, _ := c.refused("UpdateStateMachine", arn)
	require.Equal(t, "MissingRequiredParameter", code)
	require.NotContains(t, c.ok("UpdateStateMachine", with(arn, map[string]any{"roleArn": role})), "revisionId", "nothing changes")

	published := c.ok("UpdateStateMachine", with(arn, map[string]any{"tracingConfiguration": map[string]any{"enabled": true}, "publish": true, "versionDescription": "one"}))
	require.NotEmpty(t, published["revisionId"])
	changed := c.ok("UpdateStateMachine", with(arn, map[string]any{"definition": strings.Replace(pass, `"A":{`, `"A":{"Comment":"new",`, 1)}))
	require.NotEqual(t, published["revisionId"], changed["revisionId"])
	require.NotContains(t, changed, "stateMachineVersionArn")

	now := c.ok("DescribeStateMachine", arn)
	require.Equal(t, changed["revisionId"], now["revisionId"])
	require.Contains(t, now["definition"], "new")
	require.Equal(t, map[string]any{"enabled": true}, now["tracingConfiguration"], "what an update does not name stays")
	version := c.ok("DescribeStateMachine", map[string]any{"stateMachineArn": published["stateMachineVersionArn"]})
	require.Equal(t, []any{pass, "one"}, []any{version["definition"], version["description"]})

	for _, wrong := range []struct {
		in   map[string]any
		code string
	}{
		{map[string]any{"definition": "{}"}, "InvalidDefinition"},
		{map[string]any{"roleArn": "role"}, "InvalidArn"},
		{map[string]any{"loggingConfiguration": map[string]any{"level": "ALL"}}, "InvalidLoggingConfiguration"},
		{map[string]any{"roleArn": role, "versionDescription": "two"}, "ValidationException"},
		{map[string]any{"encryptionConfiguration": map[string]any{"type": "CUSTOMER_MANAGED_KMS_KEY"}}, "InvalidEncryptionConfiguration"},
		{map[string]any{"roleArn": role, "stateMachineArn": published["stateMachineVersionArn"]}, "StateMachineDoesNotExist"},
		{map[string]any{"roleArn": role, "stateMachineArn": arn["stateMachineArn"].(string) + "/label"}, "ValidationException"},
	} {
		code, _ := c.refused("UpdateStateMachine", with(arn, wrong.in))
		require.Equal(t, wrong.code, code, wrong.in)
	}
	require.Equal(t, now, c.ok("DescribeStateMachine", arn), "a refused update changes nothing")
}

// A state machine that logs has a plain name, and one place to log to.
func TestLogging(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	group := map[string]any{"cloudWatchLogsLogGroup": map[string]any{"logGroupArn": "arn:aws:logs:eu-west-1:111111111111:log-group:g:*"}}
	logging := func(groups ...any) map[string]any {
		return map[string]any{"loggingConfiguration": map[string]any{"level": "ALL", "destinations": groups}}
	}
	c.ok("CreateStateMachine", with(machine, logging(group)))
	code, message := c.refused("CreateStateMachine", with(machine, logging(group, group)))
	require.Equal(t, []any{"InvalidLoggingConfiguration", "Invalid Logging Configuration: Must specify exactly one Log Destination."}, []any{code, message})
	code, _ = c.refused("CreateStateMachine", with(with(machine, logging(group)), map[string]any{"name": "größe"}))
	require.Equal(t, "InvalidName", code)
	c.ok("CreateStateMachine", with(machine, map[string]any{"name": "größe"}))
}

// The ARN of a distributed Map describes its state machine, with the label.
func TestLabel(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	made := c.ok("CreateStateMachine", with(machine, map[string]any{"definition": `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"each","End":true,` +
		`"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"EXPRESS"},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`}))
	arn := made["stateMachineArn"].(string)
	described := c.ok("DescribeStateMachine", map[string]any{"stateMachineArn": arn + "/each"})
	require.Equal(t, []any{"each", arn + "/each"}, []any{described["label"], described["stateMachineArn"]})
	for _, none := range []string{"/other", ":1", ":alias", ":01"} {
		code, message := c.refused("DescribeStateMachine", map[string]any{"stateMachineArn": arn + none})
		require.Equal(t, []any{"StateMachineDoesNotExist", "State Machine Does Not Exist: '" + arn + none + "'"}, []any{code, message})
	}
}
