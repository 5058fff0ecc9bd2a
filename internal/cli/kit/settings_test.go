package kit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// The example of the reference is right, and its keys are all that there are.
func TestReferenceOfSettings(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/config.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	_, err = settings.Parse("example", []byte(example), kit.Vocabulary())
	require.NoError(t, err)
	_, err = settings.Parse("c", []byte("none: 1"), kit.Vocabulary())
	require.Error(t, err)
	_, keys, _ := strings.Cut(err.Error(), "expected ")
	keys, _, _ = strings.Cut(keys, "\n")
	for key := range strings.SplitSeq(keys, ", ") {
		require.Contains(t, "\n"+example, "\n"+key+":", "the example")
		require.Contains(t, string(page), "\n| `"+key+"` | ", "the table")
	}
}

// A status of a flag counts for all Tasks, also where the settings name one.
func TestSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.Name), []byte("statuses: {'Look:done': success, 'Look:busy': running, error: failure}"), 0o600))
	s := kit.NewSettings()
	require.Equal(t, map[string]lint.Meaning{"done": lint.MeansFailure, "Look:busy": lint.MeansRunning, "error": lint.MeansFailure},
		s.Said(filepath.Join(folder, "a.json"), map[string]lint.Meaning{"done": lint.MeansFailure}))
	require.NoError(t, s.Err())
}
