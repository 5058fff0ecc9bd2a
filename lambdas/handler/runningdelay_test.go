package handler_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

const byDelay = `{"job": "test:Job", "maxWaitSeconds": 1800, "schedule": {"delays": [60, 5, 5, 600, 20], "then": 100}, "onRunning": "delay"}`

// The error of a running job names the delay of the schedule. A Retry block counts calls
// that were made again after a fault, which takes no delay from the schedule.
func TestRunningErrorNamesTheDelay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		elapsed time.Duration
		retries int
		want    string
	}{
		{"first", time.Minute, 0, "JobPoller.Running.5"},
		{"late first", 90 * time.Second, 0, "JobPoller.Running.5"},
		{"third", 70 * time.Second, 2, "JobPoller.Running.600"},
		{"slow calls", 75 * time.Second, 2, "JobPoller.Running.600"},
		{"second after a fault", 67 * time.Second, 2, "JobPoller.Running.5"},
		{"second after many faults", 67 * time.Second, 9, "JobPoller.Running.5"},
		{"fourth", 670 * time.Second, 3, "JobPoller.Running.20"},
		{"later", 700 * time.Second, 4, "JobPoller.Running.100"},
		{"the deadline is within the delay", 1775 * time.Second, 16, "JobPoller.Running.100"},
		{"a shorter delay reaches the deadline", 1790 * time.Second, 16, "JobPoller.Running.20"},
		{"the shortest delay reaches the deadline", 1796 * time.Second, 16, "JobPoller.Running.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := startedWorld(t, byDelay)
			w.advance(tt.elapsed)
			payload := strings.Replace(call(`, "Input": {"attempt": 0}`), `"RetryCount": 2`, fmt.Sprintf(`"RetryCount": %d`, tt.retries), 1)
			_, err := w.CheckStatus(t.Context(), json.RawMessage(payload))
			_, delay, _ := strings.Cut(tt.want, "Running.")
			requireError(t, err, tt.want, `State = "RUNNING"; next poll in `+delay+" s, if a retrier names this error")
			w.service.says(map[string]any{"State": "DONE"}, nil)
			require.Equal(t, tt.retries+1, w.checkStatus(t, payload).Attempt)
		})
	}
}

// Behind a redrive the time begins anew, and the retries do.
func TestRunningErrorAfterARedrive(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, byDelay)
	w.advance(time.Hour)
	again := w.clock.Now()
	payload := func(retries int) json.RawMessage {
		execution := fmt.Sprintf(`"StartTime": "2026-11-20T09:30:13.5Z", "RedriveCount": 1, "RedriveTime": %q`, again.Format(time.RFC3339Nano))
		text := strings.Replace(call(""), `"StartTime": "2026-11-20T09:30:13.5Z"`, execution, 1)
		return json.RawMessage(strings.Replace(text, `"RetryCount": 2`, fmt.Sprintf(`"RetryCount": %d`, retries), 1))
	}
	faults := 0 // of the second call, which is made again
	for call, want := range []int{5, 5, 600, 20, 100, 100} {
		_, err := w.CheckStatus(t.Context(), payload(call+faults))
		requireError(t, err, fmt.Sprintf("JobPoller.Running.%d", want))
		w.advance(time.Duration(want) * time.Second)
		if call == 0 {
			faults = 1
			w.advance(time.Second)
		}
	}
}

// A redrive that starts the job begins with the first delay, as a start without one does:
// whether there was a record of the start that failed, or none.
func TestRunningErrorAfterARedriveThatStartsTheJob(t *testing.T) {
	t.Parallel()
	for operation, failed := range map[string]fate{"Create": diesBefore, "Start": refused} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "token")
			_, _, _ = invoke(deciding(t.Context(), fates(map[string]fate{operation: failed})), w.RunJob, bare(byDelay))
			require.Zero(t, w.service.count())
			w.advance(time.Hour)
			again := w.clock.Now()
			w.advance(time.Second)
			w.runJob(t, redriven(bare(byDelay), 1, again))
			w.advance(66 * time.Second)
			// One of the three calls was made again after a fault.
			context := strings.Replace(redriven(bare(byDelay), 1, again), `"RetryCount": 3`, `"RetryCount": 2`, 1)
			_, err := w.CheckStatus(t.Context(), json.RawMessage(`{"Context": `+context+`}`))
			requireError(t, err, "JobPoller.Running.5")
		})
	}
}

// Where the wait does not begin anew, for the redrive is before the start by the function's
// clock, neither do the calls.
func TestRunningErrorAfterARedriveBeforeTheStart(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, byDelay)
	again := w.clock.Now().Add(-time.Second)
	w.advance(67 * time.Second)
	context := strings.Replace(redriven(bare(byDelay), 1, again), `"RetryCount": 3`, `"RetryCount": 2`, 1)
	_, err := w.CheckStatus(t.Context(), json.RawMessage(`{"Context": `+context+`}`))
	requireError(t, err, "JobPoller.Running.5")
}

// To be running is not a warning, although it is an error.
func TestLogRunningErrorWithADelay(t *testing.T) {
	t.Parallel()
	w, log := loggedWorld(t, slog.LevelInfo)
	w.runJob(t, bare(byDelay))
	log.Reset()
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(request)))
	requireError(t, err, "JobPoller.Running.5")
	require.Equal(t, []map[string]any{{
		"level": "INFO", "msg": "check-status", "execution": arn, "poller": "default", "scope": "",
		"job": "test:Job", "id": "job-1", "status": "RUNNING", "elapsedSeconds": 0.0,
	}}, records(t, log))
}

// A person may have changed the record: the function says so, and does not stop.
func TestRecordWithoutTheScheduleOfItsErrors(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, byDelay)
	stored, err := w.store.Store.Load(t.Context(), key)
	require.NoError(t, err)
	stored.Record.Request = json.RawMessage(strings.Replace(string(stored.Record.Request), `"schedule"`, `"former"`, 1))
	require.Contains(t, string(stored.Record.Request), `"former"`)
	_, err = w.store.Replace(t.Context(), key, stored.Record, stored.Version)
	require.NoError(t, err)
	_, err = w.CheckStatus(t.Context(), json.RawMessage(call("")))
	requireError(t, err, handler.ErrorConfiguration, `onRunning "delay" and no schedule`)
}
