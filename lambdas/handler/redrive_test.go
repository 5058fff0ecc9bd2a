package handler_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const raising = `{"job": "test:Job", "maxWaitSeconds": 1800, "endAs": "error"}`

// A redrive repeats the state that failed, under the execution's ARN: with
// endAs error that is CheckStatus, and it has the whole wait again.
func TestRedriveAfterTimeout(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, raising)
	w.advance(30 * time.Minute)
	_, err := w.CheckStatus(t.Context(), json.RawMessage(bare(raising)))
	requireError(t, err, handler.ErrorTimedOut, "not finished after 30m0s (max wait 30m0s)")
	_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(raising)))
	requireError(t, err, handler.ErrorTimedOut, "30m0s")
	require.Equal(t, 1, w.service.describes, "without a redrive the end is replayed")

	w.advance(13 * 24 * time.Hour)
	again := redriven(bare(raising), 1, w.clock.Now())
	w.store.take()
	result := w.checkStatus(t, again)
	require.EqualValues(t, "RUNNING", result.Status)
	require.Zero(t, result.ElapsedSeconds)
	require.Positive(t, result.WaitSeconds)
	require.Equal(t, "Load Replace", w.store.take(), "the record lives on")
	w.checkStatus(t, again)
	require.Equal(t, "Load", w.store.take(), "no further write while the job runs")
	require.EqualValues(t, "RUNNING", w.runJob(t, again).Status, "RunJob too finds that the wait goes on")

	w.advance(30 * time.Minute)
	_, err = w.CheckStatus(t.Context(), json.RawMessage(again))
	requireError(t, err, handler.ErrorTimedOut, "not finished after 30m0s (max wait 30m0s)")
	rec := w.record(t, key)
	require.Equal(t, 1, rec.RedriveCount)
	require.Equal(t, w.clock.Now().Add(handler.DefaultRetention), rec.ExpiresAt, "the record outlives the next redrive")
	_, err = w.CheckStatus(t.Context(), json.RawMessage(again))
	requireError(t, err, handler.ErrorTimedOut)

	w.advance(time.Hour)
	w.service.says(map[string]any{"State": "DONE"}, nil)
	require.EqualValues(t, "SUCCEEDED", w.checkStatus(t, redriven(bare(raising), 2, w.clock.Now())).Status)
	require.Equal(t, 1, w.service.count(), "one job for all of them")
}

// What is known for certain is replayed however often the execution is redriven.
func TestRedriveAfterAnEnd(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{"DONE": "SUCCEEDED", "BROKEN": "FAILED"} {
		w := startedWorld(t, request)
		w.service.says(map[string]any{"State": state}, nil)
		first := w.checkStatus(t, bare(request))
		require.EqualValues(t, want, first.Status)
		w.advance(time.Hour)
		again := redriven(bare(request), 1, w.clock.Now())
		require.Equal(t, jsonOf(t, first), jsonOf(t, w.checkStatus(t, again)))
		require.Equal(t, jsonOf(t, first), jsonOf(t, w.runJob(t, again)))
		require.Equal(t, 1, w.service.describes)
	}
}

// A start that was denied may be tried again, an uncertain one may not.
func TestRedriveOfRunJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "none")
	_, _, err := invoke(deciding(t.Context(), fates(map[string]fate{"Start": refused})), w.RunJob, bare(request))
	requireError(t, err, handler.ErrorFailed, "was refused")
	w.advance(24 * time.Hour)
	again := redriven(bare(request), 1, w.clock.Now())
	require.Zero(t, w.runJob(t, again).ElapsedSeconds)
	require.Equal(t, 1, w.service.count())
	require.Equal(t, 1, w.record(t, key).RedriveCount)
	require.EqualValues(t, "RUNNING", w.checkStatus(t, again).Status)

	w = newWorld(t, "none")
	_, _, err = invoke(deciding(t.Context(), fates(map[string]fate{"Start": lostAfter})), w.RunJob, bare(request))
	requireError(t, err, unknown)
	_, err = w.RunJob(t.Context(), json.RawMessage(redriven(bare(request), 1, w.clock.Now())))
	requireError(t, err, unknown)
	require.Equal(t, 1, w.service.count())
	require.Equal(t, startrecord.StatusUnknown, w.record(t, key).Status)
}

// Without its time a redriven wait would seem to be over.
func TestRedriveNeedsItsTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ execution, want string }{
		{`"RedriveCount": 1`, `Execution needs the member "RedriveTime"`},
		{`"RedriveCount": 1, "RedriveTime": "soon"`, "expected an RFC 3339 time"},
	} {
		_, err := handler.ParseEvent([]byte(`{"Execution": {"Id": "` + arn + `", "StartTime": "2026-11-20T09:30:13.5Z", ` + tt.execution + `}}`))
		require.ErrorContains(t, err, tt.want)
	}
}
