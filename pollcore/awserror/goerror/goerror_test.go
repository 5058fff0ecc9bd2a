package goerror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// claims is an error that says whether it may be retried.
type claims struct {
	smithy.GenericAPIError

	retryable bool
}

func (c *claims) RetryableError() bool { return c.retryable }

// twice is an error with two codes, as services have that spoke the query protocol.
type twice struct{ smithy.GenericAPIError }

func (*twice) Unwrap() error { return &smithy.GenericAPIError{Code: "LimitExceededException"} }

func api(code string, fault smithy.ErrorFault) error {
	return &smithy.GenericAPIError{Code: code, Message: "no", Fault: fault}
}

func TestClassifyErrors(t *testing.T) {
	t.Parallel()
	failed := errors.New("no")
	sent := func(err error) error { return &smithyhttp.RequestSendError{Err: err} }
	tests := []struct {
		name string
		err  error
		want awserror.Class
	}{
		{"none", nil, awserror.Unknown},
		{"any other", failed, awserror.Unknown},
		{"throttling code", api("ThrottlingException", smithy.FaultClient), awserror.Throttled},
		{"throttling code with a status of a fault", answer(503, api("SlowDown", smithy.FaultServer)), awserror.Throttled},
		{"throttling code with a status of a refusal", answer(403, api("RequestThrottled", smithy.FaultClient)), awserror.Throttled},
		{"throttling shape with another code", &twice{smithy.GenericAPIError{Code: "TooMany"}}, awserror.Throttled},
		{"modeled throttling", &types.ProvisionedThroughputExceededException{}, awserror.Throttled},
		{"429", answer(429, failed), awserror.Throttled},
		{"429 of a service that is unavailable", answer(429, api("ServiceUnavailableException", smithy.FaultServer)), awserror.Throttled},
		{"425", answer(425, failed), awserror.Throttled},
		{"408", answer(408, failed), awserror.Unclear},
		{"timeout of Glue", answer(400, api("OperationTimeoutException", smithy.FaultClient)), awserror.Unclear},
		{"argument that is a timeout", answer(400, api("InvalidOriginReadTimeout", smithy.FaultClient)), awserror.Refused},
		{"modeled fault", &types.InternalServerError{}, awserror.Fault},
		{"fault without a status", api("Broken", smithy.FaultServer), awserror.Fault},
		{"fault with the status of a refusal", answer(400, api("InternalServerException", smithy.FaultServer)), awserror.Fault},
		{"500", answer(500, api("InternalFailure", smithy.FaultUnknown)), awserror.Fault},
		{"502", answer(502, failed), awserror.Fault},
		{"503", answer(503, failed), awserror.Fault},
		{"504", answer(504, failed), awserror.Fault},
		{"599", answer(599, failed), awserror.Fault},
		{"501", answer(501, api("NotImplemented", smithy.FaultServer)), awserror.Refused},
		{"505", answer(505, failed), awserror.Refused},
		{"400", answer(400, api("ValidationException", smithy.FaultClient)), awserror.Refused},
		{"409", answer(409, failed), awserror.Refused},
		{"conditional write of S3", answer(409, api("ConditionalRequestConflict", smithy.FaultClient)), awserror.Throttled},
		{"modeled refusal", &types.ResourceNotFoundException{}, awserror.Refused},
		{"200 that cannot be read", answer(200, failed), awserror.Unknown},
		{"200 that was cut off", answer(200, fmt.Errorf("read body: %w", io.ErrUnexpectedEOF)), awserror.Unclear},
		{"404 that was cut off", answer(404, fmt.Errorf("read body: %w", io.ErrUnexpectedEOF)), awserror.Unclear},
		{"302", answer(302, failed), awserror.Unknown},
		{"deadline of a call", context.DeadlineExceeded, awserror.Unclear},
		{"deadline as the SDK wraps it", &smithy.CanceledError{Err: context.DeadlineExceeded}, awserror.Unclear},
		{"canceled", context.Canceled, awserror.Ended},
		{"canceled as the SDK wraps it", &smithy.CanceledError{Err: context.Canceled}, awserror.Ended},
		{"says that it may be retried", answer(403, &claims{smithy.GenericAPIError{Code: "X"}, true}), awserror.Unclear},
		{"says that it must not be retried", answer(500, &claims{smithy.GenericAPIError{Code: "Throttling"}, false}), awserror.Unknown},
		{"host not found", sent(&net.DNSError{IsNotFound: true}), awserror.NotSent},
		{"name server down", &net.DNSError{IsTemporary: true}, awserror.NotSent},
		{"connection refused", sent(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), awserror.NotSent},
		{"connection to a proxy refused", &net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}, awserror.NotSent},
		{"connection reset while reading", answer(0, sent(&net.OpError{Op: "read", Err: syscall.ECONNRESET})), awserror.Unclear},
		{"connection broken while writing", sent(&net.OpError{Op: "write", Err: syscall.EPIPE}), awserror.Unclear},
		{"connection closed before an answer", &url.Error{Op: "Get", Err: io.EOF}, awserror.Unclear},
		{"network timeout", &net.OpError{Op: "read", Err: timeoutError{}}, awserror.Unclear},
		{"missing member", smithy.InvalidParamsError{}, awserror.Refused},
		{"member that cannot be sent", &smithy.SerializationError{Err: failed}, awserror.Refused},
		{"marked", goerror.Mark(awserror.Unclear, answer(409, failed)), awserror.Unclear},
		{"marked, and refused by the client", goerror.Mark(awserror.Unclear, &smithy.SerializationError{Err: failed}), awserror.Unclear},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, goerror.Classify(tt.err))
			require.Equal(t, tt.want.Passes(), goerror.Passes(tt.err))
			if tt.err != nil {
				wrapped := &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "DescribeExport", Err: tt.err}
				require.Equal(t, tt.want, goerror.Classify(wrapped))
			}
		})
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// TestWhatTheSDKRetriesPasses keeps the table complete when the SDK's lists grow.
func TestWhatTheSDKRetriesPasses(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, sdkretry.DefaultThrottleErrorCodes)
	for code := range sdkretry.DefaultThrottleErrorCodes {
		require.Equal(t, awserror.Throttled, awserror.ClassifyAnswer(400, code), code)
	}
	for code := range sdkretry.DefaultRetryableErrorCodes {
		require.Equal(t, awserror.Unclear, awserror.ClassifyAnswer(400, code), code)
	}
	retries := sdkretry.IsErrorRetryables(sdkretry.DefaultRetryables)
	for status := range 600 {
		err := answer(status, errors.New("no"))
		if retries.IsErrorRetryable(err) == aws.TrueTernary {
			require.True(t, goerror.Passes(err), status)
		}
		if status != 0 {
			require.Equal(t, awserror.ClassifyAnswer(status, ""), goerror.Classify(err), status)
			require.Equal(t, awserror.ClassifyAnswer(status, ""), awserror.ClassifyName(fmt.Sprintf("States.Http.StatusCode.%d", status), ""), status)
		}
	}
}

func TestCodeIsThatOfTheService(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SlowDown", goerror.Code(answer(503, api("SlowDown", smithy.FaultServer))))
	require.Empty(t, goerror.Code(errors.New("no")))
	require.Empty(t, goerror.Code(nil))
}

func TestMarkKeepsTheErrorAndItsText(t *testing.T) {
	t.Parallel()
	cause := errors.New("no")
	err := goerror.Mark(awserror.NotSent, cause)
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "no")
}
