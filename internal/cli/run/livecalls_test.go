package run

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// queryMachine starts a query, waits, and asks for it.
const queryMachine = `{"StartAt": "Start", "States": {
	"Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution", "Parameters": {"QueryString": "SELECT 1"}, "Next": "Wait"},
	"Wait": {"Type": "Wait", "Seconds": 1, "Next": "Describe"},
	"Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
		"Parameters": {"QueryExecutionId.$": "$.QueryExecutionId"}, "OutputPath": "$.QueryExecution.Status.State", "End": true}}}`

// queryService is Athena, and calls heard with each request.
func queryService(t *testing.T, heard func(target string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard(r.Header.Get("X-Amz-Target"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"QueryExecutionId": "q-1", "QueryExecution": {"Status": {"State": "SUCCEEDED"}}}`) // the client may be gone
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A run that was killed after a call has left a note of it, which was written before
// the call: the same command calls nothing, and says so. A run that ended leaves none.
func TestKilledRunStartsNothingAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	machine, data := filepath.Join(folder, "m.asl.json"), filepath.Join(folder, "kept")
	require.NoError(t, os.WriteFile(machine, []byte(queryMachine), 0o600))
	note := filepath.Join(data, "runs", "nightly.calls")
	var left []byte
	var calls atomic.Int32
	url := queryService(t, func(target string) {
		calls.Add(1)
		if left, _ = os.ReadFile(note); strings.HasSuffix(target, ".StartQueryExecution") {
			require.Equal(t, 1, bytes.Count(left, []byte("\n")), "the note of the call comes first")
		}
	})
	args := []string{"run", machine, "--endpoint-url", url, "--data", data, "--name", "nightly", "-q"}
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "%s%s", &stdout, &stderr)
	require.EqualValues(t, 2, calls.Load())
	require.Regexp(t, `^\{"time":"[0-9TZ:-]+","state":"Start","call":"athena:startQueryExecution"\}\n$`, string(left))
	require.NoFileExists(t, note)
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr), "a run that ended begins again")
	require.EqualValues(t, 4, calls.Load())

	require.NoError(t, os.WriteFile(note, append(left, `{"time":"2026`...), 0o600)) // as a kill leaves it
	for _, redrive := range [][]string{nil, {"--redrive"}} {
		stderr.Reset()
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append(args, redrive...), io.Discard, &stderr))
		require.Contains(t, stderr.String(), `the run "nightly" of `)
		require.Regexp(t, `(?m)^  athena:startQueryExecution of "Start" at 20[0-9TZ:-]+$`, stderr.String())
		require.Contains(t, stderr.String(), "pass another --name")
	}
	require.EqualValues(t, 4, calls.Load())
	args[len(args)-2] = "other"
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), args, &stdout, &stderr))
}

// A call that cannot be noted is not sent, such as that of a second run of a name at
// the same time.
func TestCallThatCannotBeKeptIsNotSent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	machine, data := filepath.Join(folder, "m.asl.json"), filepath.Join(folder, "kept")
	require.NoError(t, os.WriteFile(machine, []byte(queryMachine), 0o600))
	var calls atomic.Int32
	url := queryService(t, func(string) { calls.Add(1) })
	require.NoError(t, os.WriteFile(data, nil, 0o600))
	var stderr bytes.Buffer
	code := runCommand(t.Context(), []string{"run", machine, "--endpoint-url", url, "--data", data, "--name", "nightly", "-q"}, io.Discard, &stderr)
	require.NotEqual(t, kit.ExitSucceeded, code)
	require.Zero(t, calls.Load(), &stderr)
}

// After Ctrl-C a job that a Task has started may run on, and the run goes on with
// --redrive.
func TestInterruptTellsOfJobs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	machine := filepath.Join(folder, "m.asl.json")
	require.NoError(t, os.WriteFile(machine, []byte(strings.Replace(queryMachine, `"Seconds": 1`, `"Seconds": 2`, 1)), 0o600))
	var calls atomic.Int32
	url := queryService(t, func(string) { calls.Add(1) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &clitest.CancelOn{Text: "WaitStateEntered", Cancel: cancel}
	args := []string{"run", machine, "--endpoint-url", url, "--data", filepath.Join(folder, "kept"), "--name", "nightly", "-q", "--trace"}
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, args, io.Discard, stderr))
	require.Regexp(t, `(?m)^warning: the job of athena:startQueryExecution of "Start" at 20[0-9TZ:-]+ may run on$`, stderr.String())
	var stdout, complaints bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), append(args, "--redrive"), &stdout, &complaints), &complaints)
	require.EqualValues(t, 2, calls.Load(), "it started no second job")
	require.NotContains(t, complaints.String(), "may run on")
}

// A program that dies says why on its standard error, which the run shows without -v.
func TestFunctionThatDiesSaysWhy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // it has no scripts with an interpreter
	}
	folder := t.TempDir()
	machine, program, plain := filepath.Join(folder, "m.asl.json"), filepath.Join(folder, "crash"), filepath.Join(folder, "app.py")
	require.NoError(t, os.WriteFile(machine, []byte(`{"StartAt": "N", "States": {"N": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:notify", "End": true}}}`), 0o600))
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho boom: no module foo >&2\nexit 3\n"), 0o700))
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	var stderr bytes.Buffer
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), []string{"run", machine, "--lambda", "notify=" + program, "-q"}, io.Discard, &stderr))
	require.Equal(t, "notify: boom: no module foo\nnotify: Runtime exited with error: exit status 3\n", stderr.String())
	stderr.Reset()

	// A Task that is tried again says when, of each try.
	retrying := clitest.WriteFile(t, "retrying.asl.json", `{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "Notify", "States": {"Notify": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "notify"},
			"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "IntervalSeconds": 1, "BackoffRate": 1}], "End": true}}},
		{"StartAt": "Other", "States": {"Other": {"Type": "Wait", "Seconds": 60, "End": true}}}]}}}`)
	var stdout bytes.Buffer
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), []string{"run", retrying, "--lambda", "notify=" + program}, &stdout, &stderr))
	require.Equal(t, 3, strings.Count(stderr.String(), "notify: Runtime exited with error: exit status 3\n"), &stderr)
	require.Equal(t, 2, strings.Count(stderr.String(), "Notify: its function failed; next try in 1s\n"), &stderr)
	require.Contains(t, stdout.String(), "Runtime exited with error: exit status 3")
	stderr.Reset()
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"run", machine, "--lambda", "notify=" + plain}, io.Discard, &stderr))
	require.Contains(t, stderr.String(), "expected a program that speaks the Lambda Runtime API")
}
