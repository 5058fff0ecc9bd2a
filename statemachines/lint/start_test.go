package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A loop belongs to the Task whose id, or name, it asks for, and not to the first that
// starts such a job.
func TestLoopBelongsToItsStart(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"several-by-name":                {"Get 1": "Start 1", "Get 2": "Start 2", "Get 3": "Start 3"},
		"several-by-id":                  {"Get 1": "Start 1", "Get 2": "Start 2"},
		"several-by-id-in-another-order": {"Get 1": "Start 2", "Get 2": "Start 1"},
	} {
		got := map[string]string{}
		for _, l := range lint.Loops(readMachine(t, "testdata/cases/starts/"+name+".asl.json"), lint.Options{}) {
			got[l.Poll.Name] = l.Start.Name
		}
		require.Equal(t, want, got, name)
	}
}
