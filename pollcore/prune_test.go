package pollcore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("Done",
		pollcore.Succeed(pollcore.Output("Job.Status").Is("OK")),
		pollcore.FailWithMessage(pollcore.Output("Job.Detail.Code").Is("X"), "Job.Detail.Text"),
		pollcore.Fail(pollcore.Output("Job.Status.Deeper").Is("X")),
		pollcore.Fail(pollcore.Output("Missing.Status").Is("X")),
		pollcore.Again(pollcore.ErrorType("Gone")))
	output := map[string]any{
		"Job":   map[string]any{"Status": "RUNNING", "Log": "long", "Detail": map[string]any{"Code": nil, "Text": "t", "Trace": "long"}},
		"Other": "long",
	}
	want := map[string]any{"Job": map[string]any{"Status": "RUNNING", "Detail": map[string]any{"Code": nil, "Text": "t"}}}
	require.Equal(t, want, w.Prune(output))
	require.Equal(t, map[string]any{}, w.Prune([]any{1}))

	require.Equal(t, output, pollcore.MustNew("Done", pollcore.Succeed(pollcore.Output("length(@)").IsTrue())).Prune(output), "all of it is read")
	require.Equal(t, output, pollcore.MustNew("Done", pollcore.Succeed(pollcore.InputOutput("input == output").IsTrue())).Prune(output))
	require.Equal(t, map[string]any{"Other": "long"},
		pollcore.MustNew("Done", pollcore.Succeed(pollcore.InputOutput("input.Job == output.Other").IsTrue())).Prune(output))

	// The waiter gives the same verdict on what is left.
	check, err := pollcore.Compile[any, any](w)
	require.NoError(t, err)
	require.Equal(t, check.Check(nil, output, nil), check.Check(nil, w.Prune(output), nil))
}
