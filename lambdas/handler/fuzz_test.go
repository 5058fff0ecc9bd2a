package handler_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

func FuzzParseEvent(f *testing.F) {
	for _, tt := range badEvents {
		if len(tt.payload) < 1000 {
			f.Add([]byte(tt.payload))
		}
	}
	f.Add([]byte(bare(request)))
	f.Add([]byte(call(`, "Poller": "p", "Scope": 3, "Input": {"attempt": 1}`)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		event, err := handler.ParseEvent(payload)
		if err != nil {
			var named *handler.Error
			require.ErrorAs(t, err, &named)
			require.Equal(t, handler.ErrorInvalidRequest, named.Name)
			require.NotEmpty(t, named.Message)
			return
		}
		require.NoError(t, event.Key.Validate())
		require.False(t, event.ExecutionTime.IsZero() && !bytes.Contains(payload, []byte("0001-01-01")))
		require.GreaterOrEqual(t, event.LastAttempt, -1)
		require.GreaterOrEqual(t, event.RetryCount, 0)
	})
}

// FuzzRunJob: whatever the request is, the job is started or one error says
// why not, and only a request that was understood leaves a record.
func FuzzRunJob(f *testing.F) {
	for _, tt := range badRequests {
		if len(tt.request) < 1000 {
			f.Add([]byte(tt.request))
		}
	}
	f.Add([]byte(request))
	f.Add([]byte(customWaiter))
	f.Fuzz(func(t *testing.T, request []byte) {
		if !json.Valid(request) {
			return
		}
		w := newWorld(t, "token")
		result, err := w.RunJob(t.Context(), json.RawMessage(bare(string(request))))
		_, loadErr := w.store.Store.Load(t.Context(), key)
		if err != nil {
			require.Contains(t, []string{handler.ErrorInvalidRequest, handler.ErrorUnknownJob}, named(t, err).Type)
			require.ErrorIs(t, loadErr, startrecord.ErrNotFound)
			require.Zero(t, w.service.starts)
			return
		}
		require.NoError(t, loadErr)
		require.Equal(t, 1, w.service.count())
		// What was kept is enough for CheckStatus, and for RunJob again.
		require.Equal(t, result, w.runJob(t, bare(string(request))))
		_, err = w.CheckStatus(t.Context(), json.RawMessage(bare(string(request))))
		if err != nil {
			require.Contains(t, []string{handler.ErrorRunning, handler.ErrorFailed, handler.ErrorTimedOut}, named(t, err).Type)
		}
	})
}

// FuzzCheckStatus: whatever is stored, CheckStatus answers or says what is
// wrong with it.
func FuzzCheckStatus(f *testing.F) {
	w := newWorld(f, "token")
	w.runJob(f, bare(request))
	rec := w.record(f, key)
	f.Add([]byte(rec.Request), []byte(rec.JobRef), []byte(`{"status": "SUCCEEDED"}`), "STARTED", []byte(`{"State": "DONE"}`))
	f.Add([]byte(rec.Request), []byte(rec.JobRef), []byte(`{"status": "SUCCEEDED"}`), "SUCCEEDED", []byte(`null`))
	f.Add([]byte(`{}`), []byte(`[]`), []byte(`[]`), "FAILED", []byte(`[[]]`))
	f.Add([]byte(`{"waiter": null}`), []byte(``), []byte(``), "STARTING", []byte(`1e999`))
	f.Fuzz(func(t *testing.T, request, ref, result []byte, status string, output []byte) {
		w := newWorld(t, "token")
		rec := rec
		rec.Request, rec.JobRef, rec.Result, rec.Status = request, ref, result, startrecord.Status(status)
		if _, err := w.store.Store.Create(t.Context(), key, rec); err != nil {
			return
		}
		var said any
		decoder := json.NewDecoder(bytes.NewReader(output))
		decoder.UseNumber()
		if err := decoder.Decode(&said); err != nil {
			said = nil
		}
		w.service.says(said, nil)
		got, err := w.CheckStatus(t.Context(), json.RawMessage(bare(`{}`)))
		if err != nil {
			require.NotEmpty(t, named(t, err).Type)
			return
		}
		_, err = json.Marshal(got)
		require.NoError(t, err)
	})
}
