package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// asFunction is set where the test binary is the Lambda function.
const asFunction = "RUNJOB_TEST_FUNCTION"

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
		Name: "jobpoller-runjob", Binary: os.Args[0], Timeout: 20 * time.Second, Log: log,
		Env: append([]string{
			asFunction + "=1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local",
		}, env...),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

var key = startrecord.Key{
	ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:M:n", Poller: "Work", Scope: "2",
}

// event is what a state machine sends, with the request as its input.
func event(request string) []byte {
	return []byte(`{
		"Context": {"Execution": {"Id": "` + key.ExecutionARN + `", "StartTime": "2026-11-20T09:30:13Z"}},
		"Poller": "Work", "Scope": "2", "Input": ` + request + `
	}`)
}

func TestFunction(t *testing.T) {
	t.Parallel()
	storage, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, storage.Close()) })
	require.NoError(t, storage.CreateBucket("records"))
	started := make(chan string, 2)
	service := httptest.NewServer(runtimeapi.InvokeHandler(map[string]func(context.Context, []byte) ([]byte, error){
		"work": func(_ context.Context, payload []byte) ([]byte, error) {
			started <- string(payload)
			return nil, nil
		},
	}, func(run func(context.Context)) { run(context.Background()) }))
	t.Cleanup(service.Close)

	var log bytes.Buffer
	f := function(t, &log, "JOBPOLLER_BUCKET=records", "JOBPOLLER_PREFIX=p", "AWS_ENDPOINT_URL_S3="+storage.URL(), "AWS_ENDPOINT_URL_LAMBDA="+service.URL)
	const request = `{"job": "lambda:Invoke", "arguments": {"FunctionName": "work", "Payload": {"secret": "hunter2"}}, "maxWaitSeconds": 3600, "initialDelay": 900}`
	out, err := f.Invoke(t.Context(), event(request))
	require.NoError(t, err)
	require.Regexp(t, `^\{"status":"RUNNING","waitSeconds":(900|89\d),"startedAt":"20[^"]*Z","elapsedSeconds":\d,"job":\{"FunctionName":"work",`+
		`"StatusBucket":"records","StatusKey":"p/jobs/[0-9a-f]{36}\.json"\},"reason":"the job has started"\}$`, string(out))
	require.Contains(t, <-started, `"input":{"secret":"hunter2"}`)

	store, err := s3store.New(storage.Client(), "records", "p")
	require.NoError(t, err)
	stored, err := store.Load(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusStarted, stored.Record.Status)
	require.LessOrEqual(t, stored.Record.LeaseSeconds, 25, "what is left of the time limit, and the margin")
	require.Greater(t, stored.Record.LeaseSeconds, 5)
	object, err := storage.Client().GetObject(t.Context(), &s3.GetObjectInput{
		Bucket: aws.String("records"), Key: aws.String("p/" + key.Path()),
	})
	require.NoError(t, err)
	var record bytes.Buffer
	_, err = record.ReadFrom(object.Body)
	require.NoError(t, err)
	require.NoError(t, object.Body.Close())
	require.NotContains(t, record.String(), "hunter2")

	_, err = f.Invoke(t.Context(), event(request))
	require.NoError(t, err)
	require.Empty(t, started, "the job was started once")

	// Names of errors reach the state machine as they are.
	_, err = f.Invoke(t.Context(), event(`{"job": "lambda:Invok", "maxWaitSeconds": 60}`))
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorUnknownJob, failure.Type)
	require.Contains(t, failure.Message, `did you mean "lambda:Invoke"?`)
	require.Contains(t, string(failure.Body), `"errorType":"JobPoller.UnknownJob"`)

	require.NoError(t, f.Close())
	require.Contains(t, log.String(), `"message":"run-job","execution":"`+key.ExecutionARN+`","poller":"Work","scope":"2","job":"lambda:Invoke","id":"work `)
	require.NotContains(t, log.String(), "hunter2")
	// An error is logged by our own words; its message may quote what a service said.
	require.Contains(t, log.String(), `"error":"JobPoller.UnknownJob","reason":"unknown job: \"lambda:Invok\" is not a job of this function`)
	require.NotContains(t, log.String(), "errorMessage")
}

// A function that is not set up says so to its callers and in its log.
func TestFunctionWithoutABucket(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := function(t, &log)
	_, err := f.Invoke(t.Context(), event(`{}`))
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorConfiguration, failure.Type)
	require.NoError(t, f.Close())
	require.Contains(t, log.String(), "environment variable JOBPOLLER_BUCKET or JOBPOLLER_TABLE is required, but neither is set")
}

// A bucket that is not there is no outage: the name of the error says so.
func TestFunctionWithAMissingBucket(t *testing.T) {
	t.Parallel()
	storage, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{{AccessKeyID: "local", SecretAccessKey: "local"}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, storage.Close()) })
	var log bytes.Buffer
	f := function(t, &log, "JOBPOLLER_BUCKET=nowhere", "AWS_ENDPOINT_URL_S3="+storage.URL())
	_, err = f.Invoke(t.Context(), event(`{"job": "lambda:Invoke", "arguments": {"FunctionName": "work"}, "maxWaitSeconds": 60}`))
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorConfiguration, failure.Type)
	require.Contains(t, failure.Message, `bucket "nowhere" does not exist`)
}
