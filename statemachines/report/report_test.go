package report_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const describe = "arn:aws:states:::aws-sdk:dynamodb:describeExport"

// run runs a definition whose Tasks the handler answers.
func run(t *testing.T, definition, input string, h sim.Handler) (*asl.StateMachine, *sim.Result) {
	t.Helper()
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(input), sim.Options{Handlers: map[string]sim.Handler{describe: h}})
	require.NoError(t, err)
	return m, r
}

// page is the report of a run.
func page(t *testing.T, definition, input string, h sim.Handler) (string, *sim.Result) {
	t.Helper()
	m, r := run(t, definition, input, h)
	text, err := report.HTML(history.FromRun(m, r), report.Options{})
	require.NoError(t, err)
	return string(text), r
}

// loop polls an export every 10 seconds.
const loop = `{"Comment": "<b>polls</b>", "StartAt": "Wait", "States": {
	"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
	"Get": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "ResultPath": "$.s", "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 3}], "Next": "Done?"},
	"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Each"},
		{"Variable": "$.s.ExportDescription.ExportStatus", "StringEquals": "FAILED", "Next": "Bad"}], "Default": "Wait"},
	"Each": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "Copy", "States": {"Copy": {"Type": "Wait", "SecondsPath": "$", "End": true}}}, "End": true},
	"Bad": {"Type": "Fail", "Error": "Bad & worse", "Cause": "<script>alert(1)</script>"}}}`

// answers are statuses in turn, the last for good; "E" is a failed call. COMPLETED
// and FAILED come with the time of the end, two seconds after the last answer before.
func answers(statuses ...string) sim.Handler {
	n := 0
	var before time.Time
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		status := statuses[min(n, len(statuses)-1)]
		n++
		if status == "E" {
			return sim.Reply{}, &sim.TaskError{Name: "E", Cause: "slow down", Latency: time.Second}
		}
		export := map[string]any{"ExportStatus": status}
		if status == "IN_PROGRESS" {
			before = call.Time
		} else if !before.IsZero() {
			export["EndTime"] = before.Add(2 * time.Second).Format(time.RFC3339)
		}
		return sim.Reply{Output: map[string]any{"ExportDescription": export}, Latency: time.Second}, nil
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	text, r := page(t, loop, `{"items": [5, 7]}`, answers("IN_PROGRESS", "E", "COMPLETED"))
	require.Equal(t, sim.StatusSucceeded, r.Status)
	for _, fact := range []string{
		`<span class="status good">SUCCEEDED</span>`, "<b>33s</b><span>Duration</span>", fmt.Sprintf("<b>%d</b><span>Transitions</span>", r.Transitions),
		"<b>5 of 6</b><span>States visited</span>", "<b>6 of 7</b><span>Transitions taken</span>", "&lt;b&gt;polls&lt;/b&gt;",
		"Transitions not taken (1)", "<li>Done? → Bad (choice 2)</li>", "<b>3</b><span>Calls</span>", "<b>3</b><span>Polls</span>",
		">Get</a></td><td>Task</td><td class=\"n\">2</td><td class=\"n\">3</td><td class=\"n warn\">1</td><td class=\"n\">6s</td><td class=\"soft\">retried after 1 failed call: E</td>",
		"ended at &#43;12s (00:00:12), seen by poll 3, 14s late", "1 call failed", `<b>14s</b><span>Late</span>`,
		"<pre>{&#34;items&#34;:[5,7]}</pre>", "TaskFailed<td>″<td>describeExport · E · slow down",
		"1 failed call, retried", "polls dynamodb:DescribeExport",
	} {
		requireHas(t, text, fact)
	}
	require.NotRegexp(t, `(?:src|href)="https?:`, text, "nothing from elsewhere")
	require.Regexp(t, `default-src 'none'`, text)
	require.Empty(t, redBar.FindAllString(text, -1), "the call that failed was retried")
	require.Equal(t, 1, strings.Count(text, `<rect class="caught" x="`)-strings.Count(text, `<rect class="caught" x="1"`))
}

