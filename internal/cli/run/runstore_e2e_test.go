//go:build e2e

package run

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/dynalite"
)

// The start records of a run are kept in a table: the same command finds its job done.
// Tasks of a definition read and write tables of the same server.
func TestE2ERunWithDynamoDB(t *testing.T) {
	t.Parallel()
	server, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateTable(t.Context(), "records", "key"))
	run := func(code int, args ...string) string {
		var stdout, stderr bytes.Buffer
		args = append([]string{"run", "--endpoint-url", "dynamodb=" + server.URL()}, args...)
		require.Equal(t, code, runCommand(t.Context(), args, &stdout, &stderr), "%s%s", &stdout, &stderr)
		return stdout.String() + stderr.String()
	}
	sample := []string{"--table", "records", "--data", t.TempDir(), "--name", "nightly", "--input", sampleRequest(t, 1)}
	first := run(kit.ExitSucceeded, sample...)
	require.Contains(t, first, "start record  dynamodb://")
	require.Contains(t, first, `"workedSeconds":1`)
	again := run(kit.ExitSucceeded, sample...)
	require.Contains(t, again, "continues the execution with its start record dynamodb://")
	require.Contains(t, again, "attempts      1\n")
	require.Contains(t, run(kit.ExitFailed, append(sample[2:4:4], "--input", sampleRequest(t, 1), "--table", "none", "--name", "other")...), `cannot claim the name "other" of the execution`)

	file := filepath.Join(t.TempDir(), "m.asl.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"StartAt": "Put", "States": {
		"Put": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:putItem", "ResultPath": null, "Next": "Get",
			"Parameters": {"TableName": "records", "Item": {"key": {"S": "k"}, "n": {"N": "7"}}}},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:getItem", "ResultSelector": {"n.$": "$.Item.n.N"}, "ResultPath": "$.got", "Next": "Missing",
			"Parameters": {"TableName": "records", "Key": {"key": {"S": "k"}}}},
		"Missing": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "Parameters": {"TableName": "none", "Key": {"key": {"S": "k"}}},
			"Catch": [{"ErrorEquals": ["DynamoDB.ResourceNotFoundException"], "ResultPath": "$.caught", "Next": "End"}], "End": true},
		"End": {"Type": "Pass", "End": true}}}`), 0o600))
	out := run(kit.ExitSucceeded, file)
	require.Contains(t, out, `"got":{"n":"7"}`)
	require.Contains(t, out, `"Error":"DynamoDB.ResourceNotFoundException"`)
}
