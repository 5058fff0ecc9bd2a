package fix_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// inLoop is a loop around one state, which judges a status.
const inLoop = `{"StartAt": "Look", "States": {"Look": STATE,
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.r.State", "StringEquals": "AVAILABLE", "Next": "Good"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"}, "Good": {"Type": "Succeed"}}}`

// A loop that is none to replace has the reason that is so.
func TestUntaken(t *testing.T) {
	t.Parallel()
	const poll = `{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.r", "End": true}`
	around := func(more string) string {
		return `{"Type": "Parallel", "Branches": [{"StartAt": "Ask", "States": {"Ask": ` + poll + `}}], ` + more + `}`
	}
	task := func(resource, parameters string) string {
		return strings.Replace(inLoop, "STATE", `{"Type": "Task", "Resource": "`+resource+`", "Parameters": `+parameters+`, "ResultPath": "$.r", "Next": "Done?"}`, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a function that nobody asks": {
			strings.Replace(task("arn:aws:states:::lambda:invoke", `{"FunctionName": "f"}`), `"ResultPath": "$.r"`, `"ResultPath": "$.told"`, 1),
			`"Look" asks lambda:Invoke f, and lint cannot follow where the values of its answer lead`,
		},
		"a function that answers by its task token": {
			task("arn:aws:states:::lambda:invoke.waitForTaskToken", `{"FunctionName": "f", "Payload": {"token.$": "$$.Task.Token"}}`),
			`"Look" gets its answer when somebody sends its task token`,
		},
		"a function that answers JSON in a text": {
			strings.NewReplacer(`"ResultPath": "$.r"`, `"ResultSelector": {"is.$": "States.StringToJson($.Payload.body)"}, "ResultPath": "$.r"`, "$.r.State", "$.r.is.State",
				`"Next": "Good"}], "Default": "Pause"`, `"Next": "Good"}, {"Variable": "$.n", "NumericLessThan": 3, "Next": "Pause"}], "Default": "Good"`).Replace(task("arn:aws:states:::lambda:invoke", `{"FunctionName": "f"}`)),
			`the machine reads a text in the answer of "Look" as JSON`,
		},
		"a function whose answer decides nothing": {
			strings.NewReplacer(`"Variable": "$.r.State", "StringEquals": "AVAILABLE"`, `"Variable": "$.n", "NumericGreaterThan": 3`, `"Seconds": 30, "Next": "Look"`, `"Seconds": 30, "Next": "Count"`,
				`"Good": {`, `"Count": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "Look"}, "Good": {`).Replace(task("arn:aws:states:::lambda:invoke", `{"FunctionName": "f"}`)),
			`fix cannot follow what "Look" returns to a Choice of the loop that compares it`,
		},
		"a Parallel in a loop": {strings.Replace(inLoop, "STATE", around(`"ResultPath": "$.r", "Next": "Done?"`), 1), `inside of "Look", and lint follows no status out of there`},
		"the Retry of a Parallel": {
			`{"StartAt": "Both", "States": {"Both": ` + around(`"Retry": [{"ErrorEquals": ["NotYet"], "MaxAttempts": 1000}], "End": true`) + `}}`,
			`the retries of "Both" make the polls of "Ask"`,
		},
		"the Retry of a Parallel by its own error": {
			`{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "Retry": [{"ErrorEquals": ["NotYet"], "MaxAttempts": 1000}], "End": true, "Branches": [{"StartAt": "Ask", "States": {
				"Ask": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId": "q"}, "Next": "Done?"},
				"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"}], "Default": "Not yet"},
				"Good": {"Type": "Succeed"}, "Not yet": {"Type": "Fail", "Error": "NotYet"}}}]}}}`,
			`the Retry of "Both" runs all of it again`,
		},
		"no loop": {`{"StartAt": "Good", "States": {"Good": {"Type": "Succeed"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(c.text))
			require.NoError(t, err)
			reasons := fix.Untaken(m, fix.Options{})
			if c.want == "" {
				require.Empty(t, reasons)
				return
			}
			require.Len(t, reasons, 1)
			require.Contains(t, reasons[0], c.want)
		})
	}
}

// A machine that takes one job after another until its time is over does not only fail.
func TestLoopOfOneJobAfterAnother(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(`"StartAt"`, `"TimeoutSeconds": 3600, "StartAt"`, `"Report":  {"Type": "Succeed"}`,
		`"Report": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "next"}, "ResultSelector": {"id.$": "$.Payload.id"}, "Next": "Wait"}`,
	).Replace(machine("", "", "", ""))
	require.Empty(t, loopsOf(t, text)[0].Refused)
}
