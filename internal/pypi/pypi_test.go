//go:build e2e

package pypi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pypi"
)

func requirements(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "none.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// A file that names no packages needs no registry.
func TestE2EInstall(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := pypi.Install(t.Context(), requirements(t, "# 1"))
	require.NoError(t, err)
	require.DirExists(t, first)
	again, err := pypi.Install(t.Context(), requirements(t, "# 1"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := pypi.Install(t.Context(), requirements(t, "# 2"))
	require.NoError(t, err)
	require.NotEqual(t, first, other)
}

func TestE2EInstallRefuses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err := pypi.Install(t.Context(), requirements(t, "boto3==1.44.5"))
	require.ErrorContains(t, err, "none.txt: pip: ")
	require.ErrorContains(t, err, "hash")

	t.Setenv("PATH", "")
	_, err = pypi.Install(t.Context(), requirements(t, "# 3"))
	require.ErrorIs(t, err, exec.ErrNotFound)
	require.ErrorContains(t, err, "install Python 3.11 or later")
}
