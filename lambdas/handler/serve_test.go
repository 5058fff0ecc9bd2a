package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// asFunction names the handler that the test binary serves as a Lambda function.
const asFunction = "POLLER_TEST_FUNCTION"

// byName stands before a handler setting of Main.
const byName = "by-name-"

func TestMain(m *testing.M) {
	panics := func(e jobs.Environment) (jobs.Driver, error) { return panicking{sdk: e.AWS}, nil }
	switch os.Getenv(asFunction) {
	case "run-job":
		handler.Serve((*handler.Handler).RunJob, handler.S3Store, httpjob.FromEnvironment, awsjob.Catalogue, panics)
	case "check-status":
		handler.Serve((*handler.Handler).CheckStatus, handler.S3Store, httpjob.FromEnvironment)
	case byName:
		handler.Main(handler.S3Store, panics)
	default:
		os.Exit(m.Run())
	}
}

// panicking is a driver with a defect, of which its SDK client warns.
type panicking struct {
	*service

	sdk aws.Config
}

func (panicking) Idempotency(jobs.Request) jobs.Idempotency { return jobs.Idempotency{} }

func (d panicking) Start(ctx context.Context, _ jobs.Request) (jobs.Ref, error) {
	logging.WithContext(ctx, d.sdk.Logger).Logf(logging.Warn, "%s is odd", "this")
	panic("a defect")
}

// deployment is a function behind a Runtime API that kills it at its time limit, as
// Lambda does, with its records in an S3 server of its own.
type deployment struct {
	*runtimeapi.Function

	log     *bytes.Buffer
	storage *embeddeds3.Server
}

// deploy runs a handler. Middleware comes before its store.
func deploy(t *testing.T, handler string, limit time.Duration, storage *embeddeds3.Server, env ...string) *deployment {
	t.Helper()
	d := &deployment{log: &bytes.Buffer{}, storage: storage}
	var setting string
	if name, ok := strings.CutPrefix(handler, byName); ok {
		handler, setting = byName, name
	}
	var err error
	d.Function, err = runtimeapi.New(runtimeapi.Config{
		Name: handler, Handler: setting, Binary: os.Args[0], Timeout: limit, Log: d.log,
		Env: append(storeVariables(storage), append([]string{
			asFunction + "=" + handler, "AWS_REGION=us-east-1", "JOBPOLLER_BUCKET=records", "AWS_LAMBDA_LOG_FORMAT=JSON",
		}, env...)...),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// storeVariables tell a function where the storage is.
func storeVariables(storage *embeddeds3.Server) []string {
	return []string{"AWS_ENDPOINT_URL_S3=" + storage.URL(), "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"}
}

func newStorage(t *testing.T, middleware func(http.Handler) http.Handler) *embeddeds3.Server {
	t.Helper()
	storage, err := embeddeds3.Start(embeddeds3.Options{
		Middleware: middleware, Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, storage.Close()) })
	require.NoError(t, storage.CreateBucket("records"))
	return storage
}

func (d *deployment) record(t *testing.T) startrecord.Record {
	t.Helper()
	records, err := s3store.New(d.storage.DirectClient(), "records", "jobpoller")
	require.NoError(t, err)
	stored, err := records.Load(t.Context(), key)
	require.NoError(t, err)
	return stored.Record
}

// logged stops the function and returns what it logged.
func (d *deployment) logged(t *testing.T) []map[string]any {
	t.Helper()
	require.NoError(t, d.Close())
	var all []map[string]any
	for line := range strings.Lines(d.log.String()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), "a line is not JSON: %s", line)
		all = append(all, record)
	}
	return all
}

// silent is a server that takes requests and answers none, until the test ends.
func silent(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}

