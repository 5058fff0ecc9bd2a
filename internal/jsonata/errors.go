package jsonata

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrUndefined is the error of an expression that gives nothing: JSON has no
// such value.
var ErrUndefined = errors.New("the expression returned nothing (undefined)")

// ErrUnsupported is the error of an expression that gives a function, or a value
// that has one: JSON has none.
var ErrUnsupported = errors.New("the expression returned a function, which is not a JSON value")

// codeLimit is the code of the limits of time and depth. Step Functions writes
// their messages without it.
const codeLimit = "U1001"

// Error is a failed evaluation. In Step Functions it is a
// States.QueryEvaluationError.
type Error struct {
	// Code is that of JSONata's own list, such as T2001, and U1001 for the limits
	// of time and depth; empty for what has none.
	Code string
	// Message is the text of JSONata or of Step Functions.
	Message string
}

func (e *Error) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// InternalError is a failure inside of the evaluator of Step Functions, which
// tells no reason: $base64decode of what is not base64 is one.
type InternalError struct {
	// ID is a UUID, another one at each failure.
	ID string
}

func (e *InternalError) Error() string { return "internal error " + e.ID }

// ResultTypeError is the error of a field that takes the result of an
// expression only if it is of one type, such as Items of a Map state.
type ResultTypeError struct {
	// Expected is the JSON type that the field takes, such as "array".
	Expected string
	// Value is the result.
	Value any
}

func (e *ResultTypeError) Error() string {
	return fmt.Sprintf("returned an unexpected result type. Expected '%s', but was '%s' for value: %s",
		e.Expected, typeName(e.Value), compact(e.Value))
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "number"
	}
}

// compact is a value as JSON without spaces, as Step Functions writes it into
// its messages.
func compact(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// Cause is the sentence in which Step Functions says why the expression of a
// field, such as "Output/v" or "Arguments/Items[0]", failed. The cause of the
// error in the history has "An error occurred while executing the state ..."
// before it. err is what [Expression.Eval] gave, or a [ResultTypeError].
func (e *Expression) Cause(field string, err error) string {
	sentence := fmt.Sprintf("The JSONata expression '%s' specified for the field '%s' ", e.text, field)
	if wrong, ok := errors.AsType[*ResultTypeError](err); ok {
		return sentence + wrong.Error()
	}
	if errors.Is(err, ErrUndefined) {
		return sentence + "returned nothing (undefined)."
	}
	if errors.Is(err, ErrUnsupported) {
		return sentence + "returned an unsupported result type."
	}
	if failure, ok := errors.AsType[*InternalError](err); ok {
		return sentence + "threw an internal error during evaluation. " + failure.ID
	}
	sentence += "threw an error during evaluation"
	if failure, ok := errors.AsType[*Error](err); ok {
		if failure.Code != "" && failure.Code != codeLimit {
			return sentence + ". " + failure.Error()
		}
		return sentence + ": " + failure.Message
	}
	return sentence + ": " + err.Error()
}
