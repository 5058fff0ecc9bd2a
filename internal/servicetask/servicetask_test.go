package servicetask_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// service answers requests as a script says, one answer after the other and the last
// for good, and notes them. An answer is a status with JSON, "lost" for a connection
// that breaks, or "silent" for one that says nothing.
type service struct {
	answers  []string
	requests []string
	began    time.Time
}

var errLost = errors.New("connection reset by peer")

// Do implements aws.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	body := []byte("{}")
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if operation == "" {
		operation = r.Method + " " + r.URL.Host + r.URL.Path
	}
	s.requests = append(s.requests, fmt.Sprintf("%s %s %s", time.Since(s.began), operation, body))
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	switch answer {
	case "lost":
		return nil, &httpError{errLost}
	case "silent":
		<-r.Context().Done()
		return nil, &httpError{r.Context().Err()}
	}
	var status int
	_, err := fmt.Sscan(answer, &status)
	if err != nil {
		return nil, err
	}
	_, text, _ := strings.Cut(answer, " ")
	header := http.Header{"Content-Type": {"application/x-amz-json-1.1"}, "X-Amzn-Requestid": {"r-1"}}
	if strings.Contains(text, "unknown queue") { // of a service that spoke the query protocol
		header.Set("X-Amzn-Query-Error", "AWS.SimpleQueueService.NonExistentQueue;Sender")
	}
	if strings.Contains(text, "errorType") {
		header.Set("X-Amz-Function-Error", "Unhandled")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// httpError is the error of a connection.
type httpError struct{ error }

func (e *httpError) Unwrap() error         { return e.error }
func (e *httpError) ConnectionError() bool { return true }

// outcome is what became of a Task.
type outcome struct {
	reply    sim.Reply
	err      error
	requests []string
	polled   []string // errors of polls, or "ok"
	left     string   // why a job may run on
	took     time.Duration
}

// runTask does a Task in virtual time; the Task is given up after the limit, if there
// is one.
func runTask(t *testing.T, resource, arguments string, limit time.Duration, answers ...string) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &service{answers: answers, began: began}
		caller := servicetask.New(aws.Config{
			Region: "eu-west-1", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		}, servicetask.Hooks{
			Polled: func(e *catalog.Entry, answer any, err error) {
				require.NotNil(t, e)
				require.Equal(t, err == nil, answer != nil)
				o.polled = append(o.polled, fmt.Sprint(err == nil))
			},
			Left: func(state string, why error) {
				require.Empty(t, o.left)
				o.left = state + ": " + why.Error()
			},
		})
		handler, err := caller.Handler(resource)
		require.NoError(t, err)
		var input any
		require.NoError(t, json.Unmarshal([]byte(arguments), &input))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if limit > 0 {
			defer time.AfterFunc(limit, cancel).Stop()
		}
		o.reply, o.err = handler(ctx, sim.Call{Resource: resource, State: "S", Arguments: input})
		o.requests, o.took = s.requests, time.Since(began)
	})
	return o
}

const (
	querySync = "arn:aws:states:::athena:startQueryExecution.sync"
	started   = `200 {"QueryExecutionId": "q"}`
	running   = `200 {"QueryExecution": {"QueryExecutionId": "q", "Status": {"State": "RUNNING"}}}`
	succeeded = `200 {"QueryExecution": {"QueryExecutionId": "q", "Status": {"State": "SUCCEEDED"}}}`
	failed    = `200 {"QueryExecution": {"QueryExecutionId": "q", "Status": {"State": "FAILED"}}}`
	denied    = `400 {"__type": "AccessDeniedException", "message": "no"}`
	throttled = `400 {"__type": "ThrottlingException", "message": "slow"}`
)

