package trial_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// chain is a machine of loops one after another.
func chain(loops int) string {
	var states []string
	for n := range loops {
		next := fmt.Sprintf("Start %d", n+1)
		if n == loops-1 {
			next = "Good"
		}
		states = append(states, fmt.Sprintf(`"Start %[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
			"Parameters": {"QueryString": "SELECT %[1]d"}, "ResultPath": "$.s", "Next": "Pause %[1]d"},
		"Pause %[1]d": {"Type": "Wait", "Seconds": 30, "Next": "Look %[1]d"},
		"Look %[1]d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
			"Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.r", "Next": "Done %[1]d"},
		"Done %[1]d": {"Type": "Choice", "Default": "Pause %[1]d", "Choices": [
			{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"},
			{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "%[2]s"}]}`, n, next))
	}
	return `{"StartAt": "Start 0", "States": {"Bad": {"Type": "Fail", "Error": "QueryFailed"}, "Good": {"Type": "Succeed"}, ` + strings.Join(states, ",\n") + `}}`
}

// One edit of one loop is tried, beside ever more loops.
func BenchmarkCompare(b *testing.B) {
	for _, loops := range []int{1, 10, 75} {
		b.Run(fmt.Sprint(loops), func(b *testing.B) {
			text := chain(loops)
			before, err := asl.Parse([]byte(text))
			require.NoError(b, err)
			at := fmt.Sprintf(`"Default": "Pause %d", "Choices": [`, loops/2)
			rule := `{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Bad"},`
			after, err := asl.Parse([]byte(strings.Replace(text, at, at+rule, 1)))
			require.NoError(b, err)
			for b.Loop() {
				report, err := trial.Compare(b.Context(), before, after, trial.Options{Models: models.Load})
				require.NoError(b, err)
				require.NotEmpty(b, report.Outside())
			}
		})
	}
}
