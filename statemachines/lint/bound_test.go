package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// What ends a loop is recognised, and what does not is not.
func TestBounds(t *testing.T) {
	t.Parallel()
	const (
		poll     = `"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "ResultPath": "$.run"` + retried + `, "Next": "Choose"}`
		function = `"Poll": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}` + retried + `, "Next": "Choose"}`
		running  = `{"Variable": "$.run.S", "StringEquals": "RUNNING", "Next": "Wait"}`
		tooMany  = `{"Variable": "$.n", "NumericGreaterThan": 60, "Next": "Failed"}`
		adds     = `"Count": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)"}, "Next": "Wait"}`
	)
	wait := func(more string) string { return `"Wait": {"Type": "Wait", "Seconds": 30` + more + `, "Next": "Poll"}` }
	choose := func(byDefault string, rules ...string) string {
		return fmt.Sprintf(`"Choose": {"Type": "Choice", "Choices": [%s], "Default": %q}`, strings.Join(rules, ", "), byDefault)
	}
	counting := wait(`, "Assign": {"n.$": "States.MathAdd($n, 1)"}`)
	start := `"Start": {"Type": "Pass", "Assign": {"n": 0, "until": "2030-01-01T00:00:00Z"}, "Next": "Wait"}`
	tests := []struct {
		name, start string
		states      []string
		endless     string // the loop that nothing ends
		unretried   bool
	}{
		{
			name:   "a count in a Pass state",
			states: []string{wait(""), poll, choose("Done", tooMany, strings.Replace(running, "Wait", "Count", 1)), adds},
		},
		{
			name:   "a count that is tested where the loop goes on",
			states: []string{wait(""), poll, choose("Done", `{"And": [`+strings.Replace(running, `, "Next": "Wait"`, "", 1)+`, {"Variable": "$.n", "NumericLessThan": 60}], "Next": "Count"}`), adds},
		},
		{
			name:    "a count that only one of two reasons to go on looks at",
			states:  []string{wait(""), poll, choose("Done", `{"Or": [`+strings.Replace(running, `, "Next": "Wait"`, "", 1)+`, {"Variable": "$.n", "NumericLessThan": 60}], "Next": "Count"}`), adds},
			endless: "Wait -> Poll -> Choose -> Count -> Wait",
		},
		{
			name:    "a count that is tested after the loop has gone on",
			start:   "Start",
			states:  []string{start, counting, poll, choose("Done", running, strings.Replace(tooMany, "$.n", "$n", 1))},
			endless: "Wait -> Poll -> Choose -> Wait",
		},
		{
			name:    "a count of something else",
			start:   "Start",
			states:  []string{start, counting, poll, choose("Done", strings.Replace(tooMany, "$.n", "$.run.Failed", 1), running)},
			endless: "Wait -> Poll -> Choose -> Wait",
		},
		{
			name:   "a count under another name",
			states: []string{wait(""), poll, choose("Done", tooMany, strings.Replace(running, "Wait", "Count", 1)), strings.Replace(adds, `"n.$"`, `"next.$"`, 1)},
		},
		{
			name:   "a list that grows",
			states: []string{wait(""), poll, choose("Done", strings.Replace(tooMany, "$.n", "$.tries.n", 1), strings.Replace(running, "Wait", "Count", 1)), `"Count": {"Type": "Pass", "Parameters": {"n.$": "States.ArrayLength(States.Array($.n, 1))"}, "Next": "Wait"}`},
		},
		{
			name:    "a count that does not leave the loop",
			start:   "Start",
			states:  []string{start, counting, poll, choose("Wait", `{"Variable": "$n", "NumericGreaterThan": 60, "Next": "Slow"}`, `{"Variable": "$.run.S", "StringEquals": "DONE", "Next": "Done"}`), `"Slow": {"Type": "Wait", "Seconds": 300, "Next": "Poll"}`},
			endless: "Wait -> Poll -> Choose -> Wait",
		},
		{
			name:   "a time",
			start:  "Start",
			states: []string{start, wait(""), poll, choose("Done", `{"Variable": "$$.State.EnteredTime", "TimestampGreaterThanPath": "$until", "Next": "Failed"}`, running)},
		},
		{
			name:    "an error that goes on without a count",
			start:   "Start",
			states:  []string{start, counting, strings.Replace(poll, `"Next"`, `"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Wait"}], "Next"`, 1), choose("Done", strings.Replace(tooMany, "$.n", "$n", 1), running)},
			endless: "Wait -> Poll -> Wait",
		},
		{
			name:    "an inner loop that the count of the outer one does not see",
			start:   "Start",
			states:  []string{start, counting, poll, choose("Done", `{"Variable": "$.run.S", "StringEquals": "AGAIN", "Next": "Again"}`, `{"Variable": "$.run.S", "StringEquals": "RUNNING", "Next": "Inner"}`), `"Inner": {"Type": "Wait", "Seconds": 30, "Next": "Poll"}`, `"Again": {"Type": "Choice", "Choices": [{"Variable": "$n", "NumericLessThan": 3, "Next": "Wait"}], "Default": "Failed"}`},
			endless: "Inner -> Poll -> Choose -> Inner",
		},
		{
			name:  "a count of errors",
			start: "Start",
			states: []string{
				start, wait(""),
				`"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "Catch": [{"ErrorEquals": ["States.ALL"], "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Tries"}], "Next": "Done"}`,
				`"Tries": {"Type": "Choice", "Choices": [` + strings.Replace(tooMany, "$.n", "$n", 1) + `], "Default": "Wait"}`,
			},
			unretried: true,
		},
		{
			name:   "a function that may count",
			states: []string{wait(""), function, choose("Done", `{"Variable": "$.Payload.attempt", "NumericEquals": 60, "Next": "Failed"}`, running)},
		},
		{
			name:   "a function that says whether to go on",
			states: []string{wait(""), function, choose("Done", `{"Variable": "$.Payload.continue", "BooleanEquals": true, "Next": "Wait"}`)},
		},
		{
			name:    "a function that says whether the job is done",
			states:  []string{wait(""), function, choose("Wait", `{"Variable": "$.Payload.done", "BooleanEquals": true, "Next": "Done"}`)},
			endless: "Wait -> Poll -> Choose -> Wait",
		},
		{
			name:    "the code of an answer",
			states:  []string{wait(""), function, choose("Wait", `{"Variable": "$.Payload.statusCode", "NumericEquals": 200, "Next": "Done"}`)},
			endless: "Wait -> Poll -> Choose -> Wait",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.start == "" {
				tt.start = "Wait"
			}
			var endless []string
			off := []string{lint.LoopingDefault}
			if tt.unretried {
				off = append(off, lint.UnretriedTask)
			}
			for _, f := range check(t, states(fmt.Sprintf(`"StartAt": %q,`, tt.start), tt.states...), lint.Options{Off: off}) {
				require.Equal(t, lint.UnboundedLoop, f.Rule, f.Message)
				_, rest, _ := strings.Cut(f.Message, "the loop ")
				path, _, _ := strings.Cut(rest, ": a job")
				endless = append(endless, path)
			}
			require.Equal(t, tt.endless, strings.Join(endless, ", "))
		})
	}
}

