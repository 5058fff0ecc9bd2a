package filelock_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/filelock"
)

// One opening of a file has the lock, until it is closed.
func TestTake(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	first, second := open(), open()
	taken, err := filelock.Take(first)
	require.NoError(t, err)
	require.True(t, taken)
	taken, err = filelock.Take(second)
	require.NoError(t, err)
	require.Equal(t, runtime.GOOS == "windows", taken)
	require.NoError(t, first.Close())
	taken, err = filelock.Take(second)
	require.NoError(t, err)
	require.True(t, taken)
}
