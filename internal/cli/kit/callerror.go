package kit

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// CallError is the error of the last call.
type CallError struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// NewCallError reads an error.
func NewCallError(err error) *CallError {
	if coded, ok := errors.AsType[smithy.APIError](err); ok {
		return &CallError{coded.ErrorCode(), coded.ErrorMessage()}
	}
	if named, ok := errors.AsType[*namedError](err); ok {
		return &CallError{Code: named.code}
	}
	if unread, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return &CallError{Message: unread.Err.Error()}
	}
	if sent, ok := errors.AsType[*url.Error](err); ok {
		return &CallError{Message: fmt.Sprintf("no answer from %s: %s", sent.URL, sent.Err)}
	}
	return &CallError{Message: err.Error()}
}

// Says is the message, if it says more than the code.
func (e *CallError) Says() string {
	if strings.EqualFold(strings.ReplaceAll(e.Message, " ", ""), e.Code) {
		return ""
	}
	return e.Message
}

// ErrorText is the text of an error without the SDK's words about the call. For an
// error of a service it is the code and the message.
func ErrorText(err error) string {
	e := NewCallError(err)
	if e.Code == "" {
		return e.Message
	}
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// WithoutSDK is the text of an error without the SDK's words about the failed call
// (service, operation, request id): the code and the message stand in their place.
func WithoutSDK(err error) string {
	if call, ok := errors.AsType[*smithy.OperationError](err); ok {
		return strings.ReplaceAll(err.Error(), call.Error(), ErrorText(call))
	}
	return err.Error()
}

// adviseGrant says which permission lacks where a call is denied.
func adviseGrant(actions []string, err error) string {
	denial, _ := goerror.ReadDenial(err)
	return "access denied: " + denial.Advice("", strings.Join(actions, ", "))
}

// EndReason says why an error of a call ends the command, and what to do. The
// call needs the IAM actions.
func EndReason(actions []string, err error) string {
	switch code := NewCallError(err).Code; {
	case code == "":
		_, unsent := errors.AsType[*url.Error](err)
		if _, silent := errors.AsType[*noAnswerError](err); unsent || silent {
			return ErrorText(err) + ". Check the region, --endpoint-url and the network"
		}
		return ErrorText(err)
	case awserror.IsPermissionCode(code):
		return fmt.Sprintf("%s (%s)", adviseGrant(actions, err), ErrorText(err))
	case awserror.IsCredentialsCode(code):
		return "the credentials are not valid: sign in again, or give --profile (" + ErrorText(err) + ")"
	case goerror.Classify(err).Passes():
		return "the service does not answer now: try again later (" + ErrorText(err) + ")"
	default:
		return "unexpected error: " + ErrorText(err)
	}
}
