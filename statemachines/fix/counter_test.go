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

// A loop that counts its turns in a variable becomes one with a bound of its own.
func TestLoopThatCounts(t *testing.T) {
	t.Parallel()
	const (
		look = `"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
				{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}, {"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Late"}], "Default": "Wait"},`
		wait      = `"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, `
		count     = `"Count": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Look"}, `
		start     = `{"StartAt": "Zero", "States": {"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}, `
		ends      = `"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
		ofItself  = `"Look" sets the variable "n" from its value of the turn before, which a new loop does not keep`
		changes   = `"Wait" changes data of the execution`
		untouched = `"Count" changes variables that other states read. If it counts, count by Assign, in a variable that the loop alone reads`
		inData    = `"Count" changes the data that the states behind the loop get. If it counts, count by Assign, in a variable that the loop alone reads`
	)
	inWait := start + strings.Replace(wait, `"Seconds"`, `"Assign": {"n.$": "States.MathAdd($n, 1)"}, "Seconds"`, 1) + look + ends
	inPass := start + strings.Replace(wait, `"Look"`, `"Count"`, 1) + count + look + ends
	first := strings.NewReplacer(`"Next": "Wait"}, `, `"Next": "Count"}, `, `"Default": "Wait"`, `"Default": "Count"`, `"Next": "Look"}, "Look"`, `"Next": "Wait"}, "Look"`).Replace(start + wait + count + look + ends)
	toJSONata := strings.NewReplacer(`"n.$": "States.MathAdd($n, 1)"`, `"n": "{% $n + 1 %}"`,
		`"Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q"`, `"Arguments": {"QueryExecutionId": "{% $states.context.Execution.Input.id %}"}`,
		`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}"`,
		`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}"`,
		`"Variable": "$n", "NumericGreaterThanEquals": 20`, `"Condition": "{% $n >= 20 %}"`)
	inJSONata := `{"QueryLanguage": "JSONata", ` + toJSONata.Replace(inWait[1:])
	inPoll := strings.Replace(start+wait+look+ends, `"Next": "Done?"`, `"Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Done?"`, 1)
	pollInJSONata := `{"QueryLanguage": "JSONata", ` + toJSONata.Replace(inPoll[1:])
	for name, c := range map[string]struct{ text, refused string }{
		"in the Wait":                {inWait, ""},
		"in the Wait, in JSONata":    {inJSONata, ""},
		"in a Pass":                  {inPass, ""},
		"in a Pass that comes first": {first, ""},
		"in the poll":                {inPoll, ""},
		"in the poll, in JSONata":    {pollInJSONata, ""},
		"up to a variable":           {strings.NewReplacer(`"Assign": {"n": 0}`, `"Assign": {"n": 0, "most": 20}`, `$n >= 20`, `$n >= $most`).Replace(pollInJSONata), ""},
		"in the poll and for a Fail": {strings.Replace(inPoll, `"Bad": {"Type": "Fail"}`, `"Bad": {"Type": "Fail", "CausePath": "States.JsonToString($n)"}`, 1), ofItself},
		"from a rule of a Choice":    {strings.Replace(inWait, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Choice", "Choices": [{"Variable": "$.go", "IsPresent": true, "Assign": {"n": 0}, "Next": "Wait"}], "Default": "Good"}`, 1), ""},
		"set to null elsewhere":      {strings.Replace(inWait, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": null}, "End": true}`, 1), ""},
		"set anew behind":            {strings.Replace(inWait, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": 30}, "End": true}`, 1), ""},
		"for a state behind":         {strings.Replace(inPass, `{"Type": "Succeed"}`, `{"Type": "Pass", "Parameters": {"polls.$": "$n"}, "End": true}`, 1), untouched},
		"and changes the data":       {strings.Replace(inPass, `"Count": {"Type": "Pass"`, `"Count": {"Type": "Pass", "Result": {"a": 1}, "ResultPath": "$.last"`, 1), inData},
		"with an Output":             {strings.Replace(inJSONata, `"Seconds"`, `"Output": "{% $merge([$states.input, {'n': $n}]) %}", "Seconds"`, 1), changes},
		"for the poll":               {strings.Replace(inPass, `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId.$": "States.Format('{}-{}', $.id, $n)"}`, 1), untouched},
		"in the poll and for it":     {strings.NewReplacer(`"Assign": {"n": 0}`, `"Assign": {"n": 1}`, `"Next": "Done?"`, `"TimeoutSecondsPath": "$n", "Next": "Done?"`).Replace(inPoll), ofItself},
		"in the poll and for a Wait": {strings.Replace(pollInJSONata, `"Seconds": 30`, `"Seconds": "{% 30 + $n %}"`, 1), ofItself},
		"in the data":                {strings.NewReplacer(`"Assign": {"n.$": "States.MathAdd($n, 1)"}`, `"Parameters": {"n.$": "States.MathAdd($.poll.n, 1)"}, "ResultPath": "$.poll"`, `"Variable": "$n"`, `"Variable": "$.poll.n"`).Replace(inPass), inData},
		"then anew for the next loop": {strings.Replace(inPoll, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Rest"},
			"Rest": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "End"}], "Default": "More"}, "More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Rest"},
			"End": {"Type": "Succeed"}`, 1), ""},
		"for the next loop, too": {strings.Replace(inPoll, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "End"}], "Default": "More"},
			"More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Good"}, "End": {"Type": "Succeed"}`, 1), ofItself},
		"before it in another loop": {strings.Replace(inPoll, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Early"},
			"Early": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "Anew"}], "Default": "More"}, "More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Early"},
			"Anew": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, 1), ""},
	} {
		if !race.Takes(name, 4) {
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
			require.InDelta(t, 10*time.Minute, loops[0].MaxWait, float64(time.Minute))
			if !strings.Contains(c.text, `"More"`) {
				require.NotContains(t, after, `States.MathAdd($n`)
			}
			require.NotContains(t, after, `$n + 1`)
			require.Contains(t, after, `"Late"`)
		})
	}
}