// The mark of each poll stands in the ribbon, with the form of its verdict.
func TestEachPollHasAMark(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		statuses []string
		marks    map[string]int
	}{
		{[]string{"IN_PROGRESS", "E", "IN_PROGRESS", "COMPLETED"}, map[string]int{"retry": 2, "failed": 1, "success": 1}},
		{[]string{"IN_PROGRESS", "FAILED"}, map[string]int{"retry": 1, "failure": 1}},
	} {
		text, _ := page(t, loop, `{"items": []}`, answers(c.statuses...))
		require.Equal(t, c.marks, countMarks(text))
		for _, m := range mark.FindAllStringSubmatch(text, -1) {
			require.Regexp(t, `<tr id=e`+m[1]+`><td>\d+<td>\d*<td>[\d.:]+<td>[\d.:]+<td>TaskScheduled<td>`, text, "a mark leads to the call")
		}
	}
}

// redBar is a bar of calls that failed.
var redBar = regexp.MustCompile(`class="failed" x="[\d.]+%"`)

// requireHas fails without printing the page.
func requireHas(t *testing.T, page, fact string) {
	t.Helper()
	require.Positive(t, strings.Count(page, fact), "the page lacks %s", fact)
}

// mark is the mark of a poll in a ribbon.
var mark = regexp.MustCompile(`<a href="#e(\d+)" tabindex="-1"><use href="#(\w+)" x="([\d.]+)%"`)

func countMarks(page string) map[string]int {
	counts := map[string]int{}
	for _, m := range mark.FindAllStringSubmatch(page, -1) {
		counts[m[2]]++
	}
	return counts
}

// A job that was cancelled is polled until the history is full: the ribbon has each
// of the 2,777 polls, the page says when the status changed, and no call is red, for
// none failed: only the state is at which the history was full.
func TestHTMLOfALoopThatPollsOn(t *testing.T) {
	t.Parallel()
	e := pollsOn(t)
	text, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	page := string(text)

	describes := 0
	for _, event := range e.Events {
		if event.Type == "TaskScheduled" && event.Resource == "getQueryExecution" {
			describes++
		}
	}
	require.Equal(t, 2777, describes)
	require.Equal(t, map[string]int{"retry": 143, "failure": 2634}, countMarks(page))
	for _, fact := range []string{
		"acted on at most 3h39m30s late: end seen at &#43;12m (00:12:00) by poll 144", "polled 2,633 times more after that, for 3h39m25s",
		"<b>CANCELLED</b></a> failure<td>144 to 2,777<td>&#43;12m (00:12:00)<td>", "CANCELLED +12m, at most 3h39m30s late", "<b>3h39m30s</b><span>Late at most</span>", "Started 2026-01-01 00:00:00 UTC, ended 2026-01-01 03:51:25 UTC",
		"143 times", "2,633 times", "every 5s",
		`<td>CANCELLED</td><td>Wait</td><td>failure, but polls on</td><td class="n">2,634</td><td class="warn">DANGER status-polls-on</td>`,
	} {
		requireHas(t, page, fact)
	}
	require.NotEmpty(t, redBar.FindAllString(page, -1), "the visit at which the history was full")
	require.Equal(t, 1, strings.Count(page, `class="ends bad"`))
	require.Zero(t, strings.Count(page, `class="n bad"`))
	require.Equal(t, 1, strings.Count(page, "class=bad>"), "the row of the event ExecutionFailed alone")
	require.Less(t, len(page), 5<<20)
	require.Equal(t, len(e.Events), strings.Count(page, "<tr id=e"), "no event is left out")
	require.Equal(t, 2776, strings.Count(turnsOf(page), "<tr><td>"), "nor a turn: the last, at which the history was full, stands alone")
}