// A Task that ends with its job starts it once, and leaves none behind.
func TestTaskThatEndsWithItsJob(t *testing.T) {
	t.Parallel()
	const start, get, stop = `0s StartQueryExecution {"QueryString":"SELECT 1"}`, `GetQueryExecution {"QueryExecutionId":"q"}`, `StopQueryExecution {"QueryExecutionId":"q"}`
	tests := []struct {
		name     string
		limit    time.Duration
		answers  []string
		requests []string // the last is repeated up to the end if it ends with "..."
		failure  string   // name of the Task's failure, or text of another error
		left     string
		took     time.Duration
	}{
		{
			name: "succeeds", answers: []string{started, running, running, succeeded},
			requests: []string{start, "0s " + get, "1s " + get, "2.5s " + get}, took: 2500 * time.Millisecond,
		},
		{name: "fails", answers: []string{started, failed}, requests: []string{start, "0s " + get}, failure: "States.TaskFailed"},
		{name: "is not started", answers: []string{denied}, requests: []string{start}, failure: "Athena.AmazonAthenaException"},
		{
			name: "an outage passes", answers: []string{started, "lost", throttled, "500 {}", "silent", succeeded},
			requests: []string{start, "0s " + get, "1s " + get, "2.5s " + get, "4.5s " + get, "1m6.5s " + get}, took: 66500 * time.Millisecond,
		},
		{
			name: "may not be described", answers: []string{started, denied, "200 {}"},
			requests: []string{start, "0s " + get, "0s " + stop}, failure: "Athena.AmazonAthenaException",
		},
		{
			name: "may not be described or stopped", answers: []string{started, denied},
			requests: []string{start, "0s " + get, "0s " + stop}, failure: "Athena.AmazonAthenaException", left: "AccessDeniedException",
		},
		{
			name: "is given up", limit: 2 * time.Second, answers: []string{started, running, running, "200 {}"},
			requests: []string{start, "0s " + get, "1s " + get, "2s " + stop}, failure: "context canceled", took: 2 * time.Second,
		},
		{
			name: "is given up during a poll", limit: 2 * time.Second, answers: []string{started, "silent", "200 {}"},
			requests: []string{start, "0s " + get, "2s " + stop}, failure: "context canceled", took: 2 * time.Second,
		},
		{
			name: "is given up, and its stop is not answered", limit: 2 * time.Second, answers: []string{started, running, running, "silent"},
			requests: []string{start, "0s " + get, "1s " + get, "2s " + stop}, failure: "context canceled", left: "deadline exceeded", took: 12 * time.Second,
		},
		{
			name: "is given up during the start call", limit: time.Second, answers: []string{"silent"},
			requests: []string{start}, failure: "Athena.SdkClientException", left: "its start call was cut off, and may have started it", took: time.Second,
		},
		{
			name: "has no id", answers: []string{"200 {}"},
			requests: []string{start}, failure: "QueryExecutionId", left: "QueryExecutionId",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := runTask(t, querySync, `{"QueryString": "SELECT 1"}`, tt.limit, tt.answers...)
			require.Equal(t, tt.requests, o.requests)
			require.Equal(t, tt.took, o.took)
			if tt.left == "" {
				require.Empty(t, o.left)
			} else {
				require.Contains(t, o.left, "S: ")
				require.Contains(t, o.left, tt.left)
			}
			if tt.failure == "" {
				require.NoError(t, o.err)
				require.Equal(t, "SUCCEEDED", o.reply.Output.(map[string]any)["QueryExecution"].(map[string]any)["Status"].(map[string]any)["State"])
				require.Equal(t, "q", o.reply.Submitted.(map[string]any)["QueryExecutionId"])
				return
			}
			require.ErrorContains(t, o.err, tt.failure)
			var ended *sim.TaskError
			if errors.As(o.err, &ended) && len(o.requests) > 1 {
				require.Equal(t, "q", ended.Submitted.(map[string]any)["QueryExecutionId"])
			}
		})
	}
}

// A Task without TimeoutSeconds ends all the same if its service stays away, and stops
// the job if the service is back by then.
func TestOutageEndsATask(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"lost", "silent", throttled} {
		answers := []string{started, running}
		for range 15 * 60 { // more than there is time for
			answers = append(answers, kind)
		}
		o := runTask(t, querySync, `{"QueryString": "SELECT 1"}`, 0, answers...)
		require.ErrorContains(t, o.err, "Athena.", kind)
		require.GreaterOrEqual(t, o.took, 15*time.Minute, kind)
		require.Less(t, o.took, 17*time.Minute, kind)
		require.Contains(t, o.requests[len(o.requests)-1], "StopQueryExecution", kind)
		require.NotEmpty(t, o.left, kind)
		require.Equal(t, "true", o.polled[0])
		require.Len(t, o.polled, len(o.requests)-2, "each describe call is a poll")
		require.NotContains(t, o.polled[1:], "true")
	}
}

