package external_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// A machine of each strategy, compiled by the command, starts a job of moto's and
// waits for it; the Lambda functions run in the command and call moto too. A service
// that speaks JSON and one with the query protocol.
func TestCompiledMachinesRunAgainstMoto(t *testing.T) {
	t.Parallel()
	m := startMoto(t)
	command := buildCommand(t)
	folder := t.TempDir()
	runs := 0
	polling := slices.DeleteFunc(compile.Strategies(), func(s compile.Strategy) bool {
		return s.Waits() || s.NeedsCollector() // the command has no queue for a collector
	})
	for _, strategy := range polling {
		for _, job := range []struct {
			service, name, input string
			code                 int
			shown                string
		}{
			{"athena", "StartQueryExecution", `{"QueryString": "SELECT 1"}`, 0, "SUCCEEDED after "},
			{"rds", "CreateDBSnapshot", `{"DbInstanceIdentifier": "none", "DbSnapshotIdentifier": "s"}`, 1, "DBInstance none not found"},
		} {
			if strategy == compile.Loop && job.service == "rds" {
				continue // its status is that of a list's element, which the strategy cannot read
			}
			arguments := []string{"compile", job.service, job.name, "--start", "--strategy", string(strategy), "--max-wait", "2m"}
			if strategy == compile.Loop {
				arguments = append(arguments, "--arguments", `{"QueryString.$": "$.QueryString"}`)
			}
			code, definition := runCommand(t, command, arguments...)
			require.Equal(t, 0, code, "%s", definition)
			file := filepath.Join(folder, string(strategy)+job.service+".asl.json")
			require.NoError(t, os.WriteFile(file, []byte(definition), 0o600))
			code, out := runCommand(t, command, "run", file, "--endpoint-url", m.url, "--input", job.input)
			require.Equal(t, job.code, code, "%s %s: %s", strategy, job.service, out)
			require.Contains(t, out, job.shown)
			runs++
		}
	}
	say("suite runs against moto: %d machines of %d strategies", runs, len(polling))
}

// A Task that ends with its job, and an error with the name that Catch takes.
func TestTasksCallMoto(t *testing.T) {
	t.Parallel()
	m := startMoto(t)
	command := buildCommand(t)
	file := filepath.Join(t.TempDir(), "m.asl.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"StartAt": "Sync", "States": {
		"Sync": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "orders"},
			"ResultSelector": {"state.$": "$.JobRunState"}, "Next": "Missing"},
		"Missing": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startJobRun", "Parameters": {"JobName": "none"},
			"Catch": [{"ErrorEquals": ["Glue.EntityNotFoundException"], "ResultPath": "$.caught", "Next": "Item"}], "End": true},
		"Item": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "ResultPath": "$.item",
			"Parameters": {"TableName": "Orders", "Key": {"k": {"S": "1"}}}, "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.item", "Next": "End"}], "Next": "End"},
		"End": {"Type": "Pass", "End": true}}}`), 0o600))
	code, out := runCommand(t, command, "run", file, "--endpoint-url", m.url)
	require.Equal(t, 0, code, "%s", out)
	require.Contains(t, out, `"state":"SUCCEEDED"`)
	require.Contains(t, out, `"Error":"Glue.EntityNotFoundException"`)
	require.Contains(t, out, `"HttpStatusCode":200`)
}
