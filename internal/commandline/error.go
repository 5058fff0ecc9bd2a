// Package commandline has the error of a command line that is wrong, or of a file that it names.
package commandline

import "github.com/jobpoller/jobpoller/internal/terminal"

// Error says what is wrong with what a command was given. It has run nothing.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// Errorf is terminal.Errorf of an Error.
func Errorf(format string, args ...any) error { return &Error{terminal.Errorf(format, args...)} }
