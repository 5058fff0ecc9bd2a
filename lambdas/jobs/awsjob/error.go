package awsjob

import (
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
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

// readError reads an answer whose status is not a success.
func readError(op *catalog.Operation, response *smithyhttp.Response, body []byte) *Error {
	var said *smithy.GenericAPIError
	switch chooseProtocol(op.Service) {
	case catalog.AWSJSON, catalog.RESTJSON:
		said = awscall.ReadRefusal(response, body)
	case catalog.CBOR:
		said = readCBORRefusal(response, body)
	default:
		said = readXMLRefusal(op, response, body)
	}
	e := &Error{Code: said.Code, Message: said.Message, Fault: said.Fault}
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
