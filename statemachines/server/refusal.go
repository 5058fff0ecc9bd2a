package server

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// refusal is an error that the client is told. Its code is the name of one of the
// operation's errors in the model, or one of those that all operations have.
type refusal struct {
	code, message string
	reason        string // of a ValidationException
}

// The errors that every operation may answer.
const (
	unknownOperation = "UnknownOperationException"
	serialization    = "SerializationException"
	entityTooLarge   = "RequestEntityTooLargeException"
	internalFailure  = "InternalFailure"
	unavailable      = "ServiceUnavailable"
	validation       = "ValidationException"
	quotaExceeded    = "ServiceQuotaExceededException"
)

func refuse(code, format string, args ...any) error {
	return &refusal{code: code, message: fmt.Sprintf(format, args...)}
}

// refuseFor is a ValidationException with the reason that the model gives it.
func refuseFor(reason, format string, args ...any) error {
	return &refusal{code: validation, message: fmt.Sprintf(format, args...), reason: reason}
}

// Error implements error.
func (r *refusal) Error() string { return r.code + ": " + r.message }

func (r *refusal) status() int {
	switch r.code {
	case internalFailure:
		return http.StatusInternalServerError
	case unavailable:
		return http.StatusServiceUnavailable
	case entityTooLarge:
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusBadRequest
	}
}

func (r *refusal) body() []byte {
	text, err := json.Marshal(struct {
		Type    string `json:"__type"`
		Message string `json:"message,omitempty"`
		Reason  string `json:"reason,omitempty"`
	}{r.code, r.message, r.reason})
	if err != nil {
		panic(err) // strings always have JSON
	}
	return text
}
