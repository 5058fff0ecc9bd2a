package tests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const lambdaInvoke = "arn:aws:states:::lambda:invoke"

const exportJob = "dynamodb:ExportTableToPointInTime"

// documentedInput is the input of a definition in docs/reference/shipped.md.
func documentedInput(t *testing.T, name string) map[string]any {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/shipped.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## "+name+"\n")
	require.True(t, ok)
	_, block, ok := strings.Cut(section, "```json\n")
	require.True(t, ok)
	text, _, _ := strings.Cut(block, "```")
	var input map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &input))
	return input
}

// runShipped runs a definition with the two Lambda functions behind it, on an
// export that takes a time and then has the status.
func runShipped(
	t *testing.T, name string, input map[string]any, lasts time.Duration, ends string, around ...func(sim.Handler) sim.Handler,
) (*sim.Result, *export) {
	t.Helper()
	definition, err := statemachines.Definition(name)
	require.NoError(t, err)
	machine, err := asl.Parse(definition)
	require.NoError(t, err)
	entry, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	e := &export{waiter: entry.Waiter, clock: sim.NewVirtualClock(sim.DefaultStart()), lasts: lasts, job: exportJob, ends: ends}
	text, err := json.Marshal(input)
	require.NoError(t, err)
	handlers := e.handlers(t)
	for _, wrap := range around {
		handlers[lambdaInvoke] = wrap(handlers[lambdaInvoke])
	}
	r, err := sim.Run(t.Context(), machine, text, sim.Options{Clock: e.clock, Handlers: handlers})
	require.NoError(t, err)
	return r, e
}

// The definitions with the two Lambda functions run to each end, with the
// functions that are deployed and the input of the documentation.
func TestShippedLambdaDefinitionsRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		last time.Duration // the last check is made until then
		late string        // what a time-out says
	}{
		{"lambda-loop", 2*time.Hour + time.Second, "not finished after 2h0m0s (max wait 2h0m0s): ExportDescription.ExportStatus == \"IN_PROGRESS\" (acceptor 3 of 3)"},
		{"lambda-loop-count", time.Hour, "not finished after 60 polls, 60 s apart: ExportDescription.ExportStatus == \"IN_PROGRESS\" (acceptor 3 of 3)"},
		{"lambda-retry", 2*time.Hour + 2*time.Minute, "not finished after 2h"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			input := documentedInput(t, tt.name)

			r, e := runShipped(t, tt.name, input, 10*time.Minute, "COMPLETED")
			require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
			require.LessOrEqual(t, r.Duration(), 12*time.Minute)
			var result struct {
				Status  string         `json:"status"`
				Reason  string         `json:"reason"`
				Output  map[string]any `json:"output"`
				Attempt int            `json:"attempt"`
			}
			require.NoError(t, json.Unmarshal(r.Output, &result))
			require.Equal(t, "SUCCEEDED", result.Status)
			require.Contains(t, result.Reason, `ExportDescription.ExportStatus == "COMPLETED"`)
			require.Equal(t, map[string]any{"ExportArn": "arn:export", "ExportStatus": "COMPLETED"}, result.Output["ExportDescription"])
			if tt.name != "lambda-loop" { // whose event has no place for it
				require.Equal(t, e.calls, result.Attempt)
			}

			r, _ = runShipped(t, tt.name, input, 10*time.Minute, "FAILED")
			require.Equal(t, "JobPoller.Failed", r.Error)
			require.Contains(t, strings.ReplaceAll(r.Cause, `\"`, `"`), `ExportDescription.ExportStatus == "FAILED"`)

			r, _ = runShipped(t, tt.name, input, 24*time.Hour, "COMPLETED")
			require.Equal(t, "JobPoller.TimedOut", r.Error)
			require.Contains(t, strings.ReplaceAll(r.Cause, `\"`, `"`), tt.late)
			require.LessOrEqual(t, r.Duration(), tt.last)
			require.Greater(t, r.Duration(), tt.last-5*time.Minute)
		})
	}
}

