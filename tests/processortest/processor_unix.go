//go:build unix

package processortest

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Time is how long processors have worked for this process.
func Time(t testing.TB) time.Duration {
	t.Helper()
	used := usage(t)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// PeakMemory is the most memory in bytes that this process has had; false where the system
// does not count it.
func PeakMemory(t testing.TB) (bytes int64, ok bool) {
	t.Helper()
	bytes = usage(t).Maxrss // of macOS; others count in kibibytes
	if runtime.GOOS != "darwin" {
		bytes <<= 10
	}
	return bytes, true
}

func usage(t testing.TB) (used syscall.Rusage) {
	t.Helper()
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used
}
