package s3store

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// failure says of an error of the client whether trying again can help. S3 has
// no types for most of its errors, so codes and HTTP statuses decide.
func (s *Store) failure(key startrecord.Key, err error) error {
	hint := s.misconfigured(err)
	if hint == "" {
		return fmt.Errorf("%w: %s: %w", startrecord.ErrUnavailable, s.Location(key), err)
	}
	return fmt.Errorf("%w: %s: %s: %w", startrecord.ErrConfiguration, s.Location(key), hint, err)
}

// misconfigured returns what to do about an error that does not pass by itself,
// and the empty string for one that may.
func (s *Store) misconfigured(err error) string {
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
	switch code := code(err); code {
	case "NoSuchBucket":
		return fmt.Sprintf("bucket %q does not exist; create it or configure another", s.bucket)
	case "NoSuchKey", "RequestTimeout": // the second comes with status 400
		return ""
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return fmt.Sprintf("bucket %q is in another region; set AWS_REGION to it", s.bucket)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken":
		return "the AWS credentials are not valid; renew them"
	case "RequestTimeTooSkewed":
		return "the clock of this machine is wrong; set it"
	}
	switch status := response.HTTPStatusCode(); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("access denied; grant s3:GetObject and s3:PutObject on s3://%s/%s* and s3:ListBucket on the bucket "+
			"(without s3:ListBucket, S3 denies reading a record that does not exist)", s.bucket, s.prefix)
	case status == http.StatusRequestTimeout, status == http.StatusConflict,
		status == http.StatusPreconditionFailed, status == http.StatusTooManyRequests:
		return ""
	case status == http.StatusNotImplemented:
		return "the endpoint does not implement what start records need; use another one"
	case status >= http.StatusInternalServerError:
		return ""
	default:
		return "the request was refused; check the bucket and the endpoint"
	}
}

// incomplete is the error of an answer without what the store relies on.
func (s *Store) incomplete(key startrecord.Key) error {
	return fmt.Errorf("%w: %s: the answer lacks an ETag, Date or Last-Modified header; "+
		"without them neither changes nor leases can be told, so use an endpoint that sends them",
		startrecord.ErrConfiguration, s.Location(key))
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

// conflict reports whether S3 asks to send a write again (409
// ConditionalRequestConflict) since another was under way.
func conflict(err error) bool {
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && response.HTTPStatusCode() == http.StatusConflict
}

func code(err error) string {
	if apiError, ok := errors.AsType[smithy.APIError](err); ok {
		return apiError.ErrorCode()
	}
	return ""
}
