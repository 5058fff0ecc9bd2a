package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A Default that polls on is no finding where a model lists the statuses and the rules take all that look like
// an end.
func TestDefaultBehindAllEndsOfAModel(t *testing.T) {
	t.Parallel()
	const status = `{"Variable": "$.run.State", "`
	for rules, want := range map[string]bool{
		status + `StringMatches": "*LED", "Next": "Done"}, ` + status + `StringMatches": "C*D", "Next": "Done"}`: false,
		`{"Or": [` + status + `StringEquals": "FAILED"}, ` + status + `StringEquals": "COMPLETED"}, ` +
			status + `StringEquals": "CANCELLED"}], "Next": "Done"}`: false,
		status + `StringEquals": "COMPLETED", "Next": "Done"}`:                                                                       true,
		`{"Not": ` + status + `StringMatches": "*L*E*"}, "Next": "Wait"}, ` + status + `StringEquals": "COMPLETED", "Next": "Done"}`: true,
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {
			"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
			"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:workmail:describeMailboxExportJob", "Parameters": {"OrganizationId.$": "$.organization", "JobId.$": "$.id"},
				"ResultPath": "$.run", "Next": "Choose"},
			"Choose": {"Type": "Choice", "Choices": [` + rules + `], "Default": "Wait"},
			"Done": {"Type": "Succeed"}}}`))
		require.NoError(t, err)
		types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		found := false
		for _, f := range lint.Check(m, lint.Options{Types: types}) {
			found = found || f.Rule == lint.LoopingDefault
		}
		require.Equal(t, want, found, rules)
	}
}

// A loop that polls an operation without an entry is warned of the failures for which it polls on, by their
// names in the service's model, and of nothing that may be what it waits for.
func TestFailuresByName(t *testing.T) {
	t.Parallel()
	const (
		bulk    = "iotsitewise:describeEnrichmentJob"
		choose  = `"Choose": {"Type": "Choice", "Choices": [`
		status  = `{"Variable": "$.run.Status", "StringEquals": "`
		gone    = "until it is gone"
		endings = status + `COMPLETED", "Next": "Done"}, ` + status + `FAILED", "Next": "Lost"}`
	)
	for name, c := range map[string]struct{ call, choose, want string }{
		"default": {
			bulk, choose + endings + `], "Default": "Wait"}`,
			`TIMED_OUT and CANCELLED of iotsitewise:DescribeEnrichmentJob are ends by their names, but the loop goes on to "Wait" and polls again; ` +
				`lead to a state outside of the loop`,
		},
		"rule": {
			bulk, choose + status + `RUNNING", "Next": "Wait"}, ` + status + `PENDING", "Next": "Wait"}, ` + status + `CANCELLED", "Next": "Wait"}, ` +
				status + `COMPLETED", "Next": "Done"}], "Default": "Lost"}`,
			`CANCELLED of iotsitewise:DescribeEnrichmentJob is an end by its name, but the loop goes on to "Wait" and polls again; lead to a state outside of the loop`,
		},
		"table": {
			bulk, `"Choose": {"Type": "Choice", "QueryLanguage": "JSONata", "Choices": [
				{"Condition": "{% $lookup({'COMPLETED': 'good'}, $states.input.run.Status) = 'good' %}", "Next": "Done"},
				{"Condition": "{% $states.input.run.Status in ['FAILED', 'CANCELLED'] %}", "Next": "Lost"}], "Default": "Wait"}`,
			`TIMED_OUT of iotsitewise:DescribeEnrichmentJob is an end by its name, but the loop goes on to "Wait" and polls again; ` +
				`lead to a state outside of the loop`,
		},
		"item of a list": {
			"appflow:describeFlowExecutionRecords",
			choose + `{"Variable": "$.run.FlowExecutions[0].ExecutionStatus", "StringMatches": "Success*", "Next": "Done"}], "Default": "Wait"}`,
			`Error and Canceled of appflow:DescribeFlowExecutionRecords are ends by their names, but the loop goes on to "Wait" and polls again; ` +
				`lead to a state outside of the loop`,
		},
		"none is listed": {
			"drs:describeJobs", choose + `{"Variable": "$.run.Items[0].Status", "StringEquals": "COMPLETED", "Next": "Done"}], "Default": "Wait"}`, "",
		},
		"all are named": {
			bulk, choose + endings + `, ` + status + `TIMED_OUT", "Next": "Lost"}, ` + status + `CANCELLED", "Next": "Lost"}], "Default": "Wait"}`, "",
		},
		gone: {
			"kafka:describeCluster", choose + `{"Variable": "$.run.ClusterInfo.State", "StringEquals": "ACTIVE", "Next": "Lost"}], "Default": "Wait"}`, "",
		},
		"all leave":     {bulk, choose + status + `RUNNING", "Next": "Wait"}, ` + status + `PENDING", "Next": "Wait"}], "Default": "Done"}`, ""},
		"not looked at": {bulk, choose + `{"Variable": "$.run.JobId", "StringEquals": "x", "Next": "Done"}], "Default": "Wait"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caught := ""
			if name == gone {
				caught = `{"ErrorEquals": ["Kafka.NotFoundException"], "Next": "Done"}, `
			}
			m, err := asl.Parse([]byte(`{"StartAt": "Wait", "TimeoutSeconds": 3600, "States": {
				"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Poll"},
				"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + c.call + `", "Parameters": {"JobId.$": "$.id"},
					"ResultPath": "$.run", "Catch": [` + caught + `{"ErrorEquals": ["States.ALL"], "Next": "Lost"}], "Next": "Choose"},
				` + c.choose + `, "Done": {"Type": "Succeed"}, "Lost": {"Type": "Fail"}}}`))
			require.NoError(t, err)
			types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
			require.NoError(t, err)
			var found []string
			for _, f := range lint.Check(m, lint.Options{Types: types}) {
				if f.Rule == lint.StatusPollsOn {
					require.Equal(t, diag.Warning, f.Severity)
					found = append(found, f.Message)
				}
			}
			require.Equal(t, c.want, strings.Join(found, "\n"))
			for _, f := range lint.Check(m, lint.Options{Types: types, Off: []string{lint.StatusPollsOn}}) {
				require.NotEqual(t, lint.StatusPollsOn, f.Rule)
			}
		})
	}
}
