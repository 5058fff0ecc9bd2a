// Package awserror tells errors of AWS clients that pass by themselves from
// those that somebody has to do something about.
package awserror

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Mark returns err as startrecord.ErrUnavailable if it may pass by itself, else
// as startrecord.ErrConfiguration with what to do about it. Refused says that
// of the codes and HTTP statuses that the service has of its own, and returns
// the empty string for those that pass.
func Mark(err error, location string, refused func(code string, status int) string) error {
	if todo := hint(err, refused); todo != "" {
		return fmt.Errorf("%w: %s: %s: %w", startrecord.ErrConfiguration, location, todo, err)
	}
	return fmt.Errorf("%w: %s: %w", startrecord.ErrUnavailable, location, err)
}

// hint returns what to do about an error that does not pass by itself, and the
// empty string for one that may.
func hint(err error, refused func(code string, status int) string) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	if credentials(err) {
		return "no usable AWS credentials; configure them or give the function a role"
	}
	// Comes first: the client wraps it in a ResponseError with status 0.
	if _, unanswered := errors.AsType[*smithyhttp.RequestSendError](err); unanswered {
		return ""
	}
	response, answered := errors.AsType[*smithyhttp.ResponseError](err)
	if !answered {
		return "the request could not be made; check the region and the endpoint"
	}
	switch code(err) {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", // of S3
		"UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "MissingAuthenticationTokenException":
		return "the AWS credentials are not valid; renew them"
	case "RequestTimeTooSkewed":
		return "the clock of this machine is wrong; set it"
	}
	switch status := response.HTTPStatusCode(); {
	case status < http.StatusMultipleChoices: // a good answer that was cut
		return ""
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusPreconditionFailed, status == http.StatusTooManyRequests:
		return ""
	case status == http.StatusNotImplemented:
		return "the endpoint does not implement what start records need; use another one"
	case status >= http.StatusInternalServerError:
		return ""
	default:
		return refused(code(err), status)
	}
}

// code returns the code of an error of the service, or the empty string.
func code(err error) string {
	if apiError, ok := errors.AsType[smithy.APIError](err); ok {
		return apiError.ErrorCode()
	}
	return ""
}

// credentials reports whether the client failed to get credentials from another
// service, such as the instance metadata: an operation within the operation.
func credentials(err error) bool {
	operation, ok := errors.AsType[*smithy.OperationError](err)
	if !ok {
		return false
	}
	_, nested := errors.AsType[*smithy.OperationError](operation.Err)
	return nested
}
