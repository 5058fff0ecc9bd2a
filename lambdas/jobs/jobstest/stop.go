package jobstest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func testStop(h *harness) {
	if !h.canStop() {
		return
	}
	stopped, left := h.start(1), h.start(2)
	require.NoError(h.t, h.stop(stopped))
	verdict, reason := h.verdict(stopped)
	require.Equal(h.t, pollcore.Failure, verdict, reason)
	verdict, reason = h.verdict(left)
	require.Equal(h.t, pollcore.Retry, verdict, "another job was stopped: %s", reason)
	require.NoError(h.t, h.stop(stopped), "the order is given twice")
}

// testStopEnded: a job that has ended stays as it is.
func testStopEnded(h *harness) {
	if !h.canStop() {
		return
	}
	ref := h.start(1)
	for _, status := range slices.Concat(h.c.Statuses.Success, h.c.Statuses.Failure) {
		h.service.SetStatus(status)
		before, _ := h.verdict(ref)
		require.NoError(h.t, h.stop(ref), "status %s", status)
		after, _ := h.verdict(ref)
		require.Equal(h.t, before, after, "status %s", status)
	}
}

func testStopErrors(h *harness) {
	if !h.canStop() {
		return
	}
	ref := h.start(1)
	for name, f := range map[string]fault{"throttled": throttle, "internal error": breakDown, "lost request": loseRequest} {
		h.server.breakAll(f)
		err := h.stop(ref)
		require.Error(h.t, err, name)
		require.True(h.t, goerror.Passes(err), "%s says nothing of the job: %v", name, err)
	}
	h.server.breakAll(refuse(h.c.Refusal))
	h.requireRefusal(h.stop(ref))
	// The job still runs, so an order that was refused is not a success.
	h.server.breakFirst(refuse(h.c.Refusal), nil)
	h.requireRefusal(h.stop(ref))
}
