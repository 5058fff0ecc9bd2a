package loopback_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

// What another user can change may tell the server to do anything.
func TestCheckFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // where lists of access count, not modes
	}
	folder := t.TempDir()
	require.NoError(t, loopback.CheckFolder(filepath.Join(folder, "none"), "journal"))
	require.NoError(t, loopback.CheckFolder(folder, "journal"))
	journal := filepath.Join(folder, "journal")
	require.NoError(t, os.WriteFile(journal, nil, 0o600))
	require.NoError(t, os.Symlink(journal, filepath.Join(folder, "link")))
	require.NoError(t, loopback.CheckFolder(folder, "journal"))
	require.ErrorContains(t, loopback.CheckFolder(folder, "link"), "link is neither a file nor a folder")
	require.NoError(t, os.Chmod(journal, 0o622))
	require.ErrorContains(t, loopback.CheckFolder(folder, "journal"), "chmod go-w "+journal)
	require.NoError(t, os.Chmod(folder, 0o777))
	require.ErrorContains(t, loopback.CheckFolder(folder), "others can change it: chmod go-w "+folder)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(folder, 0o700))
		require.NoError(t, os.Chown(folder, 65534, 65534))
		require.ErrorContains(t, loopback.CheckFolder(folder), "is another user's")
		require.NoError(t, os.Chown(folder, 0, 0))
	}
}
