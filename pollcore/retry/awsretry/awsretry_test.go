package awsretry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/retry"
	"github.com/jobpoller/jobpoller/pollcore/retry/awsretry"
)

func api(code string, fault smithy.ErrorFault) error {
	return &smithy.GenericAPIError{Code: code, Message: "no", Fault: fault}
}

func withStatus(status int, err error) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
}

// claims is an error that says whether it may be retried.
type claims struct {
	smithy.GenericAPIError

	retryable bool
}

func (c *claims) RetryableError() bool { return c.retryable }

func TestClassify(t *testing.T) {
	t.Parallel()
	var (
		server   = retry.RetryError(retry.ServerSide)
		client   = retry.RetryError(retry.ClientSide)
		throttle = retry.RetryError(retry.Throttling)
		timeout  = retry.RetryError(retry.Timeout)
		never    = retry.TerminateAndFail
	)
	tests := []struct {
		name string
		err  error
		want retry.Directive
		ok   bool
	}{
		{"throttling code", api("ThrottlingException", smithy.FaultClient), throttle, true},
		{"throttling code with a server status", withStatus(503, api("SlowDown", smithy.FaultServer)), throttle, true},
		{"modeled throttling", &types.ProvisionedThroughputExceededException{}, throttle, true},
		{"too many requests", withStatus(429, errors.New("wait")), throttle, true},
		{"deadline of a call", context.DeadlineExceeded, timeout, true},
		{"deadline as the SDK wraps it", &smithy.CanceledError{Err: context.DeadlineExceeded}, timeout, true},
		{"network timeout", &net.OpError{Op: "read", Err: timeoutError{}}, timeout, true},
		{"request timeout code", api("RequestTimeout", smithy.FaultClient), timeout, true},
		{"request timeout status", withStatus(408, errors.New("late")), timeout, true},
		{"canceled", context.Canceled, never, true},
		{"canceled as the SDK wraps it", &smithy.CanceledError{Err: context.Canceled}, never, true},
		{"claims to be retryable, server", &claims{smithy.GenericAPIError{Code: "X", Fault: smithy.FaultServer}, true}, server, true},
		{"claims to be retryable, client", &claims{smithy.GenericAPIError{Code: "X", Fault: smithy.FaultClient}, true}, client, true},
		{"claims not to be retryable", withStatus(500, &claims{smithy.GenericAPIError{Code: "Throttling"}, false}), never, true},
		{"modeled server fault", &types.InternalServerError{}, server, true},
		{"500", withStatus(500, api("InternalFailure", smithy.FaultUnknown)), server, true},
		{"504", withStatus(504, errors.New("gateway")), server, true},
		{"501 is for good", withStatus(501, api("NotImplemented", smithy.FaultServer)), never, false},
		{"client fault", withStatus(400, api("ValidationException", smithy.FaultClient)), never, false},
		{"modeled client fault", &types.ResourceNotFoundException{}, never, false},
		{"connection refused", &net.OpError{Op: "dial", Err: errors.New("refused")}, client, true},
		{"request not sent", &smithyhttp.RequestSendError{Err: errors.New("reset")}, client, true},
		{"response cut off", fmt.Errorf("read body: %w", io.ErrUnexpectedEOF), client, true},
		{"no such host", &smithyhttp.RequestSendError{Err: &net.DNSError{IsNotFound: true}}, never, true},
		{"name server down", &net.DNSError{IsTemporary: true}, client, true},
		{"any other", errors.New("bug"), never, false},
		{"none", nil, never, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, ok := awsretry.Classify(tt.err)
			require.Equal(t, tt.ok, ok)
			if tt.ok {
				require.Equal(t, tt.want, d)
			}
			if tt.err == nil {
				require.Equal(t, retry.TerminateAndSucceed, awsretry.StandardPolicy(1, nil))
				return
			}
			wrapped := &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "DescribeExport", Err: tt.err}
			require.Equal(t, tt.want, awsretry.StandardPolicy(0, error(wrapped)))
			_, again := tt.want.Reason()
			require.Equal(t, again, awsretry.Transient(wrapped))
		})
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// The SDK's list of throttling codes may grow.
func TestThrottleCodesAreThoseOfTheSDK(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, sdkretry.DefaultThrottleErrorCodes)
	for code := range sdkretry.DefaultThrottleErrorCodes {
		d, _ := awsretry.Classify(api(code, smithy.FaultUnknown))
		require.Equal(t, retry.RetryError(retry.Throttling), d, code)
	}
	for code := range sdkretry.DefaultRetryableErrorCodes {
		d, _ := awsretry.Classify(api(code, smithy.FaultUnknown))
		require.Equal(t, retry.RetryError(retry.Timeout), d, code)
	}
}

func TestPolicyWithClassifiers(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	policy := awsretry.PolicyWith[int](
		func(err error) (retry.Directive, bool) {
			return retry.RetryError(retry.ServerSide), errors.Is(err, busy)
		},
		func(error) (retry.Directive, bool) { return retry.RetryError(retry.Timeout), true },
	)
	require.Equal(t, retry.TerminateAndSucceed, policy(1, nil))
	require.Equal(t, retry.RetryError(retry.ServerSide), policy(0, busy))
	require.Equal(t, retry.RetryError(retry.Timeout), policy(0, errors.New("other")))
	require.Equal(t, retry.RetryError(retry.Throttling), policy(0, api("SlowDown", smithy.FaultServer)), "the standard opinion comes first")
	require.Equal(t, retry.TerminateAndFail, awsretry.PolicyWith[int]()(0, busy))
}

// client talks to a server that answers with the statuses in turn and with
// success after them.
func client(t *testing.T, statuses ...int) (c *dynamodb.Client, calls *int) {
	t.Helper()
	calls = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		*calls++
		if *calls <= len(statuses) {
			w.WriteHeader(statuses[*calls-1])
			_, _ = io.WriteString(w, `{"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slower"}`)
			return
		}
		_, _ = io.WriteString(w, `{"ExportDescription": {"ExportStatus": "COMPLETED"}}`)
	}))
	t.Cleanup(server.Close)
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{},
	}), calls
}

// TestRealClient runs a real SDK client against a server.
func TestRealClient(t *testing.T) {
	t.Parallel()
	strategy, err := retry.NewStandardStrategy(retry.WithBackoff(retry.ExponentialBackoff{Base: time.Microsecond, Max: time.Microsecond}))
	require.NoError(t, err)
	ddb, calls := client(t, 400, 500)
	describe := func(ctx context.Context) (*dynamodb.DescribeExportOutput, error) {
		return ddb.DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: aws.String("arn:aws:dynamodb:eu-west-1:111122223333:table/T/export/1")})
	}
	out, err := retry.Do(t.Context(), strategy, awsretry.StandardPolicy, describe)
	require.NoError(t, err)
	require.Equal(t, types.ExportStatusCompleted, out.ExportDescription.ExportStatus)
	require.Equal(t, 3, *calls)
}

func TestRealClientWithoutServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	ddb := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{},
	})
	arn := aws.String("arn:aws:dynamodb:eu-west-1:111122223333:table/T/export/1")
	_, err := ddb.DescribeExport(t.Context(), &dynamodb.DescribeExportInput{ExportArn: arn})
	d, ok := awsretry.Classify(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, retry.RetryError(retry.ClientSide), d)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ddb.DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: arn})
	d, ok = awsretry.Classify(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, retry.TerminateAndFail, d)
}
