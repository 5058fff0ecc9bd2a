package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Exit codes, for scripts.
const (
	exitSucceeded   = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTimedOut    = 3
	exitUnknown     = 4 // the job could not be reached
	exitInterrupted = 130
)

// exitError ends the program with a code; a nil err has been reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// withCode is an error that ends the program with a code.
func withCode(code int, err error) error { return &exitError{code, err} }

// codeOf is the exit code that an error has; false if it has none.
func codeOf(err error) (code int, ok bool) {
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded.code, true
	}
	_, isWrong := errors.AsType[*commandline.Error](err)
	return exitUsage, isWrong
}

// asFailure is an error that says that something failed, if it does not say more.
func asFailure(err error) error {
	if _, ok := codeOf(err); ok || err == nil {
		return err
	}
	return &exitError{exitFailed, err}
}

// usage returns an error in the command line, or in a file that it names.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, errorf(format, args...)}
}

// errorf is fmt.Errorf whose strings are quoted, for the name of a file may have a
// newline and forge a line. What may have lines is of the type terminal.Lines.
func errorf(format string, args ...any) error {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = terminal.Quote(text)
		}
	}
	return fmt.Errorf(format, args...)
}

// helpHint is for a command line that is wrong.
const helpHint = "\nRun '%s --help' for usage"
