package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// timed is a loop that looks at a deadline, behind a state First.
func timed(first, retry, assign, deadline, late string) string {
	stop, count := "", ""
	if strings.Contains(deadline, "$n") {
		count = `, "n": "{% $n + 1 %}"`
	}
	if late == "Stop" {
		stop = `"Stop": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:stopQueryExecution",
      "Arguments": {"QueryExecutionId": "{% $id %}"}, "Next": "Late"},`
	}
	return strings.NewReplacer("FIRST", first, "RETRY", retry, "ASSIGN", assign, "DEADLINE", deadline, "LATE", late, "STOP", stop, "COUNT", count).Replace(
		`{"QueryLanguage": "JSONata", "StartAt": "First", "States": {
    "First": FIRST,
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Arguments": {"QueryString": "SELECT 1"},
      "Assign": {"id": "{% $states.result.QueryExecutionId %}"ASSIGN}, "Next": "Look"},
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $id %}"},
      "Retry": RETRY, "Assign": {"state": "{% $states.result.QueryExecution.Status.State %}"COUNT}, "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Condition": "{% $state = 'SUCCEEDED' %}", "Next": "Good"},
      {"Condition": "{% $state in ['FAILED', 'CANCELLED'] %}", "Next": "Failed"},
      {"Condition": "{% DEADLINE %}", "Next": "LATE"}], "Default": "Wait"},
    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
    STOP
    "Good": {"Type": "Succeed"}, "Failed": {"Type": "Fail", "Error": "Failed"}, "Late": {"Type": "Fail", "Error": "Late"}}}`)
}

// A new loop has what the deadline of the old one leaves it. What an execution does otherwise whatever one poll
// answers is told.
func TestBesides(t *testing.T) {
	t.Parallel()
	const (
		wait     = `{"Type": "Wait", "Seconds": 1200, "Next": "Start"}`
		function = `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "prepare"}, "Output": "{% $states.input %}",
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 3}], "Next": "Start"}`
		often = `[{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 9}]`
		once  = `[{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}]`
		since = `$millis() - $toMillis($states.context.Execution.StartTime) > 3600000`
		until = `$millis() > $until`
		sets  = `, "until": "{% $millis() + 3600000 %}"`
	)
	for name, c := range map[string]struct {
		text string
		wait time.Duration
		want []string
	}{
		"a deadline of the execution behind a Wait": {timed(wait, often, "", since, "Late"), 40 * time.Minute, nil},
		"a deadline of the execution behind a function": {timed(function, often, "", since, "Late"), time.Hour, []string{
			`the time of "First" before the loop: counts for the deadline -> does not, and the new loop waits 1h from its begin`,
		}},
		"a deadline that is set behind a function": {timed(function, often, sets, until, "Late"), time.Hour, nil},
		"a deadline that leads to a call":          {timed(wait, often, "", since, "Stop"), 40 * time.Minute, nil},
		"a count behind a Wait":                    {timed(wait, often, `, "n": 0`, "$n >= 120", "Late"), 59*time.Minute + 30*time.Second, nil},
		"fewer retries": {timed(wait, once, sets, until, "Late"), time.Hour, []string{
			"retries of Athena.InternalServerException, Athena.SdkClientException: 1 -> 6",
			"retries of Athena.AthenaException: 1 -> 3",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{})
			require.Len(t, loops, 1)
			require.Empty(t, loops[0].Refused)
			require.Equal(t, c.wait, loops[0].MaxWait)
			require.ElementsMatch(t, c.want, loops[0].Besides)
		})
	}
}
