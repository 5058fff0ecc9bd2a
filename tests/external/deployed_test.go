package external_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deployedFinding is a finding in a file or in a definition that AWS has.
type deployedFinding struct{ File, Rule, Pointer, Message string }

// lintAll are the findings of a command line, with names of state machines for files.
func lintAll(t *testing.T, command string, args ...string) []deployedFinding {
	t.Helper()
	code, out := runCommand(t, command, append([]string{"lint", "-o", "json"}, args...)...)
	require.Equal(t, 1, code, "%s", out)
	var all []deployedFinding
	require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&all))
	for i := range all {
		name := all[i].File[strings.LastIndexAny(all[i].File, ":/")+1:]
		all[i].File = strings.TrimSuffix(name, ".asl.json")
	}
	return all
}

// The state machines of an account have the findings of their files, as moto lists and
// describes them.
func TestAccountOnMoto(t *testing.T) {
	t.Parallel()
	m := serveMoto(t)
	command := buildCommand(t)
	folder := t.TempDir()
	const loop = `{
  "StartAt": "Wait", "States": {
    "Wait": {"Type": "Wait", "Seconds": %d, "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId.$": "$.JobRun.Id"}, "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Good"}], "Default": "Wait"},
    "Good": {"Type": "Succeed"}}}
`
	const machines = 120 // more than a page of moto's
	for i := range machines {
		name, text := fmt.Sprintf("m%03d", i), fmt.Sprintf(loop, i+1)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".asl.json"), []byte(text), 0o600))
		body, err := json.Marshal(map[string]string{"name": name, "definition": text, "roleArn": "arn:aws:iam::123456789012:role/r"})
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url, bytes.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("X-Amz-Target", "AWSStepFunctions.CreateStateMachine")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x/20261130/us-east-1/states/aws4_request, SignedHeaders=host, Signature=x")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
	}
	want := lintAll(t, command, folder)
	require.Greater(t, len(want), machines)
	require.ElementsMatch(t, want, lintAll(t, command, "--account", "--region", "us-east-1", "--endpoint-url", m.url))
	require.Subset(t, want, lintAll(t, command, "--endpoint-url", m.url, "arn:aws:states:us-east-1:123456789012:stateMachine:m007"))
	say("suite account on moto: %d state machines have the %d findings of their files", machines, len(want))
}
