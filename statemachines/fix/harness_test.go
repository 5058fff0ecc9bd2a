package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/tests/race"
)

// What a loop reads is drawn as it needs it: a refusal is never about drawn values.
func TestValuesThatALoopNeeds(t *testing.T) {
	t.Parallel()
	const item = `{"QueryLanguage": "JSONata", "StartAt": "Each", "States": {"Each": {"Type": "Map", "Items": "{% $states.input.ids %}", "End": true,
  "ItemProcessor": {"StartAt": "Look", "States": {
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.input %}"},
      "Assign": {"s": "{% $states.result.QueryExecution.Status.State %}"}, "Output": "{% $states.input %}", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [
      {"Condition": "{% $s = 'SUCCEEDED' %}", "Next": "Good"},
      {"Condition": "{% $s in ['QUEUED', 'RUNNING'] %}", "Next": "Pause"}], "Default": "Bad"},
    "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
    "Good": {"Type": "Succeed"},
    "Bad": {"Type": "Fail", "Error": "QueryFailed"}}}}}}`
	const index = `{"StartAt": "Pause", "States": {
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "States.ArrayGetItem($.ids, $.i)"},
    "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Or": [{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED"}, {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING"}], "Next": "Pause"}],
    "Default": "Bad"},
  "Good": {"Type": "Succeed"},
  "Bad": {"Type": "Fail", "Error": "QueryFailed"}}}`
	count := strings.NewReplacer(`"Output": "{% $states.input %}"`, `"Output": {"id": "{% $states.input.id %}", "n": "{% $states.input.n + 1 %}"}`,
		`"QueryExecutionId": "{% $states.input %}"`, `"QueryExecutionId": "{% $states.input.id %}"`,
		`'RUNNING'] %}`, `'RUNNING'] and $states.input.n < 30 %}`).Replace(item)
	for name, c := range map[string]struct{ text, refused string }{
		"an item that is text": {item, ""},
		"an index of a list":   {index, ""},
		"a count in the data":  {count, "with the status SUCCEEDED the new loop gives other data"},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Contains(t, loops[0].Refused, c.refused)
			require.Equal(t, c.refused == "", loops[0].Refused == "", loops[0].Refused)
		})
	}
}

// A status of a job that runs leads where the loop leaves with it, and nowhere if it polls on.
func TestRoutesOfARunningJob(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"StringEquals": "FAILED", "Next": "Failed"`, `"StringEquals": "RUNNING", "Next": "Wait"`, `"Default": "Wait"`, `"Default": "Failed"`).Replace(machine("", "", "", ""))
	_, loops := apply(t, text, fix.Options{Strategy: compile.Variables, MaxWait: 10 * time.Minute}) // to which it polls
	require.Empty(t, loops[0].Refused)
	require.Subset(t, loops[0].Routes, []fix.Route{{Status: "QUEUED", Before: "Failed", Meaning: lint.MeansRunning}, {Status: "RUNNING", Meaning: lint.MeansRunning}})
}
