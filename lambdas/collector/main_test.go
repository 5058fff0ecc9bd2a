package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// asFunction is set where the test binary is the Lambda function.
const asFunction = "COLLECTOR_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if os.Getenv(asFunction) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// invoke runs this package's main behind a Runtime API, and returns what it answers and logs.
func invoke(t *testing.T, payload string, env ...string) (answer, log string, err error) {
	t.Helper()
	var lines bytes.Buffer
	f, err := runtimeapi.New(runtimeapi.Config{
		Name: "jobpoller-collector", Binary: os.Args[0], Timeout: 20 * time.Second, Log: &lines,
		Env: append([]string{asFunction + "=1", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"}, env...),
	})
	require.NoError(t, err)
	out, err := f.Invoke(t.Context(), []byte(payload))
	require.NoError(t, f.Close())
	return string(out), lines.String(), err
}

// A message that is none of ours is to be delivered again, and the log says why.
func TestFunction(t *testing.T) {
	t.Parallel()
	answer, log, err := invoke(t, `{"Records": [{"messageId": "m-1", "eventSource": "aws:sqs", "body": "hunter2"}]}`,
		"JOBPOLLER_TABLE=records", "JOBPOLLER_QUEUE_URL=https://sqs.us-east-1.amazonaws.com/123456789012/waits")
	require.NoError(t, err)
	require.JSONEq(t, `{"batchItemFailures": [{"itemIdentifier": "m-1"}]}`, answer)
	require.Contains(t, log, `"messageId":"m-1","error":"JobPoller.InvalidRequest","reason":"the message is none of run-job or the collector`)
	require.Contains(t, log, `"message":"collector","answered":0,"gone":0,"requeued":0,"postponed":0,"outdated":0,"unknownEvents":0,"failed":1`)
	require.NotContains(t, log, "hunter2")
}

// A function without a queue fails its invocations, so that no message is lost.
func TestFunctionWithoutAQueue(t *testing.T) {
	t.Parallel()
	_, _, err := invoke(t, `{"Records": []}`, "JOBPOLLER_TABLE=records")
	var failure *runtimeapi.FunctionError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, handler.ErrorConfiguration, failure.Type)
	require.Contains(t, failure.Message, "set JOBPOLLER_QUEUE_URL")
}
