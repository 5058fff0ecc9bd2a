//go:build e2e

package bench_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// buildFunction builds a function for this machine.
func buildFunction(t *testing.T, name string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	require.NoError(t, lambdabuild.Executable(t.Context(), "../..", "./lambdas/"+name, lambdabuild.Host(), binary))
	return binary
}

// A poll of a running job costs what the design allows, and changes nothing.
func TestE2ERequests(t *testing.T) {
	t.Parallel()
	runJob, checkStatus := buildFunction(t, "runjob"), buildFunction(t, "checkstatus")
	counts, peaks, err := countRequests(t.Context(), runJob, checkStatus)
	require.NoError(t, err)
	require.Equal(t, []count{
		{"run-job, the start", "1 ExportTableToPointInTime, 2 S3 PUT"},
		{"run-job again", "2 S3 GET, 1 S3 PUT"},
		{stepRunning, runningBudget},
		{"check-status, the job has ended", "1 DescribeExport, 1 S3 GET, 1 S3 PUT"},
		{"check-status again", "1 S3 GET"},
	}, counts)

	if runtime.GOOS == "linux" {
		for name, peak := range peaks {
			require.Greater(t, peak, uint64(1<<20), name)
			require.Less(t, peak, uint64(memoryBudget), name)
		}
	}

	// What is measured is the whole start of a function that works.
	costs, err := measureStarts(t.Context(), []start{{binary: checkStatus}, {binary: runJob}}, 1)
	require.NoError(t, err)
	require.Positive(t, medianWall(costs[0]))
	wall, processor := compareStarts(costs[1], costs[0])
	require.Positive(t, wall)
	require.Positive(t, processor)
	_, err = measureStarts(t.Context(), []start{{binary: os.Args[0]}}, 1)
	require.ErrorContains(t, err, "ended before it asked for an event")
}
