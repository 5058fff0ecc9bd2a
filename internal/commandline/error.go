// Package commandline has the error of a command line that is wrong, or of a file that it names.
package commandline

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Error says what is wrong with what a command was given. It has run nothing.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }

func (e *Error) Unwrap() error { return e.err }

// Errorf is fmt.Errorf whose strings are quoted, for the name of a file may have a newline
// and forge a line. What may have lines is of the type terminal.Lines.
func Errorf(format string, args ...any) error {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = terminal.Quote(text)
		}
	}
	return &Error{fmt.Errorf(format, args...)}
}
