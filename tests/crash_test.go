package tests_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const jobFunction = "sample-job"

// A run-job function that is killed, once before and once after its call that
// starts the job, does not start the job twice and does not stop the machine:
// the shipped definition, the two Lambda binaries as processes, the S3 and
// Lambda protocols.
func TestKilledRunJobStartsTheJobOnce(t *testing.T) {
	t.Parallel()
	var runJob *runtimeapi.Function
	var beforeStart, afterStart sync.Once
	var kills, invocations, started atomic.Int32
	kill := func() {
		kills.Add(1)
		runJob.Kill()
	}

	// The record is in the store, the job not yet started.
	s3 := startS3(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/record.json") {
				beforeStart.Do(kill)
			}
		})
	})
	job := func(ctx context.Context, payload []byte) ([]byte, error) {
		var event lambdajob.Event
		if err := json.Unmarshal(payload, &event); err != nil {
			return nil, err
		}
		claimed, err := lambdajob.Claim(ctx, s3.Client(), event)
		if errors.Is(err, lambdajob.ErrClaimed) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		started.Add(1)
		return nil, claimed.Succeed(ctx, nil)
	}
	// The job is started, the record does not know it.
	invoke := runtimeapi.InvokeHandler(map[string]func(context.Context, []byte) ([]byte, error){jobFunction: job},
		func(run func(context.Context)) { run(t.Context()) })
	lambda := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		invocations.Add(1)
		invoke.ServeHTTP(w, r)
		afterStart.Do(kill)
	}))
	t.Cleanup(lambda.Close)

	functions := startFunctions(t, s3, lambda.URL)
	runJob = functions[statemachines.RunJobFunction]
	machine, err := asl.Parse([]byte(statemachines.LambdaLoop))
	require.NoError(t, err)
	result, err := sim.Run(t.Context(), machine,
		[]byte(`{"job":"lambda:Invoke","arguments":{"FunctionName":"`+jobFunction+`"},"maxWaitSeconds":120}`),
		sim.Options{
			Clock: sim.NewRealClock(),
			Handlers: map[string]sim.Handler{"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(map[string]sim.LambdaFunction{
				statemachines.RunJobFunction:      call(runJob),
				statemachines.CheckStatusFunction: call(functions[statemachines.CheckStatusFunction]),
			})},
		})
	require.NoError(t, err)

	require.Equal(t, sim.StatusSucceeded, result.Status, "%s: %s", result.Error, result.Cause)
	require.EqualValues(t, 2, kills.Load())
	require.EqualValues(t, 2, invocations.Load(), "the successor of the second dead owner asks again, with the same token")
	require.EqualValues(t, 1, started.Load())
	var failures []string
	for _, e := range result.Events {
		if e.Type == sim.TaskFailed && e.Details.Error != poller.ErrorJobStartInProgress {
			failures = append(failures, e.Details.Error)
		}
	}
	require.Equal(t, []string{"Runtime.ExitError", "Runtime.ExitError"}, failures)
}

func startS3(t *testing.T, middleware func(http.Handler) http.Handler) *embeddeds3.Server {
	t.Helper()
	s, err := embeddeds3.Start(embeddeds3.Options{Middleware: middleware})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.CreateBucket("jobs"))
	return s
}

// startFunctions builds the two Lambda functions and runs them behind a local
// Runtime API, with a short time limit so that leases end soon.
func startFunctions(t *testing.T, s3 *embeddeds3.Server, lambdaURL string) map[string]*runtimeapi.Function {
	t.Helper()
	dir := t.TempDir()
	functions := map[string]*runtimeapi.Function{}
	for name, pkg := range map[string]string{statemachines.RunJobFunction: "runjob", statemachines.CheckStatusFunction: "checkstatus"} {
		binary := filepath.Join(dir, name)
		text, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", binary, "../lambdas/"+pkg).CombinedOutput()
		require.NoError(t, err, "%s", text)
		function, err := runtimeapi.New(runtimeapi.Config{
			Name: name, Binary: binary, Timeout: 3 * time.Second, Log: t.Output(),
			Env: []string{
				"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
				"AWS_ENDPOINT_URL_S3=" + s3.URL(), "AWS_ENDPOINT_URL_LAMBDA=" + lambdaURL,
				poller.EnvBucket + "=jobs", poller.EnvLeaseMargin + "=1",
			},
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, function.Close()) })
		functions[name] = function
	}
	return functions
}

// call is a function behind the Runtime API as a state machine calls it.
func call(f *runtimeapi.Function) sim.LambdaFunction {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		result, err := f.Invoke(ctx, payload)
		if failure, ok := errors.AsType[*runtimeapi.FunctionError](err); ok {
			return nil, &sim.FunctionError{Type: failure.Type, Message: failure.Message}
		}
		return result, err
	}
}
