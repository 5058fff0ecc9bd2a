// Package kit is what the commands of jobpoller share: exit codes, files, output, flags.
package kit

import (
	"fmt"

	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Exit codes, for scripts.
const (
	ExitSucceeded   = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitTimedOut    = 3
	ExitUnknown     = 4 // the job could not be reached
	ExitInterrupted = 130
)

// ExitError ends the program with a code; a nil err has been reported already.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// WithCode is an error that ends the program with a code.
func WithCode(code int, err error) error { return &ExitError{code, err} }

// CodeOf is the exit code of the first error of a tree that has one; false if none has.
func CodeOf(err error) (code int, ok bool) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself, for the first of two types
	case *ExitError:
		return e.Code, true
	case *commandline.Error:
		return ExitUsage, true
	case interface{ Unwrap() error }:
		return CodeOf(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			if code, ok = CodeOf(joined); ok {
				return code, true
			}
		}
	}
	return 0, false
}

// AsFailure is an error that says that something failed, if it does not say more.
func AsFailure(err error) error {
	if _, ok := CodeOf(err); ok || err == nil {
		return err
	}
	return &ExitError{ExitFailed, err}
}

// Usage returns an error in the command line, or in a file that it names.
func Usage(format string, args ...any) error {
	return &ExitError{ExitUsage, terminal.Errorf(format, args...)}
}

// helpHint is for a command line that is wrong.
const helpHint = "\nRun '%s --help' for usage"
