package report_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// lineWith is the line of a text that has a word.
func lineWith(t *testing.T, text, word string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return strings.TrimSuffix(line, "\n")
		}
	}
	require.Fail(t, "no line has "+word, text)
	return ""
}

// namedLoop polls an export from states with long names in wide characters.
func namedLoop() string {
	const wait = `"待機: wait before the export is described once more"`
	return strings.NewReplacer(`"Type": "Wait"`, `"Type": "Wait"`, `"Wait"`, wait, `"Get"`, `"取得: describe the export of the table of orders"`,
		`"Done?"`, `"Has the export of the table of orders ended, and how?"`).Replace(loop)
}

// What matters of each line comes before names that may be long, and no line is wider
// than the terminal.
func TestTextFitsTheWidth(t *testing.T) {
	t.Parallel()
	m, r := run(t, namedLoop(), `{"items": []}`, answers("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", "E", "COMPLETED"))
	require.Equal(t, sim.StatusSucceeded, r.Status)
	e := history.FromRun(m, r)
	e.Title = strings.Repeat("報告", 50)
	for _, columns := range []int{20, 40, 80, 200} {
		for line := range strings.Lines(report.Text(e, report.TextOptions{Columns: columns})) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), columns, line)
		}
	}
	text := report.Text(e, report.TextOptions{})
	require.True(t, strings.HasPrefix(text, "SUCCEEDED after 48s  報告報告"), text)
	require.Equal(t, "  +0s          00:00:00  3 times, every 11s  IN_PROGRESS  待機: wait before the…", lineWith(t, text, "3 times"))
	require.Equal(t, "  +43s         00:00:43  取得: describe …  5s  COMPLETED  1 failed call, retried", lineWith(t, text, "1 failed call"))
	require.Equal(t, "  3 IN_PROGRESS -> 待機: wait before the export is described once m…  running", lineWith(t, text, "3 IN_PRO"))
	require.Equal(t, "  E                        call failed  1 call               +43s", lineWith(t, text, "1 call "))
}

// A long status or error gives way to when it was seen.
func TestTextOfALongError(t *testing.T) {
	t.Parallel()
	const long = "DynamoDb.ProvisionedThroughputExceededForTheWholeAccountException"
	m, r := run(t, strings.ReplaceAll(loop, `["E"]`, `["States.ALL"]`), `{"items": []}`, func() sim.Handler {
		n := 0
		return func(context.Context, sim.Call) (sim.Reply, error) {
			if n++; n < 3 {
				return sim.Reply{}, &sim.TaskError{Name: long}
			}
			return sim.Reply{Output: map[string]any{"ExportDescription": map[string]any{"ExportStatus": "COMPLETED"}}}, nil
		}
	}())
	require.Equal(t, sim.StatusSucceeded, r.Status)
	line := lineWith(t, report.Text(history.FromRun(m, r), report.TextOptions{}), "call failed")
	require.Equal(t, "  DynamoDb.ProvisionedThroughputExceededFor…  call failed  2 calls  +10s to +13s", line)
}

// The findings of a loop are not cut off by the names of many statuses.
func TestTextOfALoopWithManyStatuses(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "ResultPath": "$.s", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "End"}], "Default": "Wait"},
		"End": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	text := report.Text(&history.Execution{Machine: m}, report.TextOptions{})
	require.Regexp(t, `  STOPPED, FAILED, TIMEOUT, ERROR, EXPIRED -> Wait  failure, but polls on\n +DANGER status-polls-on\n`, text)
}

// A history of one event has nothing to tell of states.
func TestTextOfOneEvent(t *testing.T) {
	t.Parallel()
	e, err := history.Read([]byte(`{"events": [{"id": 1, "type": "ExecutionStarted", "timestamp": "2026-01-01T00:00:00Z"}]}`))
	require.NoError(t, err)
	require.Equal(t, `RUNNING, 0s after its start  Execution
  started       2026-01-01 00:00:00 UTC
  cost          0 transitions, $0.0000 in us-east-1
  events        1 of 25,000
  calls         0
`, report.Text(e, report.TextOptions{}))
}

// An execution without events, such as one that has just been started, has a report.
func TestNoEvents(t *testing.T) {
	t.Parallel()
	e := &history.Execution{Title: "new", Status: history.StatusRunning, Start: time.Unix(0, 0), Stop: time.Unix(0, 0)}
	require.Contains(t, report.Text(e, report.TextOptions{}), "RUNNING, 0s after its start  new\n")
	page, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	requireHas(t, string(page), fmt.Sprintf("<b>%d</b><span>Events</span>", 0))
}

// What is painted is the status or the sign, and nothing else changes.
func TestTextIsPainted(t *testing.T) {
	t.Parallel()
	m, r := run(t, loop, `{"items": []}`, answers("IN_PROGRESS", "E", "FAILED"))
	plain := report.Text(history.FromRun(m, r), report.TextOptions{})
	var words []string
	painted := report.Text(history.FromRun(m, r), report.TextOptions{Paint: func(word, text string) string {
		words = append(words, word+" "+text)
		return "«" + text + "»"
	}})
	require.Equal(t, plain, strings.NewReplacer("«", "", "»", "").Replace(painted))
	require.Equal(t, []string{"FAILED FAILED", "retry IN_PROGRESS", "failure FAILED", "call failed E", "retry .", "call failed x", "failure F"}, words)
}
