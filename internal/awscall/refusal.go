package awscall

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// unknownCode is what the SDK calls an error that does not say its name.
const unknownCode = "UnknownError"

// Succeeds reports whether the status of an answer is a success.
func Succeeds(answer *smithyhttp.Response) bool {
	return answer.StatusCode >= http.StatusOK && answer.StatusCode < http.StatusMultipleChoices
}

// ReadRefusal reads an answer that does not succeed, by the rules of the JSON
// protocols. A body that is not JSON says no name and no message.
func ReadRefusal(answer *smithyhttp.Response, body []byte) *smithy.GenericAPIError {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"` // in any case
		Code    any    `json:"code"`    // text, or for some services a number that is not a name
	}
	_ = json.Unmarshal(body, &said) // what could be read is there
	e := &smithy.GenericAPIError{Message: said.Message}
	code, _ := said.Code.(string)
	for _, name := range []string{answer.Header.Get("X-Amzn-Errortype"), said.Type, code} {
		if e.Code = PlainCode(name); e.Code != "" {
			break
		}
	}
	return CompleteRefusal(answer, e)
}

// CompleteRefusal gives an error what an answer did not say: a name and a message,
// and by the status whose fault it is.
func CompleteRefusal(answer *smithyhttp.Response, e *smithy.GenericAPIError) *smithy.GenericAPIError {
	if e.Code == "" {
		e.Code = unknownCode
	}
	if e.Message == "" {
		e.Message = http.StatusText(answer.StatusCode)
	}
	switch {
	case answer.StatusCode >= http.StatusInternalServerError:
		e.Fault = smithy.FaultServer
	case answer.StatusCode >= http.StatusBadRequest:
		e.Fault = smithy.FaultClient
	}
	return e
}

// PlainCode strips the namespace before "#" and the URI after ":".
func PlainCode(code string) string {
	code, _, _ = strings.Cut(code, ":")
	return code[strings.IndexByte(code, '#')+1:]
}