func TestBoundsInJSONata(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, assign, condition, want string }{
		{"a count", `"n": "{% $n + 1 %}"`, "$n >= 60", ""},
		{"a count that the history has no room for", `"n": "{% $n + 1 %}"`, "$n >= 3000", lint.EventBudget},
		{"a count by ten", `"n": "{% $n + 10 %}"`, "$n >= 3000", ""},
		{"a count of seconds", `"n": "{% $n + 1 %}"`, "30 * $n >= 3600", ""},
		{"a count with a default", `"n": "{% ($exists($n) ? $n : 0) + 1 %}"`, "$n = 60", ""},
		{"a count in an object of the output", `"n": "{% {'n': $n.n, 'left': $n.left - 1} %}"`, "$n.left < 1", ""},
		{"a list of sums", `"n": ["{% $n[0] + 1 %}"]`, "$n[0] > 60", ""},
		{"a count down", `"n": "{% $n - 1 %}"`, "$n < 1", ""},
		{"a list that grows", `"n": "{% $append($n, 1) %}"`, "$count($n) > 60", ""},
		{"a count in an object", `"n": "{% {'tries': $n.tries + 1} %}"`, "$n.tries > 60", ""},
		{"the clock", `"n": 1`, "$toMillis($states.context.Execution.StartTime) + 60000 < $millis()", ""},
		{"a count of something else", `"n": "{% $n + 1 %}"`, "$count($states.input.Failed) > 60", lint.UnboundedLoop},
		{"a number in a text", `"n": "{% $n + 1 %}"`, "$states.input.Status = 'n > 60'", lint.UnboundedLoop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := states(
				`"QueryLanguage": "JSONata", "StartAt": "Start",`,
				`"Start": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`,
				`"Wait": {"Type": "Wait", "Seconds": 30, "Assign": {`+tt.assign+`}, "Next": "Poll"}`,
				`"Poll": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Arguments": {}`+retried+`, "Next": "Choose"}`,
				`"Choose": {"Type": "Choice", "Choices": [{"Condition": "{% `+tt.condition+` %}", "Next": "Failed"}, {"Condition": "{% $states.input.Status = 'RUNNING' %}", "Next": "Wait"}], "Default": "Done"}`,
			)
			want := map[string]int{}
			if tt.want != "" {
				want[tt.want] = 1
			}
			require.Equal(t, want, rules(check(t, text, lint.Options{})))
		})
	}
}

// The first of several bounds counts.
func TestEarliestBound(t *testing.T) {
	t.Parallel()
	const early, late = `{"Variable": "$n", "NumericGreaterThan": 60, "Next": "Failed"}`, `{"Variable": "$n", "NumericGreaterThan": 3000, "Next": "Failed"}`
	tests := []struct {
		name, head, rules string
		want              []string
	}{
		{"late", "", late, []string{"event-budget /States/Wait"}},
		{"late and early", "", late + ", " + early, []string{}},
		{"early and late", "", early + ", " + late, []string{}},
		{"late and a time", "", late + `, {"Variable": "$$.State.EnteredTime", "TimestampGreaterThanPath": "$$.Execution.Input.until", "Next": "Failed"}`, []string{}},
		{"late and a time limit", `"TimeoutSeconds": 3600, `, late, []string{}},
		{"late and a late time limit", `"TimeoutSeconds": 100000, `, late, []string{"event-budget /States/Wait"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := states(
				tt.head+`"StartAt": "Start",`,
				`"Start": {"Type": "Pass", "Assign": {"n": 0}, "Next": "Wait"}`,
				`"Wait": {"Type": "Wait", "Seconds": 30, "Assign": {"n.$": "States.MathAdd($n, 1)"}, "Next": "Poll"}`, describe(retried),
				`"Choose": {"Type": "Choice", "Choices": [`+tt.rules+`, {"Variable": "$.S", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Done"}`,
			)
			require.Equal(t, tt.want, named(check(t, text, lint.Options{})))
		})
	}
}
