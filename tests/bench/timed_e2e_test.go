//go:build e2e

package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The script that times a package ends as its tests do, and leaves their output as it is.
func TestE2ETimed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	for range 2 {
		program := exec.CommandContext(t.Context(), "./timed", file, "bash", "-c", "echo out; echo err >&2; exit 7")
		said, err := program.CombinedOutput()
		require.Equal(t, "out\nerr\n", string(said))
		require.ErrorContains(t, err, "exit status 7")
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	all, err := readSuites(string(text))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "tests/bench", all[0].name)
}