// The wait count decides, as the definition's first author says of it: a count of
// 10 with a wait of 6 seconds is a minute. A job that has ended by the last check
// has not timed out.
func TestShippedWaitCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		limits  map[string]any
		lasts   time.Duration
		calls   int
		elapsed time.Duration
		error   string
		cause   string
	}{
		{"ends before the first check", map[string]any{"maxWaitCount": 10, "waitSeconds": 6}, 0, 1, 6 * time.Second, "", ""},
		{"ends by the last check", map[string]any{"maxWaitCount": 10, "waitSeconds": 6}, time.Minute, 10, time.Minute, "", ""},
		{"ends after it", map[string]any{"maxWaitCount": 10, "waitSeconds": 6}, time.Minute + 1, 10, time.Minute, "JobPoller.TimedOut", "not finished after 10 polls, 6 s apart: ExportDescription.ExportStatus == "},
		{"once", map[string]any{"maxWaitCount": 1, "waitSeconds": 6}, time.Minute, 1, 6 * time.Second, "JobPoller.TimedOut", "not finished after 1 poll, 6 s apart: ExportDescription.ExportStatus == "},
		{"no check before the initial delay", map[string]any{"maxWaitCount": 10, "waitSeconds": 6, "initialDelay": 900}, 0, 1, 906 * time.Second, "", ""},
		{"as many as fit into the history", map[string]any{"maxWaitCount": 2600, "waitSeconds": 1}, 24 * time.Hour, 2600, 2600 * time.Second, "JobPoller.TimedOut", "not finished after 2600 polls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			input := map[string]any{"job": exportJob}
			maps.Copy(input, tt.limits)
			r, e := runShipped(t, "lambda-loop-count", input, tt.lasts, "COMPLETED")
			require.Equal(t, tt.error, r.Error, r.Cause)
			require.Contains(t, r.Cause, tt.cause)
			require.Equal(t, tt.calls, e.calls)
			require.Equal(t, tt.elapsed, r.Duration())
			require.Less(t, len(r.Events), compile.DefaultEvents)
		})
	}
}

// The deadline of the start record does not pass before the count does, however
// often the functions have to be called again.
func TestShippedWaitCountOutlastsFaults(t *testing.T) {
	t.Parallel()
	const retries = 6
	calls := 0
	stuck := func(next sim.Handler) sim.Handler {
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if calls++; calls%(retries+1) != 0 {
				return sim.Reply{}, &sim.TaskError{Name: "States.Timeout", Latency: time.Minute}
			}
			return next(ctx, call)
		}
	}
	input := map[string]any{"job": exportJob, "maxWaitCount": 10, "waitSeconds": 6}
	r, e := runShipped(t, "lambda-loop-count", input, 24*time.Hour, "COMPLETED", stuck)
	require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
	require.Contains(t, r.Cause, "not finished after 10 polls, 6 s apart: ")
	require.Equal(t, 10, e.calls)
	require.Equal(t, (10+1)*(retries+1), calls)
	require.Greater(t, r.Duration(), 11*retries*time.Minute)
}

// Limits that are none are refused before the job has started.
func TestShippedWaitCountLimits(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{
		`"maxWaitCount": 0`, `"maxWaitCount": 2601`, `"maxWaitCount": 1.5`, `"maxWaitCount": "10"`, `"maxWaitCount": null`,
		`"waitSeconds": 0`, `"waitSeconds": 0.5`, `"waitSeconds": "6"`, `"maxWaitSeconds": 60`, `"onTimeout": "stop"`,
	} {
		var input map[string]any
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"job": %q, %s}`, exportJob, limit), &input))
		r, e := runShipped(t, "lambda-loop-count", input, 0, "COMPLETED")
		require.Equal(t, "JobPoller.InvalidRequest", r.Error, limit)
		require.Contains(t, r.Cause, "maxWaitCount must be a whole number from 1 to 2600", limit)
		require.Zero(t, e.calls)
		require.Zero(t, r.Calls["RunJob"], limit)
	}
}
