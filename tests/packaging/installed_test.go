//go:build e2e

package packaging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/pypi"
	"github.com/jobpoller/jobpoller/internal/release"
)

// The files of a release install without a network, and the command works from there.
func TestE2EInstalledCommandWorks(t *testing.T) {
	t.Parallel()
	files := t.TempDir()
	r := release.Release{Module: root, Version: "v0.1.0", Time: time.Unix(1_800_000_000, 0)}
	require.NoError(t, r.Build(t.Context(), files, lambdabuild.Host()))

	t.Run("pip", func(t *testing.T) {
		t.Parallel()
		empty := t.TempDir()
		run(t, empty, nil, pypi.Python(), "-m", "pip", "install", "--no-index", "--disable-pip-version-check", "--find-links", files, "--target", empty, "jobpoller")
		requireWorks(t, filepath.Join(empty, "bin", lambdabuild.Program("jobpoller", lambdabuild.Host())))
	})
	t.Run("pre-commit", func(t *testing.T) {
		t.Parallel()
		config := preCommitConfig(t, "jobpoller==1.0.0")
		requireHookWorks(t, strings.Replace(config, "==1.0.0", "==0.1.0", 1), "PIP_FIND_LINKS="+files)
	})
	t.Run("npm", func(t *testing.T) {
		t.Parallel()
		empty := t.TempDir()
		packages, err := filepath.Glob(filepath.Join(files, "jobpoller-*.tgz"))
		require.NoError(t, err)
		require.Len(t, packages, 2)
		run(t, empty, nil, "npm", append([]string{"install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"}, packages...)...)
		launcher := filepath.Join(empty, "node_modules", ".bin", "jobpoller")
		if runtime.GOOS == "windows" {
			launcher += ".cmd"
		}
		requireWorks(t, launcher)
	})
}

// requireWorks asks the command for its version, what is wrong with a loop, and a run.
func requireWorks(t *testing.T, command string) {
	t.Helper()
	require.Equal(t, "jobpoller version v0.1.0\n", run(t, t.TempDir(), nil, command, "--version"))
	loop, err := filepath.Abs(filepath.Join(root, "docs", "example", "athena", "loop.asl.json"))
	require.NoError(t, err)
	lint := exec.CommandContext(t.Context(), command, "lint", loop)
	found, err := lint.Output()
	require.Error(t, err)
	require.Equal(t, 1, lint.ProcessState.ExitCode(), "%s", found)
	require.Contains(t, string(found), "status-polls-on")
	require.Contains(t, run(t, t.TempDir(), nil, command, "demo", "--virtual"), "SUCCEEDED")
}

// run returns what a program prints, which must not fail.
func run(t *testing.T, folder string, environment []string, program string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir, command.Env = folder, append(os.Environ(), environment...)
	text, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", program, arguments, text)
	return string(text)
}
