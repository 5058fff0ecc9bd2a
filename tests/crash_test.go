//go:build e2e

package tests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/lambdabuild"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const jobFunction = "sample-job"

// A run-job function that is killed does not start the job twice and does not
// stop the machine, wherever it dies and also if its successor dies at the same
// point: the shipped definition, the two Lambda binaries as processes, the S3
// and Lambda protocols.
func TestE2EKilledRunJobStartsTheJobOnce(t *testing.T) {
	t.Parallel()
	binaries := buildFunctions(t)
	for _, call := range []string{"create", "start", "record"} {
		for _, moment := range []string{"before", "after"} {
			for _, deaths := range []int32{1, 2} {
				if call+moment == "recordafter" && deaths == 2 {
					continue // the successor finds the job recorded, and records nothing
				}
				t.Run(fmt.Sprintf("%s %s, %d times", moment, call, deaths), func(t *testing.T) {
					t.Parallel()
					testKilledRunJob(t, binaries, call, moment, deaths)
				})
			}
		}
	}
}

// testKilledRunJob kills the function before or after the effect of the write
// that creates the start record (or takes it over), of the call that starts the
// job, or of the write that records the job.
func testKilledRunJob(t *testing.T, binaries, call, moment string, deaths int32) {
	t.Helper()
	var runJob *runtimeapi.Function
	var kills, started atomic.Int32
	// at carries out one call of the function, which may not live to see it.
	at := func(name string, effect func()) {
		dies := name == call && kills.Add(1) <= deaths
		if dies && moment == "before" {
			runJob.Kill()
			return
		}
		effect()
		if dies {
			runJob.Kill()
		}
	}
	s3 := startS3(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client is gone
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			serve := func() { next.ServeHTTP(w, r) }
			switch own := r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/"+handler.DefaultPoller+"/"); {
			case own && bytes.Contains(body, []byte(`"status":"STARTING"`)):
				at("create", serve)
			case own && bytes.Contains(body, []byte(`"status":"STARTED"`)):
				at("record", serve)
			default:
				serve()
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
	invoke := runtimeapi.InvokeHandler(map[string]func(context.Context, []byte) ([]byte, error){jobFunction: job},
		func(run func(context.Context)) { run(t.Context()) })
	lambda := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at("start", func() { invoke.ServeHTTP(w, r) })
	}))
	t.Cleanup(lambda.Close)

	functions := startFunctions(t, binaries, s3, lambda.URL)
	runJob = functions[statemachines.RunJobFunction]
	machine, err := asl.Parse([]byte(statemachines.LambdaPoller()))
	require.NoError(t, err)
	result, err := sim.Run(t.Context(), machine,
		[]byte(`{"job":"lambda:Invoke","arguments":{"FunctionName":"`+jobFunction+`"},"maxWaitSeconds":120}`),
		sim.Options{
			Clock: sim.NewRealClock(),
			Handlers: map[string]sim.Handler{"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(map[string]sim.LambdaFunction{
				statemachines.RunJobFunction:      localloop.Process(runJob),
				statemachines.CheckStatusFunction: localloop.Process(functions[statemachines.CheckStatusFunction]),
			})},
		})
	require.NoError(t, err)

	require.Equal(t, sim.StatusSucceeded, result.Status, "%s: %s", result.Error, result.Cause)
	require.GreaterOrEqual(t, kills.Load(), deaths)
	require.EqualValues(t, 1, started.Load())
	var failures []string
	for _, e := range result.Events {
		if e.Type == sim.TaskFailed && e.Details().Error != handler.ErrorJobStartInProgress {
			failures = append(failures, e.Details().Error)
		}
	}
	require.Equal(t, slices.Repeat([]string{"Runtime.ExitError"}, int(deaths)), failures)
}

func startS3(t *testing.T, middleware func(http.Handler) http.Handler) *embeddeds3.Server {
	t.Helper()
	s, err := embeddeds3.Start(embeddeds3.Options{Middleware: middleware, Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.CreateBucket("jobs"))
	return s
}

// functionPackages are the packages of the two Lambda functions by name.
var functionPackages = map[string]string{
	statemachines.RunJobFunction: lambdabuild.RunJob, statemachines.CheckStatusFunction: lambdabuild.CheckStatus,
}

// buildFunctions builds the two Lambda functions into a folder.
func buildFunctions(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range functionPackages {
		require.NoError(t, lambdabuild.Executable(t.Context(), "..", pkg, lambdabuild.Host(), filepath.Join(dir, name)))
	}
	return dir
}

// startFunctions runs the two Lambda functions behind a local Runtime API, with
// a short time limit so that leases end soon.
func startFunctions(t *testing.T, binaries string, s3 *embeddeds3.Server, lambdaURL string) map[string]*runtimeapi.Function {
	t.Helper()
	functions := map[string]*runtimeapi.Function{}
	for name := range functionPackages {
		function, err := runtimeapi.New(runtimeapi.Config{
			Name: name, Binary: filepath.Join(binaries, name), Timeout: 3 * time.Second, Log: t.Output(),
			Env: []string{
				"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
				"AWS_ENDPOINT_URL_S3=" + s3.URL(), "AWS_ENDPOINT_URL_LAMBDA=" + lambdaURL,
				handler.EnvBucket + "=jobs", handler.EnvLeaseMargin + "=1",
			},
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, function.Close()) })
		functions[name] = function
	}
	return functions
}
