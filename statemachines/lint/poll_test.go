package lint_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A poll survives a throttled call only by a retrier of an error by which one arrives: not
// by that of faults alone, and not by one that the service does not have.
func TestThrottledPollsAreRetried(t *testing.T) {
	t.Parallel()
	for name, retried := range map[string]bool{
		"Athena.AthenaException": true, "States.TaskFailed": true, "States.ALL": true,
		"Athena.InternalServerException": false, "Athena.ThrottlingException": false, "Athena.SdkClientException": false,
		"Athena.TooManyRequestsException": true, // of other calls of the service
	} {
		m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "Get", "TimeoutSeconds": 3600, "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"},
				"ResultPath": "$.r", "Retry": [{"ErrorEquals": [%q]}], "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "End"},
			"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"}, "End": {"Type": "Succeed"}}}`, name))
		require.NoError(t, err)
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := lint.Check(m, lint.Options{Types: types})
		require.Equal(t, retried, !slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule == lint.UnretriedTask }), name)
	}
}

// A write is retried only by errors by which nothing but throttled calls arrive.
func TestWritesAreRetriedWhenThrottledAlone(t *testing.T) {
	t.Parallel()
	for resource, advice := range map[string]string{
		"arn:aws:states:::aws-sdk:athena:startQueryExecution": `retry "Athena.TooManyRequestsException" alone, by which throttled calls arrive: after another error the job may have started`,
		// whose ThrottlingException other operations of the service declare
		"arn:aws:states:::aws-sdk:glue:startJobRun": `retry "Glue.ThrottlingException" alone, by which throttled calls arrive: after another error the call may have been made, and a second one repeats it`,
		// whose LimitExceededException may also mean too many jobs
		"arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime": `retry "DynamoDb.ThrottlingException" alone, by which throttled calls arrive: after another error`,
		"arn:aws:states:::aws-sdk:emr:addJobFlowSteps":               `no error is safe to retry: throttled calls arrive as "Emr.EmrException", as service faults do, after which`,
		"arn:aws:states:::sns:publish":                               `retry "SNS.ThrottledException" alone, by which throttled calls arrive: after another error the call may have been made, and a second one repeats it`,
	} {
		m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "Get", "TimeoutSeconds": 3600, "States": {
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"},
				"ResultPath": "$.r", "Retry": [{"ErrorEquals": ["States.ALL"]}], "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "End"},
			"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Write"}, "Write": {"Type": "Task", "Resource": %q, "Parameters": {"TopicArn": "t", "Message": "m"}, "ResultPath": null, "Next": "Get"},
			"End": {"Type": "Succeed"}}}`, resource))
		require.NoError(t, err)
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := lint.Check(m, lint.Options{Types: types})
		i := slices.IndexFunc(found, func(f lint.Finding) bool { return f.Rule == lint.UnretriedTask })
		require.GreaterOrEqual(t, i, 0, resource)
		require.Contains(t, found[i].Message, advice)
	}
}
