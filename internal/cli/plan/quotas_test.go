package plan

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// How many jobs the quotas allow does not depend on how many are asked about. What a job
// needs is rounded for print alone.
func TestPlanAllowsAsManyJobsHoweverManyAreAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		most int
	}{
		"calls of a service": {[]string{"athena", "StartQueryExecution", "--duration", "uniform(15m, 30m)"}, 18_819},
		"starts":             {[]string{"athena", "StartQueryExecution", "--duration", "uniform(15m, 30m)", "--strategy", "events"}, 27_000},
		"open executions":    {[]string{"--duration", "constant(300h)", "--late", "1h"}, 1_000_000},
		"Map Runs":           {[]string{clitest.WriteFile(t, "map.asl.json", mapOfLoops), "--duration", "uniform(30s, 60s)"}, 37_500},
	} {
		for _, jobs := range []string{"1", "2", "10", "1000", "25000"} {
			var stdout, stderr bytes.Buffer
			args := append([]string{"plan", "-o", "json", "--concurrent", jobs}, c.args...)
			require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "%s", &stderr)
			var report planReport
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
			require.Equal(t, c.most, report.Load.MostJobs, "%s: %s jobs", name, jobs)
			for _, q := range report.Load.Quotas {
				require.Positive(t, q.Needs, "%s: %s jobs: %s", name, jobs, q.Quota)
			}
		}
	}
}

const mapOfLoops = `{"StartAt": "All", "States": {"All": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Get", "States": {
  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "n", "RunId.$": "$.id"}, "ResultPath": "$.got", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.got.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Done"}], "Default": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"}, "Done": {"Type": "Succeed"}}}}}}`
