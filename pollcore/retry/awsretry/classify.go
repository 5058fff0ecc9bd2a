package awsretry

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

// throttleCodes are the error codes that AWS SDKs take for throttling
// (aws-sdk-go-v2, DefaultThrottleErrorCodes of package aws/retry).
var throttleCodes = map[string]bool{
	"BandwidthLimitExceeded":                 true,
	"EC2ThrottledException":                  true,
	"LimitExceededException":                 true,
	"PriorRequestNotComplete":                true,
	"ProvisionedThroughputExceededException": true,
	"RequestLimitExceeded":                   true,
	"RequestThrottled":                       true,
	"RequestThrottledException":              true,
	"SlowDown":                               true,
	"ThrottledException":                     true,
	"Throttling":                             true,
	"ThrottlingException":                    true,
	"TooManyRequestsException":               true,
	"TransactionInProgressException":         true,
}

// timeoutCodes are the error codes of a service that waited for the request
// for too long.
var timeoutCodes = map[string]bool{"RequestTimeout": true, "RequestTimeoutException": true}

// Classify judges an error of an SDK call, wrapped or not, by the first of
// these that fits:
//
//   - an error that says of itself that it must not be retried
//     (RetryableError() false), and a call that its caller canceled: fail;
//   - a throttling code of the SDKs, or HTTP status 429: [retry.Throttling];
//   - context.DeadlineExceeded, a network timeout, a request timeout code or
//     HTTP status 408: [retry.Timeout];
//   - an error that says of itself that it may be retried: [retry.ClientSide]
//     if its fault is the client's, else [retry.ServerSide];
//   - HTTP status 500, 502, 503 or 504, or without a status a fault of the
//     server: [retry.ServerSide];
//   - a host name that does not exist: fail; any other failure of the network
//     or of sending the request: [retry.ClientSide].
//
// It returns false for any other error and for nil.
func Classify(err error) (d retry.Directive, ok bool) {
	if err == nil {
		return d, false
	}
	for _, rule := range []func(error) (retry.Directive, bool){final, throttled, timedOut, retryable, serverFault, network} {
		if d, ok := rule(err); ok {
			return d, true
		}
	}
	return d, false
}

func final(err error) (d retry.Directive, ok bool) {
	if r, ok := errors.AsType[retryableError](err); ok && !r.RetryableError() {
		return retry.TerminateAndFail, true
	}
	// The SDK's CanceledError wraps whatever ended the context, a deadline of
	// the call included.
	_, canceled := errors.AsType[*smithy.CanceledError](err)
	canceled = canceled || errors.Is(err, context.Canceled)
	return retry.TerminateAndFail, canceled && !errors.Is(err, context.DeadlineExceeded)
}

func throttled(err error) (d retry.Directive, ok bool) {
	return retry.RetryError(retry.Throttling), throttleCodes[code(err)] || status(err) == 429
}

func timedOut(err error) (d retry.Directive, ok bool) {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return retry.RetryError(retry.Timeout), ok && t.Timeout() || errors.Is(err, context.DeadlineExceeded) ||
		timeoutCodes[code(err)] || status(err) == 408
}

func retryable(err error) (d retry.Directive, ok bool) {
	r, ok := errors.AsType[retryableError](err)
	if !ok || !r.RetryableError() {
		return d, false
	}
	if fault(err) == smithy.FaultClient {
		return retry.RetryError(retry.ClientSide), true
	}
	return retry.RetryError(retry.ServerSide), true
}

func serverFault(err error) (d retry.Directive, ok bool) {
	d = retry.RetryError(retry.ServerSide)
	switch status(err) {
	case 500, 502, 503, 504:
		return d, true
	case 0:
		return d, fault(err) == smithy.FaultServer
	default:
		return d, false
	}
}

func network(err error) (d retry.Directive, ok bool) {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return retry.TerminateAndFail, true
	}
	_, isNet := errors.AsType[net.Error](err)
	sending, isSending := errors.AsType[interface {
		error
		ConnectionError() bool
	}](err)
	return retry.RetryError(retry.ClientSide), isNet || isSending && sending.ConnectionError() || errors.Is(err, io.ErrUnexpectedEOF)
}

// retryableError is an error that knows whether to try again.
type retryableError interface {
	error
	RetryableError() bool
}

// code is the service's error code, or empty.
func code(err error) string {
	if e, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		return e.ErrorCode()
	}
	return ""
}

// status is the HTTP status of the response, or 0.
func status(err error) int {
	if e, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		return e.HTTPStatusCode()
	}
	return 0
}

func fault(err error) smithy.ErrorFault {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorFault()
	}
	return smithy.FaultUnknown
}
