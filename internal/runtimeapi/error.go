package runtimeapi

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// FunctionError is a failed invocation as Lambda reports it. Step Functions
// takes Type as the name of the error and Body as its cause.
type FunctionError struct {
	// Type is the errorType that the function posted, or one of the service's
	// own: Runtime.ExitError (the process ended), Sandbox.Timedout (the time
	// limit passed), Function.ResponseSizeTooLarge.
	Type string
	// Message is the errorMessage.
	Message string
	// Body is the JSON that an invoker receives in place of a response: as it
	// was posted, or made of Type and Message.
	Body []byte
}

// Error returns the type and the message.
func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// errorBody is the form in which runtimes post errors and the service makes
// its own.
type errorBody struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (b errorBody) encode() []byte {
	text, _ := json.Marshal(b) // strings always encode
	return text
}

// readPostedError reads the error that a process posted. A process may post any
// bytes: what is not in Lambda's form is replaced by an error of the type that
// the request's header named.
func readPostedError(body []byte, headerType string) *FunctionError {
	var posted errorBody
	if err := json.Unmarshal(body, &posted); err == nil && posted.Type != "" {
		return &FunctionError{Type: posted.Type, Message: posted.Message, Body: body}
	}
	if headerType == "" {
		headerType = "Runtime.Unknown"
	}
	return newFunctionError(headerType, posted.Message)
}

func exitError(requestID string, state *os.ProcessState) *FunctionError {
	reason := "Runtime exited without providing a reason"
	if !state.Success() {
		reason = "Runtime exited with error: " + state.String()
	}
	return newFunctionError("Runtime.ExitError", fmt.Sprintf("RequestId: %s Error: %s", requestID, reason))
}

func timeoutError(requestID string, limit time.Duration) *FunctionError {
	return newFunctionError("Sandbox.Timedout",
		fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", requestID, limit.Seconds()))
}

func responseTooLarge() *FunctionError {
	return newFunctionError("Function.ResponseSizeTooLarge",
		fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", maxResponse))
}

func newFunctionError(errorType, message string) *FunctionError {
	return &FunctionError{Type: errorType, Message: message, Body: errorBody{Type: errorType, Message: message}.encode()}
}
