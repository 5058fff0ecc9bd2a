package report_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const describe = "arn:aws:states:::aws-sdk:dynamodb:describeExport"

// page runs a definition whose Tasks the handler answers, and reports it.
func page(t *testing.T, definition, input string, h sim.Handler) (string, *sim.Result) {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(input), sim.Options{Handlers: map[string]sim.Handler{describe: h}, MaxEvents: -1})
	require.NoError(t, err)
	text, err := report.HTML(m, r)
	require.NoError(t, err)
	return string(text), r
}

const loop = `{"Comment": "<b>polls</b>", "StartAt": "Wait", "States": {
	"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
	"Get": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.s", "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 3}], "Next": "Done?"},
	"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "DONE", "Next": "Each"}, {"Variable": "$.s", "StringEquals": "BAD", "Next": "Bad"}], "Default": "Wait"},
	"Each": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "Copy", "States": {"Copy": {"Type": "Wait", "SecondsPath": "$", "End": true}}}, "End": true},
	"Bad": {"Type": "Fail", "Error": "Bad & worse", "Cause": "<script>alert(1)</script>"}}}`

// answers are statuses in turn; "E" is a failure.
func answers(statuses ...string) sim.Handler {
	n := 0
	return func(context.Context, sim.Call) (sim.Reply, error) {
		status := statuses[min(n, len(statuses)-1)]
		n++
		if status == "E" {
			return sim.Reply{}, &sim.TaskError{Name: "E", Cause: "slow down", Latency: time.Second}
		}
		return sim.Reply{Output: status, Latency: time.Second}, nil
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	text, r := page(t, loop, `{"items": [5, 7]}`, answers("RUNNING", "E", "DONE"))
	require.Equal(t, sim.StatusSucceeded, r.Status)
	for _, fact := range []string{
		"SUCCEEDED", "<b>33s</b><span>Duration</span>", fmt.Sprintf("<b>%d</b><span>Transitions</span>", r.Transitions),
		"<b>5 of 6</b><span>States visited</span>", "<b>6 of 7</b><span>Transitions taken</span>", "&lt;b&gt;polls&lt;/b&gt;",
		"Transitions not taken (1)", "<li>Done? → Bad (choice 2)</li>",
		`<td>Get</td><td>Task</td><td class="n">2</td><td class="n">3</td><td class="n">1</td><td class="n">6s</td>`,
		`<td>` + "\u2003" + `Copy</td><td>Wait</td><td class="n">2</td><td class="n"></td><td class="n"></td><td class="n">12s</td>`,
		`<td>Bad</td><td>Fail</td><td class="n">0</td>`, `<td>TaskFailed</td><td>Get</td><td>describeExport · E · slow down</td>`, "<pre>{&#34;items&#34;:[5,7]}</pre>",
		`<b>Get</b> <span class="soft">5s</span> <span class="soft">1 failed call before</span>`,
	} {
		require.Contains(t, text, fact)
	}
	require.Equal(t, 2, strings.Count(text, `<svg`)-strings.Count(text, `aria-hidden`), "the picture and the timeline")
	require.NotContains(t, text, `<span class="bad">failed</span>`, "it succeeded when called again")
	require.NotRegexp(t, `(?:src|href)="https?:`, text, "nothing from elsewhere")
	require.Regexp(t, `default-src 'none'`, text)
}

// The bar of a Task that was called again has one bar for each call in it, at
// its time.
func TestTimelineOfARetry(t *testing.T) {
	t.Parallel()
	text, _ := page(t, `{"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"},
		"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 8}], "End": true}}}`, `{}`, answers("E", "DONE"))
	require.Contains(t, text, `<title>Get: +0s to +10s (10s), 1 failed</title>`+
		`<rect class="bar between" x="220.0" y="5" width="860.0" height="14" rx="2"/>`+
		`<rect class="bar task failed" x="220.0" y="5" width="86.0" height="14" rx="1"/>`+
		`<rect class="bar task" x="994.0" y="5" width="86.0" height="14" rx="1"/>`)
}

// The states of the child executions of a distributed Map are in the page.
func TestHTMLOfADistributedMap(t *testing.T) {
	t.Parallel()
	text, _ := page(t, `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "End": true}}}, "End": true}}}`,
		`[1, 2, 3]`, answers("DONE"))
	require.Contains(t, text, `Get</td><td>Task</td><td class="n">3</td><td class="n">3</td>`)
	require.Contains(t, text, "<b>2 of 2</b><span>States visited</span>")
}

// What fails and is caught stays a failure of its state.
func TestHTMLOfACaughtError(t *testing.T) {
	t.Parallel()
	text, r := page(t, `{"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"},
		"Catch": [{"ErrorEquals": ["E"], "Next": "Done"}], "Next": "Done"}, "Done": {"Type": "Pass", "End": true}}}`, `{}`, answers("E"))
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.Contains(t, text, `<b>Get</b> <span class="soft">1s</span> <span class="bad">failed</span>`)
	require.Contains(t, text, `<pre class="bad">E: slow down</pre>`)
	require.Contains(t, text, "<li>Get → Done</li>")
}

func TestHTMLOfAFailure(t *testing.T) {
	t.Parallel()
	text, r := page(t, loop, `{}`, answers("BAD"))
	require.Equal(t, sim.StatusFailed, r.Status)
	require.Contains(t, text, "<b>Bad &amp; worse</b>")
	require.NotContains(t, text, "<script>alert", "what a run says cannot run")
	require.Contains(t, text, `class="status bad"`)
}

// A day of polling makes a page that is still small, and says what it leaves
// out.
func TestHTMLOfALongRun(t *testing.T) {
	t.Parallel()
	n := 0
	text, r := page(t, loop, `{"items": [], "big": "`+strings.Repeat("x", 10_000)+`"}`, func(context.Context, sim.Call) (sim.Reply, error) {
		if n++; n == 5_000 {
			return sim.Reply{Output: "DONE"}, nil
		}
		return sim.Reply{Output: "RUNNING"}, nil
	})
	require.Equal(t, sim.StatusSucceeded, r.Status)
	require.Less(t, len(text), 3<<20)
	require.Contains(t, text, "14801 visits are left out here")
	require.Contains(t, text, fmt.Sprintf("%d events are left out here", len(r.Events)-400))
	require.Regexp(t, `… \(10\d+ bytes in all\)`, text)
	require.Less(t, len(regexp.MustCompile(`class="bar`).FindAllString(text, -1)), 2_000)
}

// A run that takes no time has a page too.
func TestHTMLOfAnInstant(t *testing.T) {
	t.Parallel()
	text, _ := page(t, `{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}`, `{}`, nil)
	require.Contains(t, text, "<b>0s</b><span>Duration</span>")
	require.NotContains(t, text, "NaN")
}
