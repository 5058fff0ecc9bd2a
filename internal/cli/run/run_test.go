package run

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// A store that never answers does not keep the program from ending.
func TestInterruptWithASilentStore(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if n, _ := conn.Read(make([]byte, 1)); n > 0 { // a request, no probe of whether anybody listens
				cancel()
			}
		}
	}()
	var stdout, stderr bytes.Buffer
	code := runCommand(ctx, []string{"run", "-q", "--input", "../../../docs/example/request.json", "--s3-endpoint", "http://" + listener.Addr().String(), "--bucket", "silent"}, &stdout, &stderr)
	require.Equal(t, kit.ExitInterrupted, code)
	require.Equal(t, "jobpoller: interrupted\n", stderr.String())
}

// A simulated job ends with the run that started it.
func TestResumeOfSimulatedJob(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var definition bytes.Buffer
	compiled := []string{"compile", "athena", "StartQueryExecution", "--start", "--strategy", "lambda-loop", "--max-wait", "20m"}
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), compiled, &definition, io.Discard))
	file := filepath.Join(folder, "m.asl.json")
	require.NoError(t, os.WriteFile(file, definition.Bytes(), 0o600))
	args := []string{"run", file, "--data", filepath.Join(folder, "data"), "--name", "nightly", "--simulate", "1h", "--input", `{"QueryString": "SELECT 1"}`}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, args, io.Discard, &clitest.CancelOn{Text: "the job has started", Cancel: cancel}))

	var stdout, progress bytes.Buffer
	require.Equal(t, kit.ExitFailed, runCommand(t.Context(), append(args, "-o", "json"), &stdout, &progress))
	require.Contains(t, stdout.String(), "the simulated job is gone", progress.String())
}

// A job behind HTTP on this machine.
func TestHTTPJob(t *testing.T) { runHTTPJob(t) } //nolint:paralleltest // it sets variables

// runHTTPJob runs a job behind HTTP with flags of run.
func runHTTPJob(t *testing.T, flags ...string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"id": "7"}`)
			return
		}
		fmt.Fprint(w, `{"status": "succeeded"}`)
	}))
	defer server.Close()
	t.Setenv("JOBPOLLER_HTTP_HOSTS", strings.TrimPrefix(server.URL, "http://"))
	t.Setenv("JOBPOLLER_HTTP_LOOPBACK", "true")
	input := filepath.Join(t.TempDir(), "request.json")
	require.NoError(t, os.WriteFile(input, fmt.Appendf(nil, `{"job": "http:Request", "maxWaitSeconds": 60, "arguments": {
		"Start": {"Url": "%[1]s/jobs"}, "Describe": {"Url": "%[1]s/jobs/{Body.id}"}}}`, server.URL), 0o600))
	var stdout, stderr bytes.Buffer
	code := runCommand(t.Context(), append([]string{"run", "--input", input}, flags...), &stdout, &stderr)
	require.Equal(t, kit.ExitSucceeded, code, "%s%s", &stdout, &stderr)
	require.Contains(t, stderr.String(), "http:Request calls the real service")
}

// The text of a run that failed names the state: of a Map or Parallel that inside.
func TestRunNamesTheStateAtWhichItEnded(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Small?", "States": {
			"Small?": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericLessThan": 2, "Next": "Done"}]}, "Done": {"Type": "Succeed"}}}}}}`: "FAILED after 0s of virtual time\n  at            Small?\n  error         States.Runtime\n",
		`{"TimeoutSeconds": 5, "StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "One", "States": {"One": {"Type": "Wait", "Seconds": 9, "End": true}}}, {"StartAt": "Two", "States": {"Two": {"Type": "Pass", "End": true}}}]}}}`: "TIMED_OUT after 5s of virtual time\n  at            One timed out with the execution\n",
		`{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "End": true}}}`: "SUCCEEDED after 1s of virtual time\n  output        [1,2]\n",
	} {
		var out, problems bytes.Buffer
		runCommand(t.Context(), []string{"run", clitest.WriteFile(t, "m.asl.json", definition), "--simulate", "1m", "--virtual", "--input", "[1,2]"}, &out, &problems)
		require.True(t, strings.HasPrefix(out.String(), want), "%s%s", &out, &problems)
	}
}
