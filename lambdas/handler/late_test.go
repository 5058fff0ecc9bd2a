package handler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// A check sees the job run a moment before its deadline and stalls. Meanwhile the job
// ends in time.
func TestJobsThatEndInTimeAreNotTimedOutByAStalledCheck(t *testing.T) {
	t.Parallel()
	for _, class := range []string{"token", "stoppable"} {
		w := newWorld(t, class)
		w.runJob(t, bare(request))
		w.advance(30*time.Minute - 2*time.Second)
		w.stall(func() {
			w.clock.set(w.clock.Now().Add(10 * time.Second))
			w.service.says(map[string]any{"State": "DONE"}, nil)
		})
		result := w.checkStatus(t, bare(request))
		require.EqualValues(t, "SUCCEEDED", result.Status, result.Reason)
		require.Equal(t, startrecord.StatusSucceeded, w.record(t, key).Status)
		require.Zero(t, w.service.stops)
	}
}

// A check sees the job run after its deadline and stalls for long: what it has seen
// is no longer true, and it looks once more before it says so.
func TestStalledChecksLookOnceMoreBeforeTheyTimeOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "token")
	w.runJob(t, bare(request))
	w.advance(31 * time.Minute)
	w.stall(func() {
		w.clock.set(w.clock.Now().Add(40 * time.Second))
		w.service.says(map[string]any{"State": "BROKEN"}, nil)
	})
	require.EqualValues(t, "FAILED", w.checkStatus(t, bare(request)).Status)

	// It does not look for ever.
	w = newWorld(t, "token")
	w.runJob(t, bare(request))
	w.advance(31 * time.Minute)
	slow := 0
	w.service.slow = func() {
		slow++
		w.clock.set(w.clock.Now().Add(40 * time.Second))
	}
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status)
	require.Equal(t, 3, slow)

	// A check that does not stall describes once.
	w = newWorld(t, "token")
	w.runJob(t, bare(request))
	w.advance(31 * time.Minute)
	require.EqualValues(t, "TIMED_OUT", w.checkStatus(t, bare(request)).Status)
	require.Equal(t, 1, w.service.describes)
}

// stall does something once after the next describe call was answered.
func (w *world) stall(do func()) {
	w.service.slow = func() {
		w.service.slow = nil
		do()
	}
}