// The answer of a plain call is the result of its Task, in its spelling.
func TestTaskThatEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	answer := `200 {"Table": {"TableName": "t", "CreationDateTime": 1795000000.5}}`
	o := runTask(t, "arn:aws:states:::aws-sdk:dynamodb:describeTable", `{"TableName": "t"}`, 0, answer)
	require.NoError(t, o.err)
	require.Equal(t, map[string]any{"Table": map[string]any{"TableName": "t", "CreationDateTime": "2026-11-18T11:06:40.5Z"}}, o.reply.Output)
	require.Empty(t, o.polled)
	o = runTask(t, "arn:aws:states:::aws-sdk:dynamodb:describeTable", `{"TableName": "t"}`, 0, "lost")
	require.ErrorContains(t, o.err, "DynamoDb.SdkClientException")
	require.Len(t, o.requests, 1, "Step Functions repeats no call")
}

// Every job that Step Functions waits for can be waited for here.
func TestEveryJobOfAnIntegration(t *testing.T) {
	t.Parallel()
	caller := servicetask.New(aws.Config{Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}}, servicetask.Hooks{})
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	found := 0
	for _, s := range list {
		service, err := catalog.AWS().Service(s.Key)
		require.NoError(t, err)
		for _, job := range service.Jobs {
			if job.Sync == "" {
				continue
			}
			_, err = caller.Handler("arn:aws:states:::" + job.Sync)
			if job.Sync == "elasticmapreduce:addStep.sync" { // which is no operation of the service
				require.ErrorIs(t, err, servicetask.ErrNotCallable)
				continue
			}
			require.NoError(t, err, job.Sync)
			found++
		}
	}
	require.GreaterOrEqual(t, found, 18)
}

// A job of any length is waited for: the time of an outage counts from the last answer.
func TestLongJobAndAnOutage(t *testing.T) {
	t.Parallel()
	answers := []string{started}
	for range 200 {
		answers = append(answers, running)
	}
	o := runTask(t, querySync, `{"QueryString": "SELECT 1"}`, 0, append(answers, "lost", succeeded)...)
	require.NoError(t, o.err)
	require.Len(t, o.polled, 202)
	require.Greater(t, o.took, 6*time.Minute)

	silent := slices.Concat(answers[:1], strings.Split(strings.Repeat("silent,", 14), ",")[:14])
	o = runTask(t, querySync, `{"QueryString": "SELECT 1"}`, 0, slices.Concat(silent, []string{running}, silent[1:], []string{succeeded})...)
	require.NoError(t, o.err)
	require.Greater(t, o.took, 28*time.Minute)
}

// A job that no call stops is left, and told of.
func TestGivenUpJobThatNothingStops(t *testing.T) {
	t.Parallel()
	o := runTask(t, "arn:aws:states:::emr-serverless:startApplication.sync", `{"ApplicationId": "a"}`, 2*time.Second,
		"200 {}", `200 {"application": {"state": "STARTING"}}`, "silent")
	require.ErrorContains(t, o.err, "context canceled")
	require.Contains(t, o.left, "no call stops what emr-serverless:StartApplication starts")
	require.Len(t, o.requests, 3)
}

// A poll that was cut off has no answer, and is none.
func TestPollOfATaskGivenUp(t *testing.T) {
	t.Parallel()
	o := runTask(t, querySync, `{"QueryString": "SELECT 1"}`, 2*time.Second, started, running, "silent", "200 {}")
	require.Equal(t, []string{"true"}, o.polled)
}

