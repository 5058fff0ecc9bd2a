package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// callError is the error of the last call.
type callError struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// newCallError reads an error.
func newCallError(err error) *callError {
	if coded, ok := errors.AsType[smithy.APIError](err); ok {
		return &callError{coded.ErrorCode(), coded.ErrorMessage()}
	}
	if named, ok := errors.AsType[*namedError](err); ok {
		return &callError{Code: named.code}
	}
	if unread, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return &callError{Message: unread.Err.Error()}
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return &callError{Message: fmt.Sprintf("no answer from %s: %s", sent.URL, sent.Err)}
	}
	return &callError{Message: err.Error()}
}

// says is the message, if it says more than the code.
func (e *callError) says() string {
	if strings.EqualFold(strings.ReplaceAll(e.Message, " ", ""), e.Code) {
		return ""
	}
	return e.Message
}

// errorText is the text of an error without the SDK's words about the call. For an
// error of a service it is the code and the message.
func errorText(err error) string {
	e := newCallError(err)
	if e.Code == "" {
		return e.Message
	}
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// withoutSDK is the text of an error without the SDK's words about the failed call
// (service, operation, request id): the code and the message stand in their place.
func withoutSDK(err error) string {
	if call, ok := errors.AsType[*smithy.OperationError](err); ok {
		return strings.ReplaceAll(err.Error(), call.Error(), errorText(call))
	}
	return err.Error()
}

// isRefused tells whether a service refuses what was asked, for a reason of its own.
func isRefused(err error) bool {
	code := newCallError(err).Code
	return code != "" && !awserror.IsPermissionCode(code) && !awserror.IsCredentialsCode(code) && !goerror.Classify(err).Passes()
}

// endReason says why an error of a call ends the command, and what to do. The
// call needs the IAM actions.
func endReason(actions []string, err error) string {
	switch code := newCallError(err).Code; {
	case code == "":
		_, unsent := errors.AsType[*url.Error](err)
		if _, silent := errors.AsType[*noAnswerError](err); unsent || silent {
			return errorText(err) + ". Check the region, --endpoint-url and the network"
		}
		return errorText(err)
	case awserror.IsPermissionCode(code):
		denial, _ := goerror.ReadDenial(err)
		return fmt.Sprintf("access denied: %s (%s)", denial.Advice("", strings.Join(actions, ", ")), errorText(err))
	case awserror.IsCredentialsCode(code):
		return "the credentials are not valid: sign in again, or give --profile (" + errorText(err) + ")"
	case goerror.Classify(err).Passes():
		return "the service does not answer now: try again later (" + errorText(err) + ")"
	default:
		return "unexpected error: " + errorText(err)
	}
}
