//go:build unix

package growthtest

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