// What a service answers is the failure of the Task, in Step Functions' words. What is
// wrong with the set-up is none: it ends the run.
func TestFailedCalls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ resource, arguments, answer, want string }{
		{
			"aws-sdk:athena:getQueryExecution", `{"QueryExecutionId": "q"}`, `400 {"__type": "InvalidRequestException", "message": "no"}`,
			"Athena.InvalidRequestException: no (Service: Athena, Status Code: 400, Request ID: r-1) (SDK Attempt Count: 1)",
		},
		{
			"aws-sdk:sqs:getQueueUrl", `{"QueueName": "q"}`, `400 {"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "unknown queue"}`,
			"Sqs.QueueDoesNotExistException: unknown queue (Service: Sqs, Status Code: 400, Request ID: r-1) (SDK Attempt Count: 1)",
		},
		{
			"aws-sdk:athena:getQueryExecution", `{"QueryExecutionId": "q"}`, "lost",
			"Athena.SdkClientException: Unable to execute HTTP request: https response error StatusCode: 0, RequestID: , request send failed, connection reset by peer (SDK Attempt Count: 1)",
		},
		{"aws-sdk:athena:getQueryExecution", `{"QueryExecutionId": 7}`, "lost", "arguments of arn:aws:states:::aws-sdk:athena:getQueryExecution: 1:21: /QueryExecutionId: expected a string"},
		{"aws-sdk:athena:getQueryExecution", `{}`, "lost", "arguments of arn:aws:states:::aws-sdk:athena:getQueryExecution: 1:1: GetQueryExecutionInput needs the member QueryExecutionId"},
	} {
		o := runTask(t, "arn:aws:states:::"+tt.resource, tt.arguments, 0, tt.answer)
		require.ErrorContains(t, o.err, tt.want, tt.resource)
		_, failed := errors.AsType[*sim.TaskError](o.err)
		require.Equal(t, len(o.requests) > 0, failed, "what was not sent is no failure of a Task")
	}
}

// Every operation is called where its service has its endpoint, and signed for that
// region, also where nothing is known to wait for.
func TestEndpointsOfServices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ resource, region, host, scope string }{
		{"iam:listUsers", "eu-west-1", "iam.amazonaws.com", "us-east-1/iam"},
		{"iam:listUsers", "cn-north-1", "iam.cn-north-1.amazonaws.com.cn", "cn-north-1/iam"},
		{"iam:getUser", "eu-west-1", "iam.amazonaws.com", "us-east-1/iam"}, // which a waiter polls
		{"cloudfront:listDistributions", "eu-west-1", "cloudfront.amazonaws.com", "us-east-1/cloudfront"},
		{"route53:listHostedZones", "eu-west-1", "route53.amazonaws.com", "us-east-1/route53"},
		{"route53:listHostedZones", "us-gov-west-1", "route53.us-gov.amazonaws.com", "us-gov-west-1/route53"},
		{"budgets:describeBudgets", "eu-west-1", "budgets.amazonaws.com", "us-east-1/budgets"},                                          // of no waiter
		{"globalaccelerator:listAccelerators", "eu-west-1", "globalaccelerator.eu-west-1.amazonaws.com", "eu-west-1/globalaccelerator"}, // likewise
		{"athena:listWorkGroups", "eu-west-1", "athena.eu-west-1.amazonaws.com", "eu-west-1/athena"},
		{"sfn:listStateMachines", "eu-west-1", "states.eu-west-1.amazonaws.com", "eu-west-1/states"},
	} {
		asked := &recorder{}
		caller := servicetask.New(aws.Config{
			Region: tt.region, HTTPClient: asked, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
		}, servicetask.Hooks{})
		resource := "arn:aws:states:::aws-sdk:" + tt.resource
		handler, err := caller.Handler(resource)
		require.NoError(t, err, tt.resource)
		arguments := map[string]any{}
		if tt.resource == "budgets:describeBudgets" {
			arguments["AccountId"] = "123456789012"
		}
		_, err = handler(t.Context(), sim.Call{Resource: resource, State: "S", Arguments: arguments})
		require.Error(t, err)
		require.Equal(t, tt.host, asked.host, tt.resource)
		require.Contains(t, asked.authorization, "/"+tt.scope+"/aws4_request", tt.resource)
	}
}

// recorder notes where a request goes, which is lost.
type recorder struct{ host, authorization string }

// Do implements aws.HTTPClient.
func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	r.host, r.authorization = request.URL.Host, request.Header.Get("Authorization")
	return nil, &httpError{errLost}
}

