package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runJSON runs the command in process and decodes the one document it prints.
func runJSON(t *testing.T, args ...string) (localrun.Report, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := runCommand(t.Context(), append([]string{"demo", "-o", "json"}, args...), &stdout, &stderr)
	require.Empty(t, stderr.String(), "a virtual run shows no progress")
	decoder := json.NewDecoder(&stdout)
	decoder.DisallowUnknownFields()
	var r localrun.Report
	require.NoError(t, decoder.Decode(&r))
	_, err := decoder.Token()
	require.ErrorIs(t, err, io.EOF, "one document and no more")
	return r, code
}

func TestVirtualDay(t *testing.T) {
	t.Parallel()
	r, code := runJSON(t, "--virtual", "--job-seconds", "86400", "--max-wait", "100000")
	require.Equal(t, kit.ExitSucceeded, code)
	require.Equal(t, "SUCCEEDED", r.Status)
	require.True(t, r.Virtual)
	require.GreaterOrEqual(t, r.ElapsedSeconds, 86400.0)
	require.LessOrEqual(t, r.ElapsedSeconds, 86400.0+120, "noticed within a maxDelay")
	// Delays between 2 and 120 s.
	require.Greater(t, r.Attempts, 86400/120)
	require.Less(t, r.Attempts, 86400/2)
	// RunJob, InitialWait and JobSucceeded; Wait, Check and Choice a poll, but
	// no Wait before the first.
	require.Equal(t, 3+3*r.Attempts-1, r.Transitions)
	require.InDelta(t, asl.TransitionCost(float64(r.Transitions)), r.CostUSD, 1e-9)
}

func TestVirtualRunIsRepeatable(t *testing.T) {
	t.Parallel()
	args := []string{"--virtual", "--job-seconds", "5000", "--max-wait", "9000"}
	first, _ := runJSON(t, args...)
	second, _ := runJSON(t, args...)
	require.Equal(t, first, second)
}

func TestVirtualVerdicts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, status, cause string
		code                int
		args                []string
	}{
		{"fails", "FAILED", `Status == "failed" (acceptor 2 of 3)`, kit.ExitFailed, []string{"--job-seconds", "100", "--job-fails"}},
		{"times out", "TIMED_OUT", `not finished after 1m0s (max wait 1m0s): Status = "running"`, kit.ExitTimedOut, []string{"--job-seconds", "61", "--max-wait", "60"}},
		{"finishes at the deadline", "SUCCEEDED", "", kit.ExitSucceeded, []string{"--job-seconds", "60", "--max-wait", "60"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := runJSON(t, append(tt.args, "--virtual")...)
			require.Equal(t, tt.code, code)
			require.Equal(t, tt.status, r.Status)
			require.Contains(t, r.Cause, tt.cause)
			require.Len(t, r.StartRecords, 1)
		})
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &clitest.CancelOn{Text: "poll 1", Cancel: cancel}
	var stdout bytes.Buffer
	code := runCommand(ctx, []string{"demo", "--job-seconds", "3600"}, &stdout, stderr)
	require.Equal(t, kit.ExitInterrupted, code)
	require.Contains(t, stdout.String(), "ABORTED")
	require.Contains(t, stderr.String(), "RUNNING", "the last status is shown")
}

// The sample job goes on in a run that takes up the start record, and ends when it
// would have ended.
func TestResumeAfterInterrupt(t *testing.T) {
	t.Parallel()
	args := []string{"demo", "--data", t.TempDir(), "--name", "nightly", "--job-seconds", "2", "-o", "json"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &clitest.CancelOn{Text: "poll 1", Cancel: cancel}
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, args, io.Discard, stderr))

	var stdout, progress bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &progress))
	require.Contains(t, progress.String(), "continues the execution with its start record s3://jobpoller/")
	require.Contains(t, stdout.String(), `"workedSeconds": 2`)
}

// Whoever interrupts the build of the functions is not told that it failed.
func TestInterruptBeforeTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, []string{"demo", "--processes"}, io.Discard, &stderr))
	require.Equal(t, "jobpoller: interrupted\n", stderr.String())
}

// A report and a history hold inputs and answers: nobody else may read them, also
// where there was a file that everybody could.
func TestFilesOfARunAreTheirOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	html, history, data := filepath.Join(dir, "report.html"), filepath.Join(dir, "history.json"), filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(history, []byte("old"), 0o644))
	require.NoError(t, os.Chmod(history, 0o644))
	var stdout, stderr bytes.Buffer
	code := runCommand(t.Context(), []string{"demo", "--virtual", "--html", html, "--history", history, "--data", data}, &stdout, &stderr)
	require.Equal(t, kit.ExitSucceeded, code, "%s%s", &stdout, &stderr)
	for file, want := range map[string]os.FileMode{html: 0o600, history: 0o600, filepath.Join(data, "s3.bolt"): 0o600, data: 0o700 | os.ModeDir} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode(), file)
	}
}

// A data folder that another run uses, or that is damaged, is refused with a word, and
// stays as it is.
func TestDataFolderThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	args := []string{"demo", "--virtual", "--name", "n", "--data", folder}
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "%s", &stderr)
	file := filepath.Join(folder, "s3.bolt")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"cut":    whole[:5000],
		"short":  whole[:10],
		"text":   []byte(strings.Repeat("no database ", 5000)),
		"meta":   append(bytes.Repeat([]byte{0xff}, 8192), whole[8192:]...),
		"pages":  append(bytes.Clone(whole[:8192]), bytes.Repeat([]byte{0xff}, len(whole)-8192)...),
		"object": bytes.ReplaceAll(whole, []byte(`{"`), []byte(`{x`)),
	} {
		folder := t.TempDir()
		args[len(args)-1], file = folder, filepath.Join(folder, "s3.bolt")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		stderr.Reset()
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), args, &stdout, &stderr), name)
		require.Contains(t, stderr.String(), "jobpoller: --data: S3 objects in "+file+" cannot be read: ", name)
		require.Contains(t, stderr.String(), "choose another folder, or delete the file if its content is not needed", name)
		left, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, left, name)
	}
}
