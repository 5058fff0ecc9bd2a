package awsjob

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Error is what a service answered instead of a result. It implements
// smithy.APIError.
type Error struct {
	// Code is the error's name, without namespace and URI.
	Code string
	// Other is its second name, where it has two: services that spoke the AWS
	// query protocol once have codes beside the names of the model.
	Other   string
	Message string
	// Fault says whose fault the error is.
	Fault smithy.ErrorFault
}

// unknownCode is what the SDK calls an error that does not say its name.
const unknownCode = "UnknownError"

// Error implements error.
func (e *Error) Error() string { return "api error " + e.Code + ": " + e.Message }

// ErrorCode returns Code.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorMessage returns Message.
func (e *Error) ErrorMessage() string { return e.Message }

// ErrorFault returns Fault.
func (e *Error) ErrorFault() smithy.ErrorFault { return e.Fault }

// Unwrap returns an error of the other name, so that errorType acceptors match
// either; nil if there is none.
func (e *Error) Unwrap() error {
	if e.Other == "" || e.Other == e.Code {
		return nil
	}
	return &smithy.GenericAPIError{Code: e.Other, Message: e.Message, Fault: e.Fault}
}

// readError reads an answer whose status is not a success, by the rules of
// the JSON protocols. A body that is no JSON says no name and no message.
func readError(op *catalog.Operation, response *smithyhttp.Response, body []byte) *Error {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"` // in any case
		Code    any    `json:"code"`    // text, or for some services a number that is no name
	}
	_ = json.Unmarshal(body, &said) // what could be read is there
	e := &Error{Message: said.Message}
	code, _ := said.Code.(string)
	for _, name := range []string{response.Header.Get("X-Amzn-Errortype"), said.Type, code, unknownCode} {
		if e.Code = plainCode(name); e.Code != "" {
			break
		}
	}
	if e.Message == "" {
		e.Message = http.StatusText(response.StatusCode)
	}
	switch {
	case response.StatusCode >= http.StatusInternalServerError:
		e.Fault = smithy.FaultServer
	case response.StatusCode >= http.StatusBadRequest:
		e.Fault = smithy.FaultClient
	}
	if op.Service.QueryCompatible {
		code, fault, _ := strings.Cut(response.Header.Get("X-Amzn-Query-Error"), ";")
		if code != "" {
			e.Code, e.Other = code, e.Code
		}
		switch fault {
		case "Sender":
			e.Fault = smithy.FaultClient
		case "Receiver":
			e.Fault = smithy.FaultServer
		}
	}
	for _, known := range op.Errors {
		if known.Shape == "" || known.Code == "" || e.Other != "" {
			continue
		}
		switch e.Code {
		case known.Shape:
			e.Other = known.Code
		case known.Code:
			e.Other = known.Shape
		}
	}
	return e
}

// plainCode strips the namespace before "#" and the URI after ":".
func plainCode(code string) string {
	code, _, _ = strings.Cut(code, ":")
	return code[strings.IndexByte(code, '#')+1:]
}
