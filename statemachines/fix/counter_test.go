package fix_test

import (
	"fmt"
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
		wait     = `"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, `
		count    = `"Count": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Look"}, `
		start    = `{"StartAt": "Zero", "States": {"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}, `
		ends     = `"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
		ofItself = `"Look" sets the variable "n" from its value of the turn before, which a new loop does not keep`
		changes  = `"Wait" changes data of the execution`
		behind   = `"Count" sets $n, and "Good" reads that: count in a variable or member that the loop alone reads`
		polled   = `"Count" sets $n, and "Look" reads that: count in a variable or member that the loop alone reads`
		inData   = `"Count" changes the data that the states behind the loop get`
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
	inChoice := strings.Replace(start+wait+look+ends, `"Default": "Wait"`, `"Default": "Wait", "Assign": {"n.$": "States.MathAdd($n, 1)"}`, 1)
	inRule := strings.Replace(start+wait+look+ends, `{"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Late"}], "Default": "Wait"`,
		`{"Variable": "$n", "NumericLessThan": 20, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Wait"}], "Default": "Late"`, 1)
	choiceInJSONata := `{"QueryLanguage": "JSONata", ` + toJSONata.Replace(inChoice[1:])
	pollInJSONata := `{"QueryLanguage": "JSONata", ` + toJSONata.Replace(inPoll[1:])
	for name, c := range map[string]struct{ text, refused string }{
		"in the Wait":                    {inWait, ""},
		"in the Wait, in JSONata":        {inJSONata, ""},
		"in a Pass":                      {inPass, ""},
		"in a Pass that comes first":     {first, ""},
		"in the poll":                    {inPoll, ""},
		"in the poll, in JSONata":        {pollInJSONata, ""},
		"in the poll, beside other data": {addRule(inPoll, `{"Variable": "$.more", "IsPresent": true, "Next": "Bad"}`), `a rule of "Done?" leads to "Bad" by data that "Look" does not give: $.more`},
		"in the Choice":                  {inChoice, ""},
		"in the Choice, in JSONata":      {choiceInJSONata, ""},
		"in the Choice, with an Output":  {strings.Replace(choiceInJSONata, `"Default": "Wait"`, `"Output": "{% $merge([$states.input, {'n': $n}]) %}", "Default": "Wait"`, 1), `"Done?" changes data of the execution`},
		"in the Choice, beside an Output": {
			strings.Replace(choiceInJSONata, `"Next": "Late"`, `"Output": "{% $merge([$states.input, {'n': $n}]) %}", "Next": "Late"`, 1), `"Done?" changes data of the execution`,
		},
		"in a rule of the Choice":     {inRule, ""},
		"in the Choice, for another":  {strings.Replace(inChoice, `{"Type": "Succeed"}`, `{"Type": "Pass", "Parameters": {"polls.$": "$n"}, "End": true}`, 1), `"Done?" sets $n where it polls on, and "Good" reads that`},
		"in the Choice, for the poll": {strings.Replace(inChoice, `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId.$": "States.Format('{}-{}', $.id, $n)"}`, 1), `"Done?" sets $n where it polls on, and "Look" reads that`},
		"in the Choice, for the Wait": {strings.NewReplacer(`"Seconds": 30`, `"SecondsPath": "$n"`, `{"n": 0}`, `{"n": 9}`).Replace(inChoice), `"Done?" changes data of the execution`},
		"up to a variable":            {strings.NewReplacer(`"Assign": {"n": 0}`, `"Assign": {"n": 0, "most": 20}`, `$n >= 20`, `$n >= $most`).Replace(pollInJSONata), ""},
		"in the poll and for a Fail":  {strings.Replace(inPoll, `"Bad": {"Type": "Fail"}`, `"Bad": {"Type": "Fail", "CausePath": "States.JsonToString($n)"}`, 1), ofItself},
		"in the poll, for a branch":   {strings.Replace(inPoll, `{"Type": "Succeed"}`, `{"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Polls", "States": {"Polls": {"Type": "Pass", "Parameters": {"polls.$": "$n"}, "End": true}}}]}`, 1), ofItself},
		"from a rule of a Choice":     {strings.Replace(inWait, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Choice", "Choices": [{"Variable": "$.go", "IsPresent": true, "Assign": {"n": 0}, "Next": "Wait"}], "Default": "Good"}`, 1), ""},
		"from a member that is set":   {strings.Replace(inWait, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Pass", "Result": 0, "ResultPath": "$.zero", "Next": "Begin"}, "Begin": {"Type": "Pass", "Assign": {"n.$": "$.zero"}, "Next": "Wait"}`, 1), ""},
		"from a member on one of two": {strings.Replace(inWait, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Choice", "Choices": [{"Variable": "$.n", "IsPresent": true, "Assign": {"n.$": "$.n"}, "Next": "Wait"}], "Assign": {"n": 0}, "Default": "Wait"}`, 1), `compares a count, and nothing before the loop sets that to a number`},
		"set to null elsewhere":       {strings.Replace(inWait, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": null}, "End": true}`, 1), ""},
		"set anew behind":             {strings.Replace(inWait, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": 30}, "End": true}`, 1), ""},
		"for a state behind":          {strings.Replace(inPass, `{"Type": "Succeed"}`, `{"Type": "Pass", "Parameters": {"polls.$": "$n"}, "End": true}`, 1), behind},
		"and drops the data":          {strings.Replace(inPass, `"Count": {"Type": "Pass"`, `"Count": {"Type": "Pass", "Result": {"a": 1}, "ResultPath": null`, 1), ""},
		"and changes the data":        {strings.Replace(inPass, `"Count": {"Type": "Pass"`, `"Count": {"Type": "Pass", "Result": {"a": 1}, "ResultPath": "$.last"`, 1), inData},
		"in the Wait, for another":    {strings.Replace(inWait, `{"Type": "Succeed"}`, `{"Type": "Pass", "Parameters": {"polls.$": "$n"}, "End": true}`, 1), changes},
		"with an Output":              {strings.Replace(inJSONata, `"Seconds"`, `"Output": "{% $merge([$states.input, {'n': $n}]) %}", "Seconds"`, 1), changes},
		"for the poll":                {strings.Replace(inPass, `{"QueryExecutionId.$": "$.id"}`, `{"QueryExecutionId.$": "States.Format('{}-{}', $.id, $n)"}`, 1), polled},
		"in the poll and for it":      {strings.NewReplacer(`"Assign": {"n": 0}`, `"Assign": {"n": 1}`, `"Next": "Done?"`, `"TimeoutSecondsPath": "$n", "Next": "Done?"`).Replace(inPoll), ofItself},
		"in the poll and for a Wait":  {strings.Replace(pollInJSONata, `"Seconds": 30`, `"Seconds": "{% 30 + $n %}"`, 1), ofItself},
		"then anew for the next loop": {strings.Replace(inPoll, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Rest"},
			"Rest": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "End"}], "Default": "More"}, "More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Rest"},
			"End": {"Type": "Succeed"}`, 1), ""},
		"for the next loop, too": {strings.Replace(inPoll, `"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "End"}], "Default": "More"},
			"More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Good"}, "End": {"Type": "Succeed"}`, 1), ofItself},
		"before it in another loop": {strings.Replace(inPoll, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, `"Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Early"},
			"Early": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericGreaterThan": 3, "Next": "Anew"}], "Default": "More"}, "More": {"Type": "Pass", "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Early"},
			"Anew": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`, 1), ""},
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
			require.InDelta(t, 10*time.Minute, loops[0].MaxWait, float64(time.Minute))
			if !strings.Contains(c.text, `"More"`) {
				require.NotContains(t, after, `States.MathAdd($n`)
			}
			require.NotContains(t, after, `$n + 1`)
			require.Contains(t, after, `"Late"`)
		})
	}
}

// A loop that counts in its data becomes one that does not, where nothing else reads the count.
func TestLoopThatCountsInItsData(t *testing.T) {
	t.Parallel()
	const path = `{"StartAt": "Zero", "States": {
  "Zero": {"Type": "Pass", "Result": {"n": 0}, "ResultPath": "$.turns", "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}, {"Variable": "$.turns.n", "NumericGreaterThanEquals": 20, "Next": "Late"}], "Default": "Count"},
  "Count": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.turns.n, 1)"}, "ResultPath": "$.turns", "Next": "Wait"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	const expression = `{"QueryLanguage": "JSONata", "StartAt": "Zero", "States": {
  "Zero": {"Type": "Pass", "Output": "{% $merge([$states.input, {'turns': 0}]) %}", "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "{% $states.input.id %}"},
    "Output": "{% $merge([$states.input, {'q': $states.result}]) %}", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.q.QueryExecution.Status.State = 'SUCCEEDED' %}", "Next": "Good"},
    {"Condition": "{% $states.input.q.QueryExecution.Status.State = 'FAILED' %}", "Next": "Bad"}, {"Condition": "{% $states.input.turns >= 20 %}", "Next": "Late"}], "Default": "Count"},
  "Count": {"Type": "Pass", "Output": "{% $merge([$states.input, {'turns': $states.input.turns + 1}]) %}", "Next": "Wait"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	inMap := func(text string) string {
		return `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.jobs", "ItemProcessor": ` + text + `, "End": true}}}`
	}
	good := func(text, state string) string {
		return strings.Replace(text, `"Good": {"Type": "Succeed"}`, `"Good": `+state, 1)
	}
	down := strings.NewReplacer(`{"n": 0}`, `{"n": 20}`, `'turns': 0`, `'turns': 20`, `.turns.n, 1)`, `.turns.n, -1)`, `.turns + 1`, `.turns - 1`,
		`"NumericGreaterThanEquals": 20`, `"NumericLessThanEquals": 0`, `.turns >= 20`, `.turns <= 0`)
	two := func(to, from string) string { // the first state adds, and the second puts the sum back
		return strings.NewReplacer(`"Result": {"n": 0}`, `"Result": 0`, `$.turns.n", "Numeric`, `$.turns", "Numeric`,
			`{"n.$": "States.MathAdd($.turns.n, 1)"}, "ResultPath": "$.turns", "Next": "Wait"}`,
			`{"n.$": "States.MathAdd($.`+to+`, 1)"}, "ResultPath": "$.sum", "Next": "Put"}, "Put": {"Type": "Pass", `+from+`, "ResultPath": "$.turns", "Next": "Wait"}`).Replace(path)
	}
	begun := func(n string) string {
		return `{"Type": "Pass", "Parameters": {"id.$": "$.id", "turns": {"n": ` + n + `}}, "Next": "Wait"}`
	}
	count := func(fields string) string {
		return strings.Replace(path, `"Parameters": {"n.$": "States.MathAdd($.turns.n, 1)"}, "ResultPath": "$.turns"`, fields, 1)
	}
	const (
		reads     = `, and "Good" reads that: count in a variable or member that the loop alone reads`
		another   = `"Count" changes the data that the states behind the loop get`
		nothing   = `compares a count, and nothing before the loop sets that to a number: do so in a Pass`
		addsToAll = `"Parameters": {"n.$": "States.MathAdd($.turns.n, 1)"}, "ResultPath": "$.turns"`
		zero      = `"Zero": {"Type": "Pass", "Result": {"n": 0}, "ResultPath": "$.turns", "Next": "Wait"}`
		noZero    = `"Zero": {"Type": "Pass", "Result": {"n": 0}, "ResultPath": "$.other", "Next": "Wait"}`
	)
	for name, c := range map[string]struct{ text, refused string }{
		"in JSONPath":               {path, ""},
		"in JSONata":                {expression, ""},
		"in an object of JSONata":   {strings.Replace(expression, `"Output": "{% $merge([$states.input, {'turns': $states.input.turns + 1}]) %}"`, `"Output": {"id": "{% $states.input.id %}", "turns": "{% $states.input.turns + 1 %}"}`, 1), `drops any other: count by Assign, or by $merge of $states.input and the count alone`},
		"in a Map":                  {inMap(path), ""},
		"down, in JSONPath":         {down.Replace(path), ""},
		"down, in JSONata":          {down.Replace(expression), ""},
		"in two states":             {two("turns", `"InputPath": "$.sum.n"`), ""},
		"in two states, of another": {two("other", `"InputPath": "$.sum.n"`), `"Count" changes the data that the states behind the loop get`},
		"in two states, a list": {strings.Replace(path, `1)"}, "ResultPath": "$.turns", "Next": "Wait"}`, `1)"}, "ResultPath": "$.turns", "Next": "Pop"},
			"Pop": {"Type": "Pass", "InputPath": "$.queue[1:]", "ResultPath": "$.queue", "Next": "Wait"}`, 1), `"Pop" changes the data that the states behind the loop get`},
		"in two states, a text": {strings.Replace(path, `1)"}, "ResultPath": "$.turns", "Next": "Wait"}`, `1)"}, "ResultPath": "$.turns", "Next": "Note"},
			"Note": {"Type": "Pass", "Parameters": {"seen.$": "States.Format('{}', $.log.seen)"}, "ResultPath": "$.log", "Next": "Wait"}`, 1), `"Note" changes the data that the states behind the loop get`},
		"in two states, the status": {two("turns", `"InputPath": "$.q.QueryExecution"`), `"Count" changes the data that the states behind the loop get`},
		"then anew":                 {good(path, `{"Type": "Pass", "Result": {"n": 7}, "ResultPath": "$.turns", "End": true}`), ""},
		"for a state behind":        {good(path, `{"Type": "Pass", "Parameters": {"polls.$": "$.turns.n"}, "End": true}`), `"Count" counts in $.turns` + reads},
		"for a state with it whole": {good(path, `{"Type": "Pass", "Parameters": {"all.$": "$.turns"}, "End": true}`), `"Count" counts in $.turns` + reads},
		"for an expression behind":  {good(expression, `{"Type": "Pass", "Output": "{% $states.input.turns %}", "End": true}`), `"Count" counts in $.turns` + reads},
		"for a call with all data":  {good(path, `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload.$": "$"}, "End": true}`), "the call was Good with"},
		"for the poll":              {strings.Replace(path, `"$.id"}, "ResultPath": "$.q"`, `"States.Format('{}-{}', $.id, $.turns.n)"}, "ResultPath": "$.q"`, 1), `"Count" counts in $.turns, and "Look" reads that`},
		"beside other data":         {strings.Replace(path, `{"n.$": "States.MathAdd($.turns.n, 1)"}`, `{"n.$": "States.MathAdd($.other.n, 1)"}`, 1), another},
		"beside a variable": {
			good(count(addsToAll+`, "Assign": {"last.$": "$.turns.n"}`), `{"Type": "Pass", "Parameters": {"last.$": "$last"}, "End": true}`), `"Count" sets $last` + reads,
		},
		"beside another member behind": {
			good(path, `{"Type": "Pass", "Result": 1, "ResultPath": "$.other", "Next": "Tell"}, "Tell": {"Type": "Pass", "Parameters": {"polls.$": "$.turns.n"}, "End": true}`),
			`"Count" counts in $.turns, and "Tell" reads that`,
		},
		"then anew by a Task": {
			good(path, `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "ResultPath": "$.turns", "Next": "Tell"},
				"Tell": {"Type": "Pass", "Parameters": {"it.$": "$.turns"}, "End": true}`), "",
		},
		"in data that it drops": {
			count(addsToAll[:len(addsToAll)-len(`"$.turns"`)] + `null, "OutputPath": "$.q"`), another,
		},
		"begun by Parameters":      {strings.Replace(path, `"Result": {"n": 0}, "ResultPath": "$.turns"`, `"Parameters": {"id.$": "$.id", "turns": {"n": 0}}`, 1), ""},
		"begun by a Result":        {strings.Replace(path, `"Result": {"n": 0}, "ResultPath": "$.turns"`, `"Result": {"id": "q", "turns": {"n": 0}}`, 1), ""},
		"begun by an ItemSelector": {strings.Replace(inMap(strings.NewReplacer(`"StartAt": "Zero"`, `"StartAt": "Wait"`, zero+",", "").Replace(path)), `"ItemsPath": "$.jobs"`, `"ItemsPath": "$.jobs", "ItemSelector": {"id.$": "$$.Map.Item.Value", "turns": {"n": 0}}`, 1), ""},
		"begun by the input":       {strings.Replace(path, `"Result": {"n": 0}, "ResultPath": "$.turns"`, `"Parameters": {"id.$": "$.id", "turns": {"n.$": "$.n"}}`, 1), nothing},
		"begun in one of two members": {
			strings.NewReplacer(`"Result": {"n": 0}, "ResultPath": "$.turns"`, `"Parameters": {"id.$": "$.id", "turns": {"n.$": "$.n", "m": 0}}`,
				`{"n.$": "States.MathAdd($.turns.n, 1)"}`, `{"n.$": "States.MathAdd($.turns.n, 1)", "m.$": "States.MathAdd($.turns.m, 1)"}`).Replace(path), nothing,
		},
		"begun by two states":        {strings.NewReplacer(zero, `"Zero": {"Type": "Choice", "Choices": [{"Variable": "$.id", "IsPresent": true, "Next": "One"}], "Default": "Other"}, "One": `+begun("0")+`, "Other": `+begun("0")).Replace(path), ""},
		"begun by one of two states": {strings.NewReplacer(zero, `"Zero": {"Type": "Choice", "Choices": [{"Variable": "$.id", "IsPresent": true, "Next": "One"}], "Default": "Other"}, "One": `+begun("0")+`, "Other": `+begun(`"0"`)).Replace(path), nothing},
		"up to a member": {strings.NewReplacer(`"Result": {"n": 0}, "ResultPath": "$.turns"`, `"Parameters": {"id.$": "$.id", "most": 20, "turns": {"n": 0}}`,
			`"NumericGreaterThanEquals": 20`, `"NumericGreaterThanEqualsPath": "$.most"`).Replace(path), ""},
		"without adding":            {count(`"Result": {"n": 1}, "ResultPath": "$.turns"`), another},
		"of no kind, with any name": {good(count(`"Result": {"n": 1}`), `{"Type": "Pass", "Parameters": {"all.$": "$..State"}, "End": true}`), another},
		"with nothing before it":    {strings.Replace(path, zero, noZero, 1), nothing},
		"in data made anew":         {strings.Replace(path, `{"n.$": "States.MathAdd($.turns.n, 1)"}, "ResultPath": "$.turns"`, `{"id.$": "$.id", "turns": {"n.$": "States.MathAdd($.turns.n, 1)"}}`, 1), `"Count" makes the data anew from the members that it lists, and drops any other`},
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
			require.InDelta(t, 10*time.Minute, loops[0].MaxWait, float64(time.Minute))
			require.NotContains(t, after, `"Count"`)
			counts, uncounted := "$.turns: no state behind it reads it, and an output that has it keeps its value", []string{"turns"}
			if strings.Contains(c.text, "$.sum") {
				counts, uncounted = "$.sum and $.turns: no state behind it reads them, and an output that has them keeps the values", []string{"sum", "turns"}
			}
			require.Contains(t, strings.Join(loops[0].Notes, "\n"), "the new loop does not count in "+counts+" from before the loop")
			require.Equal(t, uncounted, loops[0].Uncounted)
		})
	}
	t.Run("beside one that no rule reads", func(t *testing.T) {
		t.Parallel()
		_, loops := apply(t, strings.Replace(path, `"ResultPath": "$.turns", "Next": "Wait"},
  "Good"`, `"ResultPath": "$.turns", "Next": "More"},
  "More": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.others.n, 1)"}, "ResultPath": "$.others", "Next": "Wait"},
  "Good"`, 1), fix.Options{Strategy: compile.Variables})
		require.Empty(t, loops[0].Refused)
		require.Equal(t, []string{"turns", "others"}, loops[0].Uncounted)
	})
}

// A loop stays whose number of polls the input says.
func TestLoopWithALimitFromTheInput(t *testing.T) {
	t.Parallel()
	const text = `{"StartAt": "Zero", "States": {
  "Zero": {"Type": "Pass", "Assign": {"n": 0, "most.$": "$.most"}, "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 30, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.q", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}, {LIMIT, "Next": "Late"}], "Default": "Wait"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`
	limit := func(rule string) string { return strings.Replace(text, "LIMIT", rule, 1) }
	const unknown = `the rule of "Done?" for "Late" compares a count with %s, and the definition does not show how many polls that lets the loop make`
	byPath := `"Variable": "$n", "NumericGreaterThanEqualsPath": "$.most"`
	for name, c := range map[string]struct{ text, with string }{
		"a member of the input":  {limit(byPath), "$.most"},
		"a variable":             {limit(`"Variable": "$n", "NumericGreaterThanEqualsPath": "$most"`), "$most"},
		"the other way round":    {limit(`"Variable": "$.most", "NumericLessThanEqualsPath": "$n"`), "$.most"},
		"inside of an And":       {limit(`"And": [{"Variable": "$.q.QueryExecution.Status.State", "IsString": true}, {` + byPath + `}]`), "$.most"},
		"in JSONata":             {strings.Replace(limit(`"Condition": "{% $n >= $most %}"`), `"Type": "Choice"`, `"Type": "Choice", "QueryLanguage": "JSONata"`, 1), "$most"},
		"with a time beside it":  {strings.Replace(limit(byPath), `{"StartAt"`, `{"TimeoutSeconds": 7200, "StartAt"`, 1), "$.most"},
		"a number":               {limit(`"Variable": "$n", "NumericGreaterThanEquals": 20`), ""},
		"a variable of a number": {strings.Replace(limit(`"Variable": "$n", "NumericGreaterThanEqualsPath": "$most"`), `"most.$": "$.most"`, `"most": 20`, 1), ""},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer(`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED"`, `"Condition": "{% $states.input.q.QueryExecution.Status.State = 'SUCCEEDED' %}"`,
				`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED"`, `"Condition": "{% $states.input.q.QueryExecution.Status.State = 'FAILED' %}"`)
			machine := c.text
			if strings.Contains(machine, "JSONata") {
				machine = text.Replace(machine)
			}
			_, loops := apply(t, machine, fix.Options{Strategy: compile.Variables})
			if c.with == "" {
				require.Empty(t, loops[0].Refused)
				return
			}
			require.Contains(t, loops[0].Refused, fmt.Sprintf(unknown, c.with))
		})
	}
	byNumber := limit(`"Variable": "$n", "NumericGreaterThanEquals": 20`)
	began := strings.Replace(byNumber, `{"n": 0, "most.$": "$.most"}`, `{"n.$": "$.begun"}`, 1)
	_, loops := apply(t, began, fix.Options{Strategy: compile.Variables})
	require.Contains(t, loops[0].Refused, `compares a count, and nothing before the loop sets that to a number: do so in a Pass`)
	other := strings.Replace(byNumber, `"States.MathAdd($n, 1)"}`, `"States.MathAdd($n, 1)", "last.$": "$$.State.EnteredTime"}`, 1)
	_, loops = apply(t, other, fix.Options{Strategy: compile.Variables})
	require.Empty(t, loops[0].Refused, "no rule reads the other variable")
}
