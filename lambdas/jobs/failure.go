package jobs

import (
	"context"
	"errors"

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
)

var (
	throttles  = retry.IsErrorThrottles(retry.DefaultThrottles)
	retryables = retry.IsErrorRetryables(retry.DefaultRetryables)
)

// Classify says what an error of a Driver means. Errors that are not the
// AWS SDK's are taken for Unclear, the class that assumes least.
func Classify(err error) Failure {
	if errors.Is(err, ErrArguments) {
		return Refused
	}
	if throttles.IsErrorThrottle(err) == aws.TrueTernary {
		return Throttled
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Unclear
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		switch code := response.HTTPStatusCode(); {
		case code == 429:
			return Throttled
		case code == 408 || code < 400 || code >= 500:
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

// Transient reports whether an equal call may succeed later: throttling,
// faults of the service, connection errors and timeouts.
func Transient(err error) bool {
	return Classify(err) == Throttled || retryables.IsErrorRetryable(err) == aws.TrueTernary ||
		errors.Is(err, context.DeadlineExceeded)
}