// turnsOf are the tables of turns.
func turnsOf(page string) string {
	var b strings.Builder
	for _, table := range regexp.MustCompile(`(?s)<th>Turn</th>.*?</table>`).FindAllString(page, -1) {
		b.WriteString(table)
	}
	return b.String()
}

// pollsOn is the run of a loop whose query is cancelled, which it does not look at.
func pollsOn(t *testing.T) *history.Execution {
	t.Helper()
	m, err := asl.Parse([]byte(`{"StartAt": "Run", "States": {
		"Run": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "Next": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 5, "Next": "GetStatus"},
		"GetStatus": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.QueryExecutionId"},
			"ResultSelector": {"QueryExecutionId.$": "$.QueryExecution.QueryExecutionId", "State.$": "$.QueryExecution.Status.State"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.State", "StringEquals": "SUCCEEDED", "Next": "Report"},
			{"Variable": "$.State", "StringEquals": "FAILED", "Next": "Failed"}], "Default": "Wait"},
		"Report": {"Type": "Succeed"}, "Failed": {"Type": "Fail", "Error": "QueryFailed"}}}`))
	require.NoError(t, err)
	var started time.Time
	r, err := sim.Run(t.Context(), m, nil, sim.Options{Handlers: map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:athena:startQueryExecution": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			started = call.Time
			return sim.Reply{Output: map[string]any{"QueryExecutionId": "q-1"}}, nil
		},
		"arn:aws:states:::aws-sdk:athena:getQueryExecution": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			state := "RUNNING"
			if call.Time.Sub(started) >= 12*time.Minute {
				state = "CANCELLED"
			}
			return sim.Reply{Output: map[string]any{"QueryExecution": map[string]any{"QueryExecutionId": "q-1", "Status": map[string]any{"State": state}}}}, nil
		},
	}})
	require.NoError(t, err)
	return history.FromRun(m, r)
}

// A history of AWS makes the page that the run makes, without the definition too.
func TestHTMLOfAHistory(t *testing.T) {
	t.Parallel()
	m, r := run(t, loop, `{"items": [5]}`, answers("IN_PROGRESS", "E", "COMPLETED"))
	text, err := json.Marshal(map[string]any{"events": r.Events})
	require.NoError(t, err)
	e, err := history.Read(text)
	require.NoError(t, err)
	require.Equal(t, r.Transitions, e.Transitions)
	e.ARN, e.Title, e.Machine = r.ExecutionARN, "local", m
	own := history.FromRun(m, r)
	own.Title = "local"
	fromRun, err := report.HTML(own, report.Options{})
	require.NoError(t, err)
	fromText, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, string(fromRun), string(fromText))

	e.Machine = nil
	bare, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"retry": 1, "failed": 1, "success": 1}, countMarks(string(bare)))
	require.Zero(t, strings.Count(string(bare), "State machine</h2>"))
	requireHas(t, string(bare), ">Copy</td>")
}

// The bar of a Task that was called again has one bar for each call in it, at
// its time.
func TestTimelineOfARetry(t *testing.T) {
	t.Parallel()
	text, _ := page(t, `{"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"},
		"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 8}], "End": true}}}`, `{}`, answers("E", "COMPLETED"))
	requireHas(t, text, `<rect class="b between" x="0%" y="4" width="100%" height="14"><title>+0s (00:00:00), 10s, retried after 1 failed call: E</title></rect>`+
		`<rect class="b d5" x="90%" y="4" width="10%" height="14"/>`+
		`<rect class="caught" x="0%" y="8" width="10%" height="6"><title>call failed at +1s (00:00:01), E</title></rect>`)
}

