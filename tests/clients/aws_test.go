package clients_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

// python runs a program with the packages of requirements.txt, and with the
// environment of a client.
func python(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	packages, err := pypi.Install(t.Context(), "requirements.txt")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), pypi.Python(), arguments...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "AWS_") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "PYTHONPATH="+packages, "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull)
	return command
}

// environment is what `serve --print-env` prints.
func (e endpoint) environment() []string {
	return []string{
		"AWS_ENDPOINT_URL_SFN=" + e.url, "AWS_DISABLE_HOST_PREFIX_INJECTION=true", "AWS_REGION=us-east-1", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=" + e.keys.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + e.keys.SecretAccessKey,
	}
}

func driveBoto(t *testing.T, to endpoint) {
	t.Helper()
	command := python(t, "boto.py", "testdata/orders.asl.json")
	command.Env = append(command.Env, to.environment()...)
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// shell is a user at a terminal.
type shell struct {
	environment []string
}

// try runs `aws stepfunctions`.
func (s *shell) try(t *testing.T, arguments ...string) (out, errs string, err error) {
	t.Helper()
	command := python(t, append([]string{"-m", "awscli", "stepfunctions"}, arguments...)...)
	command.Env = append(command.Env, s.environment...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err = command.Run()
	return strings.TrimSpace(stdout.String()), stderr.String(), err
}

// run returns what a query selects of the answer, as text.
func (s *shell) run(t *testing.T, operation, query string, arguments ...string) string {
	t.Helper()
	out, errs, err := s.try(t, append([]string{operation, "--output", "text", "--query", query}, arguments...)...)
	require.NoError(t, err, "%s: %s", operation, errs)
	return out
}

// driveAWS does what a user does at a terminal, with the variables that serve prints.
func driveAWS(t *testing.T, to endpoint) {
	t.Helper()
	s := &shell{environment: to.environment()}
	activity := s.run(t, "create-activity", "activityArn", "--name", "cli-ask")
	machine := s.run(t, "create-state-machine", "stateMachineArn", "--name", "cli-orders", "--role-arn", role,
		"--definition", ordersDefinition(t, activity), "--tags", "key=team,value=orders")
	require.Equal(t, "arn:aws:states:us-east-1:123456789012:stateMachine:cli-orders", machine)
	require.Equal(t, "OK", s.run(t, "validate-state-machine-definition", "result", "--definition", ordersDefinition(t, activity)))
	require.Equal(t, "ACTIVE\tOFF", s.run(t, "describe-state-machine", "[status, loggingConfiguration.level]", "--state-machine-arn", machine))
	require.Equal(t, "orders", s.run(t, "list-tags-for-resource", "tags[?key=='team'].value", "--resource-arn", machine))
	_, errs, err := s.try(t, "create-state-machine", "--name", "cli-orders", "--role-arn", role, "--definition", `{"StartAt": "A"}`)
	require.Error(t, err)
	require.Contains(t, errs, "(InvalidDefinition)")

	waiting := s.run(t, "start-execution", "executionArn", "--state-machine-arn", machine, "--input", `{"do": "wait"}`)
	require.Equal(t, "RUNNING", s.run(t, "describe-execution", "status", "--execution-arn", waiting))
	require.Equal(t, machine, s.run(t, "describe-state-machine-for-execution", "stateMachineArn", "--execution-arn", waiting))
	s.run(t, "stop-execution", "stopDate", "--execution-arn", waiting, "--cause", "seen")
	require.Equal(t, "ABORTED\tseen", s.run(t, "describe-execution", "[status, cause]", "--execution-arn", waiting))
	// The command asks for one page after the other.
	require.Equal(t, "ExecutionStarted ChoiceStateEntered ChoiceStateExited WaitStateEntered ExecutionAborted",
		strings.Join(strings.Fields(s.run(t, "get-execution-history", "events[].type", "--execution-arn", waiting, "--page-size", "2")), " "))

	asking := s.run(t, "start-execution", "executionArn", "--state-machine-arn", machine, "--input", `{"do": "ask"}`)
	token := s.run(t, "get-activity-task", "taskToken", "--activity-arn", activity)
	s.run(t, "send-task-heartbeat", "@", "--task-token", token)
	s.run(t, "send-task-failure", "@", "--task-token", token, "--error", "No")
	require.Equal(t, "FAILED\tREDRIVABLE", s.run(t, "describe-execution", "[status, redriveStatus]", "--execution-arn", asking))
	s.run(t, "redrive-execution", "redriveDate", "--execution-arn", asking)
	token = s.run(t, "get-activity-task", "taskToken", "--activity-arn", activity)
	s.run(t, "send-task-success", "@", "--task-token", token, "--task-output", `"yes"`)
	require.Equal(t, "SUCCEEDED\t1", s.run(t, "describe-execution", "[status, redriveCount]", "--execution-arn", asking))
	require.Len(t, strings.Fields(s.run(t, "list-executions", "executions[].executionArn", "--state-machine-arn", machine, "--page-size", "1")), 2)

	require.Equal(t, machine+":1", s.run(t, "publish-state-machine-version", "stateMachineVersionArn", "--state-machine-arn", machine))
	express := s.run(t, "create-state-machine", "stateMachineArn", "--name", "cli-express", "--role-arn", role, "--type", "EXPRESS",
		"--definition", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`)
	require.Equal(t, "SUCCEEDED\t{\"a\":1}", s.run(t, "start-sync-execution", "[status, output]", "--state-machine-arn", express, "--input", `{"a":1}`))
	require.Equal(t, "CAUGHT_ERROR\tRepair", s.run(t, "test-state", "[status, nextState]", "--role-arn", role,
		"--definition", `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "f"}, "QueryLanguage": "JSONata", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Repair"}], "End": true}`,
		"--mock", `{"errorOutput": {"error": "Lambda.TooManyRequestsException", "cause": "throttled"}}`))
	for _, arn := range []string{machine, express} {
		s.run(t, "delete-state-machine", "@", "--state-machine-arn", arn)
	}
	s.run(t, "delete-activity", "@", "--activity-arn", activity)
}
