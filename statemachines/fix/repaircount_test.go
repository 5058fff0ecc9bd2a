package fix_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A count that some turns do not add to may be meant as the bound: only the user knows whether to mend it, or to add
// another one.
func TestBoundBesideABrokenCount(t *testing.T) {
	t.Parallel()
	const path = `{"StartAt": "Zero", "States": {
  "Zero": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"},
  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"},
    "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "ResultPath": "$.q", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"}, {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Bad"},
    {"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Bad"},
    {"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "RUNNING", "Assign": {"seen": true}, "Next": "Wait"}], "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Default": "Wait"},
  "Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail", "Error": "E"}}}`
	expression := `{"QueryLanguage": "JSONata", ` + strings.NewReplacer(`"n.$": "States.MathAdd($n, 1)"`, `"n": "{% $n + 1 %}"`,
		`"Parameters": {"QueryExecutionId.$": "$.id"}`, `"Arguments": {"QueryExecutionId": "q"}`, `, "ResultPath": "$.q"`, "",
		`"Variable": "$n", "NumericGreaterThanEquals": 20`, `"Condition": "{% $n >= 20 %}"`, `"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "SUCCEEDED"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'SUCCEEDED' %}"`,
		`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "FAILED"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'FAILED' %}"`,
		`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "CANCELLED"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'CANCELLED' %}"`,
		`"Variable": "$.q.QueryExecution.Status.State", "StringEquals": "RUNNING"`, `"Condition": "{% $states.input.QueryExecution.Status.State = 'RUNNING' %}"`).Replace(path[1:])
	const advice = `"Done?" compares $n, and that does not bound the loop: if it is meant to, mend it instead`
	for name, c := range map[string]struct {
		text    string
		maxWait time.Duration
		class   fix.Class
	}{
		"in a Choice":             {path, 0, fix.Offered},
		"in a Choice, in JSONata": {expression, 0, fix.Offered},
		"by its Default": {strings.NewReplacer(`{"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Bad"},`, "", `"Next": "Wait"}], "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Default": "Wait"`,
			`"Next": "Wait"}, {"Variable": "$n", "NumericLessThan": 20, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Wait"}], "Default": "Bad"`).Replace(path), 0, fix.Offered},
		"and the user gives a time": {path, time.Hour, fix.Sure},
		"that no rule leaves by":    {strings.Replace(path, `"NumericGreaterThanEquals": 20, "Next": "Bad"`, `"NumericGreaterThanEquals": 20, "Next": "Wait"`, 1), 0, fix.Sure},
		"that nothing compares":     {strings.Replace(path, `{"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Bad"},`, "", 1), 0, fix.Sure},
		"that no rule leaves by, without a Default": {strings.NewReplacer(`"NumericGreaterThanEquals": 20, "Next": "Bad"`, `"NumericGreaterThanEquals": 20, "Next": "Wait"`,
			`"Assign": {"seen": true}, "Next": "Wait"}], "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Default": "Wait"`,
			`"Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Wait"}]`).Replace(path), 0, fix.Sure},
		"that a Choice behind the loop compares": {strings.NewReplacer(`{"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Bad"},`, "",
			`"Good": {"Type": "Succeed"}`, `"Good": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericLessThan": 3, "Next": "Soon"}], "Default": "Late"},
  "Soon": {"Type": "Succeed"}, "Late": {"Type": "Succeed"}`).Replace(path), 0, fix.Sure},
		"that a rule hands on by Assign": {strings.NewReplacer(`{"Variable": "$n", "NumericGreaterThanEquals": 20, "Next": "Bad"},`, "",
			`"StringEquals": "FAILED", "Next"`, `"StringEquals": "FAILED", "Assign": {"last.$": "$n"}, "Next"`).Replace(path), 0, fix.Sure},
		"that a rule hands on by Output": {strings.NewReplacer(`{"Condition": "{% $n >= 20 %}", "Next": "Bad"},`, "",
			`'FAILED' %}", "Next"`, `'FAILED' %}", "Output": "{% {'last': $n} %}", "Next"`).Replace(expression), 0, fix.Sure},
		"of another name": {strings.Replace(path, `"Variable": "$n"`, `"Variable": "$number"`, 1), 0, ""},
	} {
		r := repairOf(t, strings.Replace(c.text, `{"n": 0}`, `{"n": 0, "number": 0}`, 1), lint.UnboundedLoop, c.maxWait)
		if c.class != "" {
			require.Equal(t, c.class, r.Class, "%s: %s", name, r.Reason)
		}
		if c.class == fix.Offered {
			require.Contains(t, r.About, advice, name)
		} else {
			require.NotContains(t, r.About, advice, name)
		}
	}
}