// The states and polls of the child executions of a distributed Map are in the page.
// Their events are not, so nothing leads to another event instead.
func TestHTMLOfADistributedMap(t *testing.T) {
	t.Parallel()
	text, r := page(t, `{"StartAt": "Before", "States": {"Before": {"Type": "Pass", "Next": "Each"}, "Each": {"Type": "Map", "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"}, "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Again?"},
			"Again?": {"Type": "Choice", "Choices": [{"Variable": "$$.State.EnteredTime", "StringGreaterThan": "2026-01-01T00:00:10", "Next": "Done"}], "Default": "Get"},
			"Done": {"Type": "Pass", "End": true}}}, "End": true}}}`,
		`[1, 2, 3]`, answers("IN_PROGRESS"))
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	requireHas(t, text, `Get</a></td><td>Task</td><td class="n">6</td><td class="n">6</td>`)
	requireHas(t, text, "<b>6 of 6</b><span>States visited</span>")
	require.Empty(t, countMarks(text), "no mark of a poll has a link")
	require.Equal(t, 6, strings.Count(text, `<use href="#retry" x=`), "but there are marks")
	requireHas(t, text, "<td><b>IN_PROGRESS</b><td>1 to 2")
}

// What fails and is caught is amber, and says which Catch took it.
func TestHTMLOfACaughtError(t *testing.T) {
	t.Parallel()
	text, r := page(t, `{"StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": "`+describe+`", "Parameters": {"ExportArn": "e"},
		"Catch": [{"ErrorEquals": ["E"], "Next": "Done"}], "Next": "Done"}, "Done": {"Type": "Pass", "End": true}}}`, `{}`, answers("E"))
	require.Equal(t, sim.StatusSucceeded, r.Status)
	requireHas(t, text, `<b data-s="s1">Get</b> <span class="soft">1s</span> <span class="warn">caught by the Catch to Done: E</span>`)
	requireHas(t, text, `<span class="warn">Error</span><pre>E: slow down</pre>`)
	requireHas(t, text, "<li>Get → Done</li>")
}

func TestHTMLOfAFailure(t *testing.T) {
	t.Parallel()
	text, r := page(t, loop, `{}`, answers("FAILED"))
	require.Equal(t, sim.StatusFailed, r.Status)
	requireHas(t, text, `<p class="ends bad" data-s="s6"><a href="#s6"><b>Bad</b></a> failed: Bad &amp; worse `)
	require.Zero(t, strings.Count(text, "<script>alert"))
	requireHas(t, text, `class="status bad"`)
}

// A run that takes no time has a page too.
func TestHTMLOfAnInstant(t *testing.T) {
	t.Parallel()
	text, _ := page(t, `{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}`, `{}`, nil)
	requireHas(t, text, "<b>0s</b><span>Duration</span>")
	require.Zero(t, strings.Count(text, "NaN"))
}

// The page's own script is the one that its policy lets run, and the parts of the page
// that are about one state are linked.
func TestPageLinksByState(t *testing.T) {
	t.Parallel()
	text, _ := page(t, loop, `{"items": []}`, answers("IN_PROGRESS", "COMPLETED"))
	_, rest, found := strings.Cut(text, "<script>")
	require.True(t, found)
	own, _, _ := strings.Cut(rest, "</script>")
	hash := sha256.Sum256([]byte(own))
	requireHas(t, text, "script-src 'sha256-"+base64.StdEncoding.EncodeToString(hash[:])+"'")

	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="?([\w-]+)`).FindAllStringSubmatch(text, -1) {
		require.False(t, ids[m[1]], "the id %s stands twice", m[1])
		ids[m[1]] = true
	}
	links := regexp.MustCompile(`href="?#([\w-]+)`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, links)
	for _, m := range links {
		require.True(t, ids[m[1]], "a link leads to %s, which is nowhere", m[1])
	}
	for _, part := range []string{`<a id="node-s2" href="#s2" data-s="s2"`, `<tr id="s2" data-s="s2"`, `<div class="row" data-s="s2"`, `<div class="row head" data-s="s2"`, `<b data-s="s2">Get</b>`} {
		requireHas(t, text, part)
	}
}
