//go:build e2e

package bench_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// No package compiles or decodes at the start what the command may not need.
func TestE2EStartOfTheCommand(t *testing.T) {
	t.Parallel()
	binary := buildCommand(t, lambdabuild.Host())
	size, err := measureInit(t.Context(), binary)
	require.NoError(t, err)
	require.LessOrEqual(t, size, initBudget, "GODEBUG=inittrace=1 jobpoller list shows which package takes the bytes")
}

func TestE2ESizes(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, fileSize(t, buildCommand(t, lambdabuild.Lambda("amd64"))), int64(commandBudget), "the command")
	for _, f := range functions {
		if f.size > 0 {
			pkg := "./lambdas/" + f.path
			if filepath.Dir(f.path) != "." {
				pkg = "./tests/" + filepath.ToSlash(f.path)
			}
			binary := filepath.Join(t.TempDir(), "bootstrap")
			require.NoError(t, lambdabuild.Executable(t.Context(), "../..", pkg, lambdabuild.Lambda("arm64"), binary))
			require.LessOrEqual(t, fileSize(t, binary), f.size, f.name)
		}
	}
}

// No other test runs meanwhile: its allocations would count.
func TestE2EAllocations(t *testing.T) { //nolint:paralleltest // as above
	before := flag.Lookup("test.benchtime").Value.String()
	require.NoError(t, flag.Set("test.benchtime", "100x"))
	t.Cleanup(func() { require.NoError(t, flag.Set("test.benchtime", before)) })
	for _, p := range pairs {
		require.LessOrEqual(t, testing.Benchmark(p.ours).AllocsPerOp(), p.allocs, p.name)
	}
}

// buildCommand builds the command as it is released.
func buildCommand(t *testing.T, on lambdabuild.Machine) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "jobpoller")
	require.NoError(t, lambdabuild.Build(t.Context(), "../..", "./cmd/jobpoller", on, binary, "-ldflags", "-s -w"))
	return binary
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Size()
}
