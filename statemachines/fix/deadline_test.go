package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A loop whose deadline the definition does not show stays, with or without the machine's own.
func TestDeadlineThatTheDefinitionDoesNotShow(t *testing.T) {
	t.Parallel()
	now := `{"Variable": "$$.State.EnteredTime", "TimestampGreaterThanPath": "$.until", "Next": "Done"}`
	for name, c := range map[string]struct{ rule, with string }{
		"of the input":                {now, "$.until"},
		"of the input, the other way": {`{"Variable": "$.until", "TimestampLessThanEqualsPath": "$$.State.EnteredTime", "Next": "Done"}`, "$.until"},
		"of the context":              {strings.Replace(now, "$.until", "$$.Execution.Input.until", 1), "$$.Execution.Input.until"},
		"by the start, which stays":   {strings.Replace(now, "$$.State.EnteredTime", "$$.Execution.StartTime", 1), "$.until"},
		"in a Not":                    {`{"And": [{"Variable": "$.b.is", "StringEquals": "IN_PROGRESS"}, {"Not": {"Variable": "$$.State.EnteredTime", "TimestampLessThanPath": "$.until"}}], "Next": "Done"}`, "$.until"},
		"a fixed time":                {strings.Replace(now, `ThanPath": "$.until"`, `Than": "2030-01-01T00:00:00Z"`, 1), "the fixed time"},
		"in JSONata":                  {`{"Condition": "{% $millis() > $toMillis($states.context.Execution.Input.until) %}", "Next": "Done"}`, "$states.context.Execution.Input.until"},
	} {
		for _, limit := range []string{"", `"TimeoutSeconds": 20000, `} {
			t.Run(name+limit, func(t *testing.T) {
				t.Parallel()
				rules := isDone + "," + isBroken + "," + c.rule
				text := strings.NewReplacer("RULES", rules, "OTHERWISE", "Pause", "BEHIND", "").Replace(jobLoop)
				if strings.Contains(c.rule, "Condition") {
					text = choiceInJSONata.Replace(text)
				}
				text = strings.Replace(text, `{"StartAt"`, `{`+limit+`"StartAt"`, 1)
				loops := loopsOf(t, text)
				require.Len(t, loops, 1)
				require.Contains(t, loops[0].Refused, `the rule of "Which" for "Done" compares the time with `+c.with)
			})
		}
	}
}

// A deadline that the loop sets itself is no number that is missing: the reason names the state that sets it.
func TestDeadlineThatTheLoopSets(t *testing.T) {
	t.Parallel()
	const machine = `{"QueryLanguage": "JSONata", "StartAt": "Nap", "States": {
		"Nap": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {"JobName": "j", "RunId": "{% $states.context.Execution.Input.run %}"},
			"Output": "{% $states.result.JobRun.JobRunState %}", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Default": "Nap", "Choices": [{"Condition": "{% $states.input = 'SUCCEEDED' %}", "Next": "Good"},
			{"Condition": "{% $states.input in ['FAILED', 'ERROR', 'TIMEOUT', 'STOPPED', 'EXPIRED'] %}", "Next": "Bad"},
			{"Condition": "{% $millis() > $until %}", "Next": "Late"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "Bad"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	const assign = `, "Assign": {"until": "{% $millis() + 3600000 %}"}`
	for setter, at := range map[string]string{"Nap": `"Seconds": 30`, "Look": `"{% $states.context.Execution.Input.run %}"}`} {
		t.Run(setter, func(t *testing.T) {
			t.Parallel()
			loops := loopsOf(t, strings.Replace(machine, at, at+assign, 1))
			require.Len(t, loops, 1)
			require.Contains(t, loops[0].Refused, `compares the time with $until, which "`+setter+`" sets in the loop: set it in a state before the loop`)
		})
	}
	t.Run("no state", func(t *testing.T) {
		t.Parallel()
		loops := loopsOf(t, strings.Replace(machine, `"Seconds": 30`, `"Seconds": 30, "Assign": {"last": "{% $now() %}"}`, 1))
		require.Contains(t, loops[0].Refused, `compares the time with $until, and the definition does not show how long that lets the loop wait`)
	})
}

// choiceInJSONata writes the Choice of jobLoop in JSONata.
var choiceInJSONata = strings.NewReplacer(
	`"Which": {"Type"`, `"Which": {"QueryLanguage": "JSONata", "Type"`,
	`"Variable": "$.b.is", "StringEquals": "SUCCEEDED"`, `"Condition": "{% $states.input.b.is = 'SUCCEEDED' %}"`,
	`"Or": [{"Variable": "$.b.is", "StringEquals": "FAILED"}, {"Variable": "$.b.is", "StringEquals": "FAULT"}]`, `"Condition": "{% $states.input.b.is in ['FAILED', 'FAULT'] %}"`,
)
