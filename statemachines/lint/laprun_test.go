package lint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A cycle that never comes to the poll again takes few laps, whether it counts or not.
func TestLapsWithoutAPoll(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all tests
	const text = `{"QueryLanguage": "JSONata", "StartAt": "Init", "States": {
		"Init": {"Type": "Pass", "Assign": {"n": 0, "again": AGAIN}, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
			"Assign": {"status": "{% $states.result.QueryExecution.Status.State %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $status = 'SUCCEEDED' %}", "Next": "Good"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 30, ASSIGN "Next": "Again?"},
		"Again?": {"Type": "Choice", "Choices": [{"Condition": "{% $again %}", "Next": "Get"}], "Default": "Wait"},
		"Good": {"Type": "Succeed"}}}`
	work := func(again, assign string) float64 {
		m, err := asl.Parse([]byte(strings.NewReplacer("AGAIN", again, "ASSIGN", assign).Replace(text)))
		require.NoError(t, err)
		return testing.AllocsPerRun(1, func() { lint.Check(m, lint.Options{}) })
	}
	const count = `"Assign": {"n": "{% $n + 1 %}"},`
	polls := work("true", "")
	t.Log(polls, work("false", ""), work("false", count))
	require.Less(t, work("false", ""), 2*polls)
	require.Less(t, work("false", count), 20*polls)
}
