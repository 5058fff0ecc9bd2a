package jobs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Failure is what an error of a service call says about the call's effect.
type Failure int

const (
	// Unclear means that the call may have had its effect. A timeout, a lost connection
	// or a fault of the service.
	Unclear Failure = iota
	// Throttled means that the service declined to act now; the call had no effect.
	Throttled
	// Refused means that the service will not act on this request; the call had no
	// effect, and an equal one will have none.
	Refused
	// NotSent means that provably nothing was sent: the server's name was not found, the
	// connection was refused or its handshake failed, or the caller gave up before. An
	// equal call may do better, and does no harm whatever the job's class.
	NotSent
)

var (
	timeoutCode = regexp.MustCompile(`(?i)timed?_?out`)
	throttles   = retry.IsErrorThrottles(retry.DefaultThrottles)
	retryables  = retry.IsErrorRetryables(retry.DefaultRetryables)
)

// WithoutCredentials reports whether an SDK client sent nothing because it got no
// credentials from where it looked last, such as the instance metadata: an
// operation within the operation failed.
func WithoutCredentials(err error) bool {
	operation, ok := errors.AsType[*smithy.OperationError](err)
	if !ok || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	_, nested := errors.AsType[*smithy.OperationError](operation.Err)
	return nested
}

// answered is the error of a service that has answered, such as the AWS SDK's.
type answered interface {
	error
	HTTPStatusCode() int
}

// Classify says what an error of Driver.Start means. It knows the errors of the
// AWS SDK and those that have a method HTTPStatusCode() int; others are taken
// for Unclear, the class that assumes least.
func Classify(err error) Failure {
	if errors.Is(err, ErrArguments) || refusedByClient(err) || WithoutCredentials(err) {
		return Refused
	}
	if notSent(err) {
		return NotSent
	}
	if throttles.IsErrorThrottle(err) == aws.TrueTernary {
		return Throttled
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || timedOut(err) {
		return Unclear
	}
	if response, ok := errors.AsType[answered](err); ok {
		switch code := response.HTTPStatusCode(); {
		case code == http.StatusTooManyRequests || code == http.StatusTooEarly:
			return Throttled
		case code == http.StatusRequestTimeout || code < 400 || code >= 500 || retryable(err):
			return Unclear
		default:
			return Refused
		}
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorFault() == smithy.FaultClient {
		return Refused
	}
	return Unclear
}

// Transient reports whether an error of Driver.Describe says nothing about the
// job, so that an equal call may succeed later: throttling, faults of the
// service, no connection, no answer or half of one, and a caller that gave up.
func Transient(err error) bool {
	if response, ok := errors.AsType[answered](err); ok {
		if code := response.HTTPStatusCode(); code >= 500 || code == http.StatusRequestTimeout {
			return true
		}
	}
	_, unanswered := errors.AsType[*smithyhttp.RequestSendError](err)
	class := Classify(err)
	return unanswered || class == Throttled || class == NotSent || retryable(err) || timedOut(err) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func retryable(err error) bool { return retryables.IsErrorRetryable(err) == aws.TrueTernary }

// timedOut reports whether the service says that it took too long, which some
// call a fault of the caller, such as Glue's OperationTimeoutException: it may
// have acted, or act yet.
func timedOut(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && timeoutCode.MatchString(api.ErrorCode())
}

// refusedByClient reports whether the SDK itself found the input wrong and
// sent nothing.
func refusedByClient(err error) bool {
	_, invalid := errors.AsType[smithy.InvalidParamsError](err)
	_, unserializable := errors.AsType[*smithy.SerializationError](err)
	return invalid || unserializable
}
