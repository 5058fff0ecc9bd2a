package jobstest

import (
	"encoding/json"
	"maps"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// testBatch: a job that is described together with others is as if it were described
// alone, whatever the order, and one that no service knows has no output.
func testBatch(h *harness) {
	driver, ok := h.driver.(jobs.BatchDescriber)
	if !ok {
		return
	}
	ended := h.start(1)
	of, err := driver.Batch(ended)
	if err != nil {
		return // the driver describes no such jobs together
	}
	require.Positive(h.t, of.Size)
	require.GreaterOrEqual(h.t, of.Max, 2*of.Size, "a call for one job is no batch")
	h.service.SetStatus(h.c.Statuses.Success[0])
	runs := h.start(2)
	unknown := maps.Clone(ended)
	for name := range unknown {
		unknown[name] = "unknown"
	}
	refs := []jobs.Ref{runs, unknown, ended, runs}
	for _, ref := range refs {
		same, err := driver.Batch(ref)
		require.NoError(h.t, err)
		require.Equal(h.t, of, same, "jobs that differ in their IDs alone are of one group")
	}
	outputs, err := driver.DescribeBatch(h.t.Context(), refs)
	require.NoError(h.t, err)
	require.Len(h.t, outputs, len(refs))
	for i, ref := range refs {
		if i == 1 {
			require.Nil(h.t, outputs[i], "an output of a job that the service does not know")
			continue
		}
		alone, err := h.tryDescribe(ref)
		require.NoError(h.t, err)
		want, err := json.Marshal(alone)
		require.NoError(h.t, err)
		got, err := json.Marshal(outputs[i])
		require.NoError(h.t, err)
		require.JSONEq(h.t, string(want), string(got), "job %d of the call", i+1)
	}
	for name, f := range map[string]fault{"throttled": throttle, "internal error": breakDown, "lost answer": loseAnswer} {
		h.server.breakAll(f)
		_, err := driver.DescribeBatch(h.t.Context(), refs)
		require.Error(h.t, err, name)
		require.True(h.t, goerror.Passes(err), "%s says nothing of the jobs: %v", name, err)
	}
	h.server.breakAll(refuse(h.c.Refusal))
	_, err = driver.DescribeBatch(h.t.Context(), refs)
	h.requireRefusal(err)
}
