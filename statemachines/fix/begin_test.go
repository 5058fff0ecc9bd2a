package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A loop that a time ends becomes one that waits as long, where the definition shows how long that is.
func TestLoopWithADeadline(t *testing.T) {
	t.Parallel()
	const (
		inJSONata = `{"QueryLanguage": "JSONata", "StartAt": "Begin", "States": {"Begin": {"Type": "Pass", INIT, "Next": "Wait"}, "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
			"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.id %}"}, "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Good"},
				{"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}", "Next": "Bad"}, {"Condition": "{% RULE %}", "Next": "Late"}], "Default": "Wait"},
			"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
		inJSONPath = `{"StartAt": "Begin", "States": {"Begin": {"Type": "Pass", INIT, "Next": "Wait"}, "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
			"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
				{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "Again?"},
			"Again?": {"QueryLanguage": "JSONata", "Type": "Choice", "Choices": [{"Condition": "{% RULE %}", "Next": "Late"}], "Default": "Wait"},
			"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	)
	replacer := func(form, init, rule string) string {
		return strings.NewReplacer("INIT", init, "RULE", rule).Replace(form)
	}
	deadline := replacer(inJSONata, `"Assign": {"deadline": "{% $millis() + 7200000 %}"}`, "$millis() > $deadline")
	whileTime := strings.NewReplacer(`{"Condition": "{% $millis() > $deadline %}", "Next": "Late"}], "Default": "Wait"`,
		`{"Condition": "{% $millis() <= $deadline %}", "Next": "Wait"}], "Default": "Late"`).Replace(deadline)
	fromRule := strings.Replace(deadline, `"Begin": {"Type": "Pass", "Assign": {"deadline": "{% $millis() + 7200000 %}"}, "Next": "Wait"}`,
		`"Begin": {"Type": "Choice", "Choices": [{"Condition": "{% $exists($states.input.go) %}", "Assign": {"deadline": "{% $millis() + 7200000 %}"}, "Next": "Wait"}], "Default": "Good"}`, 1)
	timestamp := strings.NewReplacer(`"Assign": {"deadline": "{% $millis() + 7200000 %}"}`, `"QueryLanguage": "JSONata", "Assign": {"deadline": "{% $fromMillis($millis() + 7200000) %}"}`,
		`"Again?": {"QueryLanguage": "JSONata", "Type": "Choice", "Choices": [{"Condition": "{% RULE %}", "Next": "Late"}]`,
		`"Again?": {"Type": "Choice", "Choices": [{"Variable": "$$.State.EnteredTime", "TimestampGreaterThanPath": "$deadline", "Next": "Late"}]`,
		"INIT", `"QueryLanguage": "JSONata", "Assign": {"deadline": "{% $fromMillis($millis() + 7200000) %}"}`).Replace(inJSONPath)
	for name, c := range map[string]struct {
		text    string
		refused string
	}{
		"a deadline":                     {deadline, ""},
		"a deadline by which it goes on": {whileTime, ""},
		"a deadline of a rule":           {fromRule, ""},
		"a deadline that is set anew behind the loop": {strings.Replace(deadline, `"Good": {"Type": "Succeed"}`,
			`"Good": {"Type": "Pass", "Assign": {"deadline": 0}, "End": true}`, 1), ""},
		"a start":                    {replacer(inJSONata, `"Assign": {"began": "{% $millis() %}"}`, "$millis() - $began > 7200000"), ""},
		"a start as text":            {replacer(inJSONata, `"Assign": {"began": "{% $now() %}"}`, "$millis() - $toMillis($began) > 7200000"), ""},
		"a start and a length":       {replacer(inJSONata, `"Assign": {"began": "{% $millis() %}", "most": 7200000}`, "$millis() - $began > $most"), ""},
		"the start of the execution": {replacer(inJSONata, `"Comment": "c"`, "$millis() - $toMillis($states.context.Execution.StartTime) > 7200000"), ""},
		"a start in JSONPath":        {replacer(inJSONPath, `"Assign": {"began.$": "$$.State.EnteredTime"}`, "$millis() - $toMillis($began) > 7200000"), ""},
		"a deadline that a rule of JSONPath compares with": {timestamp, ""},
		"a length from the input, and a deadline in another branch": {
			`{"StartAt": "First", "States": {"First": {"Type": "Pass", "Next": "Both"}, "Both": {"Type": "Parallel", "End": true, "Branches": [
				{"StartAt": "Set", "States": {"Set": {"Type": "Pass", "QueryLanguage": "JSONata", "Assign": {"deadline": "{% $millis() + 7200000 %}"}, "End": true}}}, ` +
				replacer(inJSONPath, `"QueryLanguage": "JSONata", "Assign": {"deadline": "{% $millis() + $states.input.most %}"}`, "$millis() > $deadline") + `]}}}`,
			"compares the time with $deadline, and the definition does not show how long that lets the loop wait",
		},
		"a length from the input": {
			replacer(inJSONata, `"Assign": {"deadline": "{% $millis() + $states.input.most %}"}`, "$millis() > $deadline"),
			"compares the time with $deadline, and the definition does not show how long that lets the loop wait",
		},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, loops := apply(t, c.text, fix.Options{Strategy: compile.Variables})
			require.Len(t, loops, 1)
			if c.refused != "" {
				require.Contains(t, loops[0].Refused, c.refused)
				return
			}
			require.Empty(t, loops[0].Refused)
			require.Equal(t, 2*time.Hour, loops[0].MaxWait)
			require.NotContains(t, strings.Join(loops[0].Notes, "; "), "does not say how long")
			require.Contains(t, after, `"Default":"Late"`)
		})
	}
}
