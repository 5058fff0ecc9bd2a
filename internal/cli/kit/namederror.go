package kit

import (
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// namedError is an error with a name and nothing else.
type namedError struct{ code, other string }

// NewNamedError returns an error of the operation. One that has two names, that
// of its shape and what the service sends, is known by either.
func NewNamedError(code string, op *catalog.Operation) error {
	e := &namedError{code: code}
	if op == nil {
		return e
	}
	for _, known := range op.Errors {
		switch {
		case known.Code == "" || known.Shape == "":
		case known.Shape == code:
			e.other = known.Code
		case known.Code == code:
			e.other = known.Shape
		}
	}
	return e
}

func (e *namedError) Error() string { return e.code }

func (e *namedError) ErrorCode() string { return e.code }

// Unwrap returns an error of the other name.
func (e *namedError) Unwrap() error {
	if e.other == "" {
		return nil
	}
	return &namedError{code: e.other}
}
