package report_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// oddHistory is the text of a history of few events whose members are what no service
// says together: dates far apart, IDs of other events, types without their details.
func oddHistory(r *rand.Rand) string {
	pick := func(from ...any) any { return from[r.IntN(len(from))] }
	number := func() any { return pick(0, 1, 2, -1, r.IntN(40), int64(math.MaxInt64), int64(math.MinInt64), 1<<31) }
	text := func() any {
		return pick("A", "B", "Get", "", `</style><script>alert(1)</script>"'&`+"\n\x1b[31m\u202e\x00", strings.Repeat("x", 5000), "{}", "null", "[1,2",
			`{"QueryExecution":{"Status":{"State":"RUNNING"}}}`, `{"QueryExecution":{"Status":{"State":"FAILED","SubmissionDateTime":1e300}}}`,
			`{"QueryExecutionId":"q"}`, `{"maxWaitSeconds":1e300}`, `"9999-12-31T23:59:59Z"`, "99999999999999",
			"arn:aws:lambda:us-east-1:1:function:jobpoller-checkstatus", `{"status":"RUNNING","startedAt":"0001-01-02T00:00:00Z"}`)
	}
	at := func() any {
		return pick("2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", 1767225600+r.IntN(1000), 1767225600+r.IntN(1000), 0, -1e11, 253402300799)
	}
	kinds := []string{
		"ExecutionStarted", "ExecutionFailed", "ExecutionRedriven", "MapIterationStarted", "MapIterationFailed", "MapRunFailed", "EvaluationFailed",
		"TaskScheduled", "TaskStarted", "TaskSucceeded", "TaskFailed", "TaskTimedOut", "LambdaFunctionScheduled", "LambdaFunctionSucceeded", "StateEntered", "odd",
		`"><script>alert(1)</script>StateEntered`,
	}
	for _, state := range []string{"Task", "Map", "Parallel", "Wait"} {
		for _, what := range []string{"Entered", "Exited", "Started", "Failed", "Aborted", "Succeeded"} {
			kinds = append(kinds, state+"State"+what)
		}
	}
	events := make([]map[string]any, 1+r.IntN(40))
	for i := range events {
		details := map[string]any{}
		for _, member := range []string{"name", "input", "output", "parameters", "resource", "resourceType", "region", "error", "cause", "location"} {
			if r.IntN(2) == 0 {
				details[member] = text()
			}
		}
		if r.IntN(2) == 0 {
			details["resourceType"], details["resource"] = "aws-sdk:athena", pick("getQueryExecution", "startQueryExecution")
		}
		if r.IntN(3) == 0 {
			details["index"], details["length"] = number(), number()
			details["assignedVariables"] = map[string]any{"getDeadline": text()}
		}
		events[i] = map[string]any{"id": i + 1, "previousEventId": i, "timestamp": at(), "type": kinds[r.IntN(len(kinds))], "anyEventDetails": details}
		if r.IntN(5) == 0 {
			events[i]["id"], events[i]["previousEventId"] = pick(i+1, i+1000, -i-1, math.MaxInt64-i, math.MinInt64+i), number()
		}
	}
	body, _ := json.Marshal(map[string]any{"events": events})
	if r.IntN(3) == 0 {
		described, _ := json.Marshal(map[string]any{"executionArn": text(), "status": text(), "startDate": at(), "stopDate": at(), "error": text(), "cause": text()})
		body = append(body, described...)
	}
	return string(body)
}

// A report of whatever a file says ends, holds all events and is nothing but text.
func TestOddHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 0))
		body := oddHistory(r)
		e, err := history.Read([]byte(body))
		if err != nil {
			require.ErrorIs(t, err, history.ErrNoHistory, body)
			continue
		}
		page, err := report.HTML(e, report.Options{})
		require.NoError(t, err)
		require.Equal(t, len(e.Events), strings.Count(string(page), "<tr id=e"), body)
		require.Equal(t, 1, strings.Count(string(page), "<script"), body)
		text, picture := report.Text(e, report.TextOptions{}), draw(t, e)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), 80, "%s\n%s", line, body)
		}
		for _, wrong := range []string{"NaN", "Inf", "%!", "--", "\x1b", "\u202e", "\x00"} {
			require.NotContains(t, text, wrong, "seed %d", seed)
		}
		for _, wrong := range []string{"NaN", "+Inf", "%!", "ZgotmplZ"} {
			require.NotContains(t, string(page), wrong, "seed %d", seed)
			require.NotContains(t, picture, wrong, "seed %d", seed)
		}
	}
}
