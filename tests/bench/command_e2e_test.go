//go:build e2e

package bench_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// No package compiles or decodes at the start what the command may not need.
func TestE2EStartOfTheCommand(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "jobpoller")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/jobpoller")
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	size, err := measureInit(t.Context(), binary)
	require.NoError(t, err)
	require.LessOrEqual(t, size, initBudget, "GODEBUG=inittrace=1 jobpoller list shows which package takes the bytes")
}
