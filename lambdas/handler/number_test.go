package handler_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Python and many other languages write 60.0 where they mean 60.
func TestWholeNumbersInAnySpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	started := w.runJob(t, call(`, "Scope": 7.0, "Input": {
		"job": "test:Job", "maxWaitSeconds": 1.8e3, "minDelay": 6e1, "maxDelay": 90.0, "initialDelay": 30.0, "dwellSeconds": 0.0
	}`))
	require.Equal(t, 30, started.WaitSeconds)
	sevenths := startrecord.Key{ExecutionARN: arn, Poller: "default", Scope: "7"}
	require.Contains(t, string(w.record(t, sevenths).Request), `"maxWaitSeconds":1800`)
	result := w.checkStatus(t, call(`, "Scope": 70e-1, "Input": {"attempt": 6.0}`))
	require.Equal(t, 7, result.Attempt)

	event, err := handler.ParseEvent([]byte(`{"Context": {
		"Execution": {"Id": "` + arn + `", "StartTime": "2026-11-20T09:30:13.5Z", "RedriveCount": 1.0, "RedriveTime": "2026-11-20T09:30:13.5Z"},
		"State": {"RetryCount": 20e-1}
	}, "Scope": 12345678901234567890123.0}`))
	require.NoError(t, err)
	require.Equal(t, 1, event.RedriveCount)
	require.Equal(t, 2, event.RetryCount)
	require.Equal(t, "12345678901234567890123", event.Key.Scope)
}

func TestFractionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	for more, want := range map[string]string{
		`, "Input": {"job": "test:Job", "maxWaitSeconds": 60.5}`: "/Input/maxWaitSeconds: expected a whole number from 1 to 31536000, found a number (60.5)",
		`, "Scope": 1.5, "Input": ` + request:                    "/Scope: expected a string, or a whole number that is not negative, found a number (1.5)",
		`, "Scope": -1, "Input": ` + request:                     "/Scope: expected a string, or a whole number that is not negative, found a number (-1)",
		`, "Input": {"attempt": 0.5}`:                            "/Input/attempt: expected a whole number from 0 to 2147483647, found a number (0.5)",
	} {
		_, err := w.RunJob(t.Context(), json.RawMessage(call(more)))
		requireError(t, err, handler.ErrorInvalidRequest, want)
	}
}

// Tools that people mend records with write whole numbers as they like.
func TestMendedRecordsWithOtherSpellingsOfNumbers(t *testing.T) {
	t.Parallel()
	w := startedWorld(t, request)
	stored, err := w.store.Store.Load(t.Context(), key)
	require.NoError(t, err)
	stored.Record.Request = json.RawMessage(strings.Replace(string(stored.Record.Request), `"maxWaitSeconds":1800`, `"maxWaitSeconds":1800.0`, 1))
	require.Contains(t, string(stored.Record.Request), "1800.0")
	_, err = w.store.Replace(t.Context(), key, stored.Record, stored.Version)
	require.NoError(t, err)
	require.EqualValues(t, "RUNNING", w.checkStatus(t, bare(request)).Status)

	text := `{"version": 1.0, "executionArn": "` + arn + `", "poller": "default", "status": "STARTED", "nonce": "N",
		"startedAt": "2026-11-20T09:30:14Z", "executionStartTime": "2026-11-20T09:30:13.5Z", "redriveCount": 2.0, "generation": 1e0, "leaseSeconds": 6.50e1}`
	rec, err := startrecord.Decode(key, []byte(text))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 1, 65}, []int{rec.Version, rec.RedriveCount, rec.Generation, rec.LeaseSeconds})
	_, err = startrecord.Decode(key, []byte(strings.Replace(text, "2.0", "2.5", 1)))
	require.ErrorContains(t, err, "/redriveCount: expected a whole number, found 2.5")
}
