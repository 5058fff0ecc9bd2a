package lint_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// An answer is too large only where nothing limits its page: neither the call, nor the
// service. A part that the state selects is selected too late.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	const blocks = "arn:aws:states:::aws-sdk:textract:getDocumentAnalysis"
	for name, c := range map[string]struct {
		resource, members, status string
		found                     bool
	}{
		"no limit":                {blocks, `"Parameters": {"JobId.$": "$.id"}`, "JobStatus", true},
		"a Catch of other errors": {blocks, `"Parameters": {"JobId.$": "$.id"}, "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Bad"}]`, "JobStatus", true},
		"of labels":               {"arn:aws:states:::aws-sdk:rekognition:getLabelDetection", `"Parameters": {"JobId.$": "$.id"}`, "JobStatus", true},
		"a limit":                 {blocks, `"Parameters": {"JobId.$": "$.id", "MaxResults": 1}`, "JobStatus", false},
		"a limit by a path":       {blocks, `"Parameters": {"JobId.$": "$.id", "MaxResults.$": "$.most"}`, "JobStatus", false},
		"a part of the answer":    {blocks, `"Parameters": {"JobId.$": "$.id"}, "ResultSelector": {"JobStatus.$": "$.JobStatus"}`, "JobStatus", true},
		"a Catch by name":         {blocks, `"Parameters": {"JobId.$": "$.id"}, "Catch": [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "Good"}]`, "JobStatus", false},
		"the service's maximum":   {"arn:aws:states:::aws-sdk:iam:getServiceLastAccessedDetails", `"Parameters": {"JobId.$": "$.id"}`, "JobStatus", false},
		"no list":                 {"arn:aws:states:::aws-sdk:glue:getJobRun", `"Parameters": {"JobName": "n", "RunId.$": "$.id"}`, "JobRun.JobRunState", false},
		"a status of an item":     {"arn:aws:states:::aws-sdk:ec2:describeExportTasks", `"Parameters": {"ExportTaskIds.$": "States.Array($.id)"}`, "ExportTasks[0].State", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "Wait", "States": {
				"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"},
				"Get": {"Type": "Task", "Resource": %q, %s, "ResultPath": "$.a", "Next": "Done?"},
				"Done?": {"Type": "Choice", "Default": "Wait", "Choices": [
					{"Or": [{"Variable": "$.a.%[3]s", "StringEquals": "SUCCEEDED"}, {"Variable": "$.a.%[3]s", "StringEquals": "COMPLETED"},
						{"Variable": "$.a.%[3]s", "StringEquals": "completed"}], "Next": "Good"},
					{"Variable": "$.a.%[3]s", "StringEquals": "FAILED", "Next": "Bad"}]},
				"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`, c.resource, c.members, c.status))
			require.NoError(t, err)
			types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
			require.NoError(t, err)
			rules := rulesOf(lint.Check(m, lint.Options{Types: types}))
			if c.found {
				require.Contains(t, rules, lint.LargeAnswer)
			} else {
				require.NotContains(t, rules, lint.LargeAnswer)
			}
			require.NotEmpty(t, lint.Loops(m, lint.Options{Types: types})[0].Rows, "the loop has a status")
		})
	}
}
