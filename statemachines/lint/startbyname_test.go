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
		lead     = `the retrier repeats a start call whose answer was lost, and a second job may start beside the one that "Look" polls`
		transfer = `"transfer:startFileTransfer", "Parameters": {"ConnectorId": "c", "SendFilePaths": ["/a"]}`
		results  = `"transfer:listFileTransferResults", "Parameters": {"ConnectorId": "c", "TransferId.$": "$.job.TransferId"}`
		all      = "States.ALL"
		noToken  = lead + `, as the call has no token; retry "Transfer.ThrottlingException" alone, by which throttled calls arrive: ` +
			`after another error the job may have started`
		bulk     = `"iotsitewise:describeBulkImportJob", "Parameters": {"JobId.$": "$.job.JobId"}`
		reports  = `"backup:describeReportJob", "Parameters": {"ReportJobId.$": "$.job.ReportJobId"}`
		workflow = `"swf:startWorkflowExecution", "Parameters": {"Domain": "d", "WorkflowId.$": "$.id", "WorkflowType": {"Name": "n", "Version": "1"}}`
		runs     = `"swf:describeWorkflowExecution", "Parameters": {"Domain": "d", "Execution": {"WorkflowId.$": "$.id", "RunId.$": "$.job.RunId"}}`
	)
	for name, c := range map[string]struct{ start, errors, poll, want string }{
		"all errors":      {transfer, all, results, noToken},
		"failed calls":    {transfer, "States.TaskFailed", results, noToken},
		"time-outs":       {transfer, "States.Timeout", results, noToken},
		"throttled calls": {transfer, "Transfer.ThrottlingException", results, ""},
		"a job of before": {transfer, all, `"transfer:listFileTransferResults", "Parameters": {"ConnectorId": "c", "TransferId.$": "$.id"}`, ""},
		"a name": {
			`"iotsitewise:createBulkImportJob", "Parameters": {"JobName": "n", "JobRoleArn": "r", "Files": [], "ErrorReportLocation": {}, "JobConfiguration": {}}`,
			all, bulk, "",
		},
		"an error of a second job": {workflow, all, runs, ""},
		"a token that is not given": {
			`"backup:startReportJob", "Parameters": {"ReportPlanName": "p"}`, all, reports,
			lead + `; give "IdempotencyToken" a value that is the same in each attempt, or retry only throttled calls`,
		},
		"a token": {
			`"backup:startReportJob", "Parameters": {"ReportPlanName": "p", "IdempotencyToken.$": "$$.Execution.Name"}`, all, reports, "",
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