// One main serves the function that Lambda's handler setting names. Run-job starts
// nothing without a request, check-status finds no record, and the collector has no queue.
func TestMainServesTheFunctionOfItsHandler(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"run-job": "a request needs the member \"job\"", "check-status": "no start record", "collector": "this function has no queue", "bootstrap": `must be run-job, check-status or collector, is "bootstrap"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deploy(t, byName+name, patience, newStorage(t, nil))
			_, err := d.Invoke(t.Context(), []byte(bare(`{}`)))
			require.ErrorContains(t, err, want)
		})
	}
}

func httpRequest(url, more string) string {
	return `{"job": "http:Request", "maxWaitSeconds": 1800, "arguments": {"Start": {"Url": "` + url + `/jobs"}, "Describe": {"Url": "` + url + `/jobs/1"}` + more + `}}`
}

// hosts let httpjob call a server on this machine.
func hosts(url string) []string {
	return []string{"JOBPOLLER_HTTP_HOSTS=" + strings.TrimPrefix(url, "http://"), "JOBPOLLER_HTTP_LOOPBACK=true"}
}

// patience is the time limit of functions that something silent keeps waiting. A sixth
// of it is left for the answer, which a slow machine needs.
const patience = 6 * time.Second

// Lambda kills a function at its time limit without a word. So a function whose
// service is silent ends before: with a name that the machine retries where that is
// safe, a line in the log, and a record of what is known. The limit leaves seconds to a
// slow machine; TestInvocationsWithASilentServiceEndBeforeTheirLimit has the short ones.
func TestFunctionsWithASilentServiceEndBeforeTheirLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arguments, failure, metric string
		status                     startrecord.Status
		lease                      int
	}{
		"class none":  {"", handler.ErrorJobStartUnknown, "StartsUnknown", startrecord.StatusUnknown, 0},
		"class token": {`, "IdempotencyKey": true`, handler.ErrorServiceUnavailable, "", startrecord.StatusStarting, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := silent(t)
			d := deploy(t, "run-job", patience, newStorage(t, nil), hosts(url)...)
			_, err := d.Invoke(t.Context(), []byte(bare(httpRequest(url, tt.arguments))))
			var failure *runtimeapi.FunctionError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, tt.failure, failure.Type, failure.Message)
			rec := d.record(t)
			require.Equal(t, tt.status, rec.Status)
			require.Equal(t, tt.lease, rec.LeaseSeconds)
			logged := d.logged(t)
			last := logged[len(logged)-1]
			require.Equal(t, "run-job", last["message"])
			require.Equal(t, tt.failure, last["error"])
			if tt.metric != "" {
				require.Contains(t, logged[0], tt.metric)
			}
		})
	}
	t.Run("describe", func(t *testing.T) {
		t.Parallel()
		url, storage := silent(t), newStorage(t, nil)
		records, err := s3store.New(storage.DirectClient(), "records", "jobpoller")
		require.NoError(t, err)
		now := time.Now().UTC()
		_, err = records.Create(t.Context(), key, startrecord.Record{
			Status: startrecord.StatusStarted, StartedAt: now, ExecutionStartTime: time.Date(2026, 11, 20, 9, 30, 13, 5e8, time.UTC),
			JobRef:  json.RawMessage(`{"DescribeUrl": "` + url + `/jobs/1"}`),
			Request: json.RawMessage(`{"job": "http:Request", "maxWaitSeconds": 1800, "waiterName": "W", "waiter": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}`),
		})
		require.NoError(t, err)
		d := deploy(t, "check-status", patience, storage, hosts(url)...)
		_, err = d.Invoke(t.Context(), []byte(bare("{}")))
		var failure *runtimeapi.FunctionError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, handler.ErrorServiceUnavailable, failure.Type, failure.Message)
		logged := d.logged(t)
		require.Contains(t, logged[0], "Checks")
		require.Equal(t, "describe http:Request: no answer in time", logged[len(logged)-1]["reason"])
	})
}

func TestFunctionsWithASilentStoreEndBeforeTheirLimit(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	stuck := false
	over := make(chan struct{})
	storage := newStorage(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			wait := stuck
			mu.Unlock()
			if wait {
				select {
				case <-r.Context().Done():
				case <-over:
				}
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	t.Cleanup(func() { close(over) })
	mu.Lock()
	stuck = true
	mu.Unlock()
	for function, operation := range map[string]string{"run-job": "PutObject", "check-status": "GetObject"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			d := deploy(t, function, patience, storage, hosts("http://127.0.0.1:1")...)
			_, err := d.Invoke(t.Context(), []byte(bare(httpRequest("http://127.0.0.1:1", ""))))
			var failure *runtimeapi.FunctionError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, handler.ErrorStoreUnavailable, failure.Type, failure.Message)
			logged := d.logged(t)
			require.Equal(t, function, logged[len(logged)-1]["message"])
			require.Equal(t, "start record store unavailable; S3 "+operation+" no answer in time", logged[len(logged)-1]["reason"])
		})
	}
}

// Nobody listens at port 1, so nothing is sent. Glue protects no start, and yet the
// next call may try again.
func TestStartsThatWereNotSentAreRetriedInEveryClass(t *testing.T) {
	t.Parallel()
	d := deploy(t, "run-job", 10*time.Second, newStorage(t, nil), append(hosts("http://127.0.0.1:1"), "AWS_ENDPOINT_URL_GLUE=http://127.0.0.1:1")...)
	for range 2 {
		_, err := d.Invoke(t.Context(), []byte(bare(`{"job": "glue:StartJobRun", "maxWaitSeconds": 1800, "arguments": {"JobName": "nightly"}}`)))
		var failure *runtimeapi.FunctionError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, handler.ErrorServiceUnavailable, failure.Type, failure.Message)
		require.Contains(t, failure.Message, "glue:StartJobRun has not started: nothing was sent")
		require.Equal(t, startrecord.StatusFailed, d.record(t).Status)
	}
	logged := d.logged(t)
	require.Equal(t, "glue:StartJobRun has not started: nothing was sent; Glue StartJobRun", logged[len(logged)-1]["reason"])
}

// A wrong environment is the answer to each invocation, under a name that no Retry
// takes. A process that ended would be Runtime.ExitError, which the shipped machines
// retry six times.
func TestFunctionsThatAreNotSetUpSaySo(t *testing.T) {
	t.Parallel()
	for _, function := range []string{"run-job", "check-status"} {
		d := deploy(t, function, 5*time.Second, newStorage(t, nil), "JOBPOLLER_BUCKET=", "JOBPOLLER_MAX_WAIT_SECONDS=soon")
		for range 2 {
			_, err := d.Invoke(t.Context(), []byte(bare(request)))
			var failure *runtimeapi.FunctionError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, handler.ErrorConfiguration, failure.Type)
			require.Contains(t, failure.Message, "environment variable JOBPOLLER_BUCKET is required, but not set")
			require.Contains(t, failure.Message, `JOBPOLLER_MAX_WAIT_SECONDS must be a whole number from 1 to 31536000, is "soon"`)
		}
		logged := d.logged(t)
		require.Len(t, logged, 2)
		require.Equal(t, "ERROR", logged[0]["level"])
		require.Contains(t, logged[0]["reason"], "JOBPOLLER_BUCKET")
	}
}

// Each line has the form that the Lambda service filters by, and the request that
// it belongs to: those of the handlers, of the runtime and of the AWS SDK.
func TestLogsOfFunctions(t *testing.T) {
	t.Parallel()
	d := deploy(t, "run-job", 5*time.Second, newStorage(t, nil), "AWS_LAMBDA_LOG_LEVEL=DEBUG", "JOBPOLLER_METRICS_NAMESPACE=none")
	_, err := d.Invoke(t.Context(), []byte(bare(`{"job": "glue:StartJobRun", "maxWaitSeconds": 1800, "argument": "`+secret+`"}`)))
	require.Error(t, err)
	_, err = d.Invoke(t.Context(), []byte(bare(`{"job": "test:Job", "maxWaitSeconds": 1800}`)))
	require.Error(t, err)
	seen := map[string]bool{}
	var ran []string
	ids := map[any]bool{}
	for _, record := range d.logged(t) {
		require.NotEmpty(t, record["timestamp"])
		require.NotEmpty(t, record["level"])
		message, _ := record["message"].(string)
		seen[message] = true
		switch message {
		case "run-job":
			ids[record["requestId"]] = true
			if record["level"] == "WARN" {
				require.Equal(t, `/Execution/Input/argument: a request has no such member (did you mean "arguments"?)`, record["reason"])
			}
		case "AWS SDK":
			require.Equal(t, "WARN", record["level"])
			require.Equal(t, "this is odd", record["text"])
			ids[record["requestId"]] = true
		case "runtime":
			for _, member := range []string{"text", "error", "stack"} {
				text, _ := record[member].(string)
				ran = append(ran, text)
			}
		case "panic":
			require.Equal(t, arn, record["execution"])
			require.Contains(t, record["stack"], "panicking.Start")
		}
	}
	require.Equal(t, map[string]bool{"run-job": true, "AWS SDK": true, "runtime": true, "panic": true}, seen)
	require.Contains(t, strings.Join(ran, "\n"), "serve_test.go")
	require.NotContains(t, d.log.String(), "a defect")
	require.Len(t, ids, 2)
	require.NotContains(t, ids, nil)

	for _, variables := range [][]string{{"AWS_LAMBDA_LOG_LEVEL=ERROR"}, {"AWS_LAMBDA_LOG_LEVEL=DEBUG", "JOBPOLLER_LOG_LEVEL=error"}} {
		quiet := deploy(t, "run-job", 5*time.Second, newStorage(t, nil), variables...)
		_, err = quiet.Invoke(t.Context(), []byte(bare(`{}`)))
		require.Error(t, err)
		require.Empty(t, quiet.logged(t))
	}

	text := deploy(t, "run-job", 5*time.Second, newStorage(t, nil), "AWS_LAMBDA_LOG_FORMAT=Text")
	_, err = text.Invoke(t.Context(), []byte(bare(`{}`)))
	require.Error(t, err)
	require.NoError(t, text.Close())
	require.Regexp(t, `^timestamp=\S+ level=WARN message=run-job .*error=JobPoller.InvalidRequest reason="/Execution/Input: a request needs the member .*" requestId=[0-9a-f-]{36}\n$`, text.log.String())
}
