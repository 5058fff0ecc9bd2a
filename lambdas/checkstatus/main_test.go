package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// asFunction is set where the test binary is the Lambda function.
const asFunction = "CHECKSTATUS_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(asFunction) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// function runs this package's main behind a Runtime API.
func function(t *testing.T, log *bytes.Buffer, env ...string) *runtimeapi.Function {
	t.Helper()
	f, err := runtimeapi.New(runtimeapi.Config{
		Name: "jobpoller-checkstatus", Binary: os.Args[0], Timeout: 20 * time.Second, Log: log,
		Env: append([]string{
			asFunction + "=1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		}, env...),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// event is the bare context object with the request as the execution's input.
func event(name, request string) []byte {
	return []byte(`{
		"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:M:` + name + `", "StartTime": "2026-11-20T09:30:13Z", "Input": ` + request + `},
		"State": {"Name": "CheckStatus", "EnteredTime": "2026-11-20T09:30:14Z", "RetryCount": 0}
	}`)
}

// runJob starts a job with the handler of the other function and returns it to
// the one who does its work.
func runJob(t *testing.T, storage *embeddeds3.Server, payload []byte) *lambdajob.Job {
	t.Helper()
	events := make(chan lambdajob.Event, 1)
	service := httptest.NewServer(runtimeapi.InvokeHandler(map[string]func(context.Context, []byte) ([]byte, error){
		"work": func(_ context.Context, payload []byte) ([]byte, error) {
			var e lambdajob.Event
			err := json.Unmarshal(payload, &e)
			events <- e
			return nil, err
		},
	}, func(run func(context.Context)) { run(context.Background()) }))
	defer service.Close()
	store, err := s3store.New(storage.Client(), "records", "jobpoller")
	require.NoError(t, err)
	client := builtin.Invoker(aws.Config{
		BaseEndpoint: &service.URL, Region: "us-east-1", HTTPClient: service.Client(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
	registry, err := jobs.NewRegistry(lambdajob.New(client, storage.Client(), "records", "jobpoller/jobs"))
	require.NoError(t, err)
	p, err := handler.New(handler.Config{Store: store, Jobs: registry})
	require.NoError(t, err)
	_, err = p.RunJob(t.Context(), payload)
	require.NoError(t, err)
	job, err := lambdajob.Claim(t.Context(), storage.Client(), <-events)
	require.NoError(t, err)
	return job
}

func TestFunction(t *testing.T) {
	t.Parallel()
	storage, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, storage.Close()) })
	require.NoError(t, storage.CreateBucket("records"))
	var log bytes.Buffer
	f := function(t, &log, "JOBPOLLER_BUCKET=records", "AWS_ENDPOINT_URL_S3="+storage.URL())

	payload := event("done", `{"job": "lambda:Invoke", "arguments": {"FunctionName": "work"}, "maxWaitSeconds": 600}`)
	job := runJob(t, storage, payload)
	var result handler.Result
	out, err := f.Invoke(t.Context(), payload)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &result))
	require.EqualValues(t, "RUNNING", result.Status)
	require.Equal(t, `no acceptor matched: Status = "running"`, result.Reason)
	require.Positive(t, result.WaitSeconds)

	require.NoError(t, job.Succeed(t.Context(), map[string]any{"rows": json.Number("9007199254740993")}))
	out, err = f.Invoke(t.Context(), payload)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, &result))
	require.EqualValues(t, "SUCCEEDED", result.Status)
	require.Contains(t, string(out), `"Result":{"rows":9007199254740993}`)
	again, err := f.Invoke(t.Context(), payload)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again))

	// Names of errors reach the state machine as they are.
	payload = event("failed", `{"job": "lambda:Invoke", "arguments": {"FunctionName": "work"}, "maxWaitSeconds": 600, "endAs": "error"}`)
	require.NoError(t, runJob(t, storage, payload).Fail(t.Context(), "no space left"))
	_, err = f.Invoke(t.Context(), payload)
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.JSONEq(t, `{
		"errorType": "JobPoller.Failed", "errorMessage": "Status == \"failed\" (acceptor 2 of 3): no space left"
	}`, string(failure.Body))

	_, err = f.Invoke(t.Context(), event("unknown", `{}`))
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorStoreUnavailable, failure.Type)
	require.Contains(t, failure.Message, "there is no start record s3://records/jobpoller/arn:aws:states:")

	require.NoError(t, f.Close())
	require.Contains(t, log.String(), `"message":"check-status"`)
	require.Contains(t, log.String(), `"status":"SUCCEEDED"`)
	// What a job said is for the execution, and not for the log.
	require.Contains(t, log.String(), `"status":"FAILED"`)
	require.NotContains(t, log.String(), "no space left")
}

// A function that is not set up says so to its callers and in its log.
func TestFunctionWithoutABucket(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := function(t, &log, "JOBPOLLER_RETENTION_DAYS=1")
	_, err := f.Invoke(t.Context(), event("n", `{}`))
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorConfiguration, failure.Type)
	require.NoError(t, f.Close())
	require.Contains(t, log.String(), "environment variable JOBPOLLER_BUCKET or JOBPOLLER_TABLE is required, but neither is set")
	require.Contains(t, log.String(), "JOBPOLLER_RETENTION_DAYS must be a whole number from 15 to 3650")
}
