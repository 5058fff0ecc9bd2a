package report_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// eventOfEnd is the event that the head of the page links.
var eventOfEnd = regexp.MustCompile(`<p class="ends [^>]+>.*href="#e(\d+)"`)

// The head named a failed item without its number and the container of a caught
// failure instead of the state inside, and it linked the event of a state that was
// stopped beside. It names the innermost state and its place, and links its failure.
func TestHeadNamesTheInnermostFailure(t *testing.T) {
	t.Parallel()
	const task = `{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "End": true}`
	const both = `"Type": "Parallel", "Branches": [{"StartAt": "Slow", "States": {"Slow": ` + task + `}}, {"StartAt": "Break", "States": {"Break": ` + task + `}}]`
	const broken = `"Break": {"fail": {"error": "Broken"}, "after": 3}}`
	const beside = `{"Slow": {"return": {}, "after": 60}, ` + broken
	const pick = `"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Pick", "States": {"Pick": {"Type": "Choice",
		"Choices": [{"Variable": "$", "NumericLessThan": 3, "Next": "Fine"}]}, "Fine": {"Type": "Pass", "End": true}}}`
	for name, c := range map[string]struct{ definition, input, mocks, want, event string }{
		"a call that failed after retries": {
			`{"StartAt": "Break", "States": {"Break": {"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}], ` + task[1:] + `}}`,
			`{}`, `{` + broken, "Break failed after 3 calls: Broken", "TaskFailed",
		},
		"a failed branch": {`{"StartAt": "Both", "States": {"Both": {` + both + `, "End": true}}}`, `{}`, beside, "Break (branch 1 of Both) failed: Broken", "TaskFailed"},
		"a caught branch": {
			`{"StartAt": "Both", "States": {"Both": {` + both + `, "End": true, "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Bad"}]}, "Bad": {"Type": "Fail", "Error": "E"}}}`,
			`{}`, beside, "Break (branch 1 of Both) caught by the Catch of Both to Bad: Broken", "FailStateEntered",
		},
		"a failed branch beside a nested Parallel": {
			`{"StartAt": "Outer", "States": {"Outer": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Inner", "States": {"Inner": {"Type": "Parallel", "End": true,
				"Branches": [{"StartAt": "Slow", "States": {"Slow": ` + task + `}}]}}}, {"StartAt": "Break", "States": {"Break": ` + task + `}}]}}}`,
			`{}`, beside, "Break (branch 1 of Outer) failed: Broken", "TaskFailed",
		},
		"a failed item": {`{"StartAt": "Each", "States": {"Each": {` + pick + `}}}`, `[1, 2, 5, 1]`, `{}`, "Pick (index 2 of Each) failed: States.Runtime", "MapIterationFailed"},
		"a failed call of an item": {
			`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 1, "End": true, "ItemProcessor": {"StartAt": "Break", "States": {"Break": ` + task + `}}}}}`,
			`{"items": [1]}`, `{` + broken, "Break (index 0 of Each) failed: Broken", "TaskFailed",
		},
		"a failed item of an inner Map": {
			`{"StartAt": "Outer", "States": {"Outer": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Each", "States": {"Each": {` + pick + `}}}}}}`,
			`[[1], [1, 9]]`, `{}`, "Pick (index 1 of Each, index 1 of Outer) failed: States.Runtime", "MapIterationFailed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(c.definition))
			require.NoError(t, err)
			answers, err := mock.Read([]byte(c.mocks))
			require.NoError(t, err)
			o := sim.Options{Clock: sim.NewVirtualClock(sim.DefaultStart())}
			require.NoError(t, answers.Apply(m, "", &o))
			r, err := sim.Run(t.Context(), m, []byte(c.input), o)
			require.NoError(t, err)
			e, err := history.Read(sim.AppendHistory(nil, r.Events, sim.EventFormat{}))
			require.NoError(t, err)
			require.Contains(t, report.Text(e, report.TextOptions{Columns: 200}), "\n  at            "+c.want+"\n")
			html, err := report.HTML(e, report.Options{})
			require.NoError(t, err)
			id, err := strconv.Atoi(string(eventOfEnd.FindSubmatch(html)[1]))
			require.NoError(t, err)
			require.Equal(t, c.event, e.Events[id-1].Type)
		})
	}
}

// The cause of a nested execution was the JSON text of its description. The head says
// in words which execution failed and why, through each nesting; other causes stay.
func TestCauseOfANestedExecution(t *testing.T) {
	t.Parallel()
	describe := func(name, errorName, cause string) string {
		text, err := json.Marshal(map[string]any{"ExecutionArn": "arn:" + name, "Status": "FAILED", "Error": errorName, "Cause": cause, "Input": "{}"})
		require.NoError(t, err)
		return string(text)
	}
	for cause, want := range map[string]string{
		describe("outer", "QueryFailed", "no table"):                                         "nested execution arn:outer FAILED: QueryFailed: no table",
		describe("outer", "States.TaskFailed", describe("inner", "QueryFailed", "no table")): "nested execution arn:outer FAILED: States.TaskFailed: nested execution arn:inner FAILED: QueryFailed: no table",
		`{"ExecutionArn": "arn:outer", "Status": "ABORTED"}`:                                 "nested execution arn:outer ABORTED",
	} {
		require.Equal(t, want, report.ExplainCause(cause))
	}
	for _, plain := range []string{`{"errorMessage": "x"}`, "plain", ""} {
		require.Equal(t, plain, report.ExplainCause(plain))
	}
	text := fmt.Sprintf(`{"events": [{"id": 1, "type": "ExecutionFailed", "timestamp": 1, "executionFailedEventDetails": {"error": "States.TaskFailed", "cause": %q}}]}`, describe("inner", "E", "why"))
	e, err := history.Read([]byte(text))
	require.NoError(t, err)
	require.Contains(t, report.Text(e, report.TextOptions{Columns: 200}), "\n  cause         nested execution arn:inner FAILED: E: why\n")
	require.Contains(t, e.Cause, `"ExecutionArn"`, "the full text stays")
}
