package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A start call that the catalogue does not know, and that a Retry repeats after a lost answer, has a warning if a loop
// polls what its answer names. One that a name, a token or an error keeps from starting a second job has none.
func TestRepeatedStartsByName(t *testing.T) {
	t.Parallel()
	const (
		lead    = `the retrier repeats a start call whose answer was lost, and a second job may start beside the one that "Look" polls`
		sums    = `"deadline:startSessionsStatisticsAggregation", "Parameters": {"FarmId": "f", "ResourceIds": {}, "GroupBy": [], "Statistics": []}`
		results = `"deadline:getSessionsStatisticsAggregation", "Parameters": {"FarmId": "f", "AggregationId.$": "$.job.AggregationId"}`
		all     = "States.ALL"
		noToken = lead + `, as the call has no token; retry "Deadline.ThrottlingException" alone, by which throttled calls arrive: ` +
			`after another error the job may have started`
		deletion = `"personalize:describeDataDeletionJob", "Parameters": {"DataDeletionJobArn.$": "$.job.DataDeletionJobArn"}`
		scan     = `"BackupVaultName": "v", "RecoveryPointArn": "r", "IamRoleArn": "i", "ScannerRoleArn": "s", "MalwareScanner": "GUARDDUTY", "ScanMode": "FULL_SCAN"`
		scanned  = `"backup:describeScanJob", "Parameters": {"ScanJobId.$": "$.job.ScanJobId"}`
		workflow = `"swf:startWorkflowExecution", "Parameters": {"Domain": "d", "WorkflowId.$": "$.id", "WorkflowType": {"Name": "n", "Version": "1"}}`
		runs     = `"swf:describeWorkflowExecution", "Parameters": {"Domain": "d", "Execution": {"WorkflowId.$": "$.id", "RunId.$": "$.job.RunId"}}`
	)
	for name, c := range map[string]struct{ start, errors, poll, want string }{
		"all errors":      {sums, all, results, noToken},
		"failed calls":    {sums, "States.TaskFailed", results, noToken},
		"time-outs":       {sums, "States.Timeout", results, noToken},
		"throttled calls": {sums, "Deadline.ThrottlingException", results, ""},
		"a job of before": {sums, all, `"deadline:getSessionsStatisticsAggregation", "Parameters": {"FarmId": "f", "AggregationId.$": "$.id"}`, ""},
		"a name": {
			`"personalize:createDataDeletionJob", "Parameters": {"JobName": "n", "DatasetGroupArn": "g", "DataSource": {}, "RoleArn": "r"}`,
			all, deletion, "",
		},
		"an error of a second job": {workflow, all, runs, ""},
		"a token that is not given": {
			`"backup:startScanJob", "Parameters": {` + scan + `}`, all, scanned,
			lead + `; give "IdempotencyToken" a value that is the same in each attempt, or retry only throttled calls`,
		},
		"a token": {
			`"backup:startScanJob", "Parameters": {` + scan + `, "IdempotencyToken.$": "$$.Execution.Name"}`, all, scanned, "",
		},
		"a resource that the call names": {
			`"sagemaker:startClusterHealthCheck", "Parameters": {"ClusterName": "c", "DeepHealthCheckConfigurations": []}`, all,
			`"sagemaker:describeCluster", "Parameters": {"ClusterName.$": "$.job.ClusterArn"}`, "",
		},
		"an entry of the catalogue": {
			`"glue:startJobRun", "Parameters": {"JobName": "j"}`, "Glue.Other", `"glue:getJobRun", "Parameters": {"JobName": "j", "RunId.$": "$.job.JobRunId"}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task := func(call string) string {
				return `"Resource": "arn:aws:states:::aws-sdk:` + strings.TrimPrefix(call, `"`)
			}
			m, err := asl.Parse([]byte(`{"StartAt": "Go", "TimeoutSeconds": 3600, "States": {
				"Go": {"Type": "Task", ` + task(c.start) + `, "ResultPath": "$.job",
					"Retry": [{"ErrorEquals": ["` + c.errors + `"], "MaxAttempts": 3}], "Next": "Pause"},
				"Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
				"Look": {"Type": "Task", ` + task(c.poll) + `, "ResultPath": "$.run", "Next": "Which"},
				"Which": {"Type": "Choice", "Choices": [{"Variable": "$.run.Done", "IsPresent": true, "Next": "Done"}], "Default": "Pause"},
				"Done": {"Type": "Succeed"}}}`))
			require.NoError(t, err)
			types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
			require.NoError(t, err)
			var found []string
			for _, f := range lint.Check(m, lint.Options{Types: types}) {
				if f.Rule == lint.RepeatedStart {
					require.Equal(t, "/States/Go/Retry/0", f.Pointer)
					found = append(found, f.Message)
				}
			}
			require.Equal(t, c.want, strings.Join(found, "\n"))
		})
	}
}
