package awsjob_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// Of each failure of each job the driver says whether a stop call brought it about, as the
// catalogue does.
func TestWasStopped(t *testing.T) {
	t.Parallel()
	told := 0
	for d, entry := range drivers(t) {
		job := entry.Job
		if job == nil || job.Status == "" {
			continue
		}
		teller, ok := d.(jobs.StopTeller)
		require.True(t, ok, d.Name())
		_, known := teller.WasStopped(map[string]any{})
		require.False(t, known, d.Name())
		for _, status := range job.Failure {
			stopped, known := teller.WasStopped(answerWith(job.Status, status))
			require.Equal(t, job.Stop != nil && len(job.Stop.Statuses) > 0, known, d.Name())
			require.Equal(t, known && slices.Contains(job.Stop.Statuses, status), stopped, "%s %s", d.Name(), status)
			if stopped {
				told++
			}
		}
	}
	require.GreaterOrEqual(t, told, 55)
}

// answerWith is an answer that has a value at a path of members and first items.
func answerWith(path, value string) (answer any) {
	names := strings.Split(path, ".")
	slices.Reverse(names)
	answer = value
	for _, name := range names {
		name, list := strings.CutSuffix(name, "[0]")
		if list {
			answer = []any{answer}
		}
		answer = map[string]any{javasdk.MemberName(name): answer}
	}
	return answer
}
