package s3store

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/remedy"
)

// failure says of an error of the client whether trying again can help.
func (s *store) failure(key startrecord.Key, err error) error {
	return remedy.Explain(err, s.Location(key), s.findRemedy)
}

// findRemedy says what to do about an answer of S3, which has no types for most of
// its errors.
func (s *store) findRemedy(code string, status int) string {
	switch code {
	case "NoSuchBucket":
		return fmt.Sprintf("bucket %q does not exist; create it, or configure another", s.bucket)
	case "NoSuchKey":
		return ""
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return fmt.Sprintf("bucket %q is in another region; set AWS_REGION to it", s.bucket)
	}
	if strings.HasPrefix(code, "KMS.") {
		return fmt.Sprintf("the KMS key of bucket %q cannot be used; it must exist in the bucket's region and be enabled", s.bucket)
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return fmt.Sprintf("access denied; grant s3:GetObject and s3:PutObject on s3://%s/%s* and s3:ListBucket on the bucket "+
			"(without s3:ListBucket, S3 denies reading a record that does not exist), and with an encryption key kms:GenerateDataKey and kms:Decrypt on it",
			s.bucket, s.prefix)
	}
	return "the request was refused; check the bucket and the endpoint"
}

// incomplete is the error of an answer without what the store relies on.
func (s *store) incomplete(key startrecord.Key) error {
	return fmt.Errorf("%w: %s: the answer lacks an ETag, Date or Last-Modified header; "+
		"changes and leases cannot be judged without them; use an endpoint that sends them",
		startrecord.ErrConfiguration, s.Location(key))
}

// isConflict reports whether S3 asks to send a write again (409
// ConditionalRequestConflict) since another was under way.
func isConflict(err error) bool {
	response, ok := errors.AsType[*smithyhttp.ResponseError](err)
	return ok && response.HTTPStatusCode() == http.StatusConflict
}