// What no call does is refused before the run.
func TestTasksThatNoCallDoes(t *testing.T) {
	t.Parallel()
	caller := servicetask.New(aws.Config{Region: "eu-west-1", Credentials: aws.AnonymousCredentials{}}, servicetask.Hooks{})
	for resource, want := range map[string]string{
		"arn:aws:states:::sqs:sendMessage.waitForTaskToken":              "it ends when a task token comes back",
		"arn:aws:states:::ecs:stopTask.sync":                             "the catalogue does not know how ecs:stopTask.sync waits",
		"arn:aws:states:::aws-sdk:athena:stopEverything":                 "jobpoller does not know the operation",
		"arn:aws:states:::aws-sdk:athena:startQueryExecution.sync":       "the catalogue does not know how",
		"arn:aws:states:eu-west-1:123456789012:activity:approve-by-hand": "jobpoller does not know the operation",
	} {
		_, err := caller.Handler(resource)
		require.ErrorIs(t, err, servicetask.ErrNotCallable, resource)
		require.ErrorContains(t, err, want, resource)
	}
}

// The ARN of a function is an invoke: the input is the payload, also a text, and what the
// function returns is the output.
func TestFunctionARN(t *testing.T) {
	t.Parallel()
	const arn = "arn:aws-us-gov:lambda:us-gov-west-1:123456789012:function:f:live"
	for _, test := range []struct {
		input, answer string
		output        any
		err           string
	}{
		{`{"n": 1}`, `200 {"m": 12345678901234567}`, map[string]any{"m": json.Number("12345678901234567")}, ""},
		{`"text"`, `200 "text"`, "text", ""},
		{`null`, `200 null`, nil, ""},
		{`[]`, `200 `, nil, ""},
		{`{}`, `200 {"errorType": "NoLuck"}`, nil, `NoLuck: {"errorType": "NoLuck"}`},
		{`{}`, `200 {"m": 1} and more`, nil, `Lambda.Unknown: The cause could not be determined because Lambda did not return an error type. ` +
			`Returned payload: {"m": 1} and more`},
		{
			`{}`, `429 {"__type": "TooManyRequestsException", "message": "Rate Exceeded."}`, nil,
			"Lambda.TooManyRequestsException: Rate Exceeded. (Service: AWSLambda; Status Code: 429; Error Code: TooManyRequestsException; Request ID: r-1; Proxy: null)",
		},
		{`{}`, `lost`, nil, "Lambda.SdkClientException: "},
	} {
		o := runTask(t, arn, test.input, 0, test.answer)
		if test.err == "" {
			require.NoError(t, o.err)
			require.Equal(t, test.output, o.reply.Output)
		} else {
			require.ErrorContains(t, o.err, test.err)
		}
		require.Equal(t, []string{"0s POST lambda.eu-west-1.amazonaws.com/2015-03-31/functions/" + arn + "/invocations " + strings.ReplaceAll(test.input, " ", "")}, o.requests)
	}
	service, err := servicetask.Service(arn)
	require.NoError(t, err)
	require.Equal(t, "lambda", service)
}

// The failure of a function has the name that the function gave it, and one without a
// name that of Step Functions.
func TestInvokedFunction(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"errorType": "NoLuck", "errorMessage": "today", "trace": ["x:1"]}`: `NoLuck: {"errorType": "NoLuck", "errorMessage": "today", "trace": ["x:1"]}`,
		`{"errorType": "", "errorMessage": "today"}`: "Lambda.Unknown: The cause could not be determined because Lambda did not return an error type. " +
			`Returned payload: {"errorType": "", "errorMessage": "today"}`,
	} {
		o := runTask(t, "arn:aws:states:::lambda:invoke", `{"FunctionName": "f", "Payload": {"n": 1}}`, 0, "200 "+answer)
		require.EqualError(t, o.err, want)
		require.Equal(t, []string{`0s POST lambda.eu-west-1.amazonaws.com/2015-03-31/functions/f/invocations {"n":1}`}, o.requests)
	}
	for answer, want := range map[string]any{
		`{"m": 12345678901234567}`: map[string]any{"m": json.Number("12345678901234567")},
		`{"m": 1} and more`:        `{"m": 1} and more`,
	} {
		o := runTask(t, "arn:aws:states:::lambda:invoke", `{"FunctionName": "f", "Payload": {"n": 1}}`, 0, "200 "+answer)
		require.NoError(t, o.err)
		require.Equal(t, want, o.reply.Output.(map[string]any)["Payload"])
	}
}
