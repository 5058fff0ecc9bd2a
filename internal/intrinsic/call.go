// Package intrinsic is the intrinsic functions of the Amazon States Language,
// which JSONPath mode has: a parser for calls such as
// "States.Format('{}-{}', $.a, States.UUID())", and their evaluation.
//
// The rules are those of the specification (https://states-language.net/,
// "Appendix B") and, where AWS differs or the specification is silent, of
// executions recorded at AWS by the projects localstack/localstack and
// gabrielmoreira/tiny-asl-machine, then of the AWS developer guide. The
// recordings show that AWS calculates with Java's types and classes; so do the
// functions here where it can be seen in a result.
package intrinsic

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

// prefix is what the name of every function starts with.
const prefix = "States."

// Is tells whether a text is a call of a function and not a path.
func Is(text string) bool { return strings.HasPrefix(text, prefix) }

// Call is a parsed call. It is safe for concurrent use.
type Call struct {
	text      string
	function  *function
	arguments []argument
}

// argument is a path, an inner call or a literal.
type argument struct {
	path    *jsonpath.Path
	call    *Call
	literal any
}

// String is the call as it was written.
func (c *Call) String() string { return c.text }

// Paths are the paths among the arguments, those of inner calls too, in the
// order of the text.
func (c *Call) Paths() []*jsonpath.Path {
	var out []*jsonpath.Path
	for _, a := range c.arguments {
		switch {
		case a.path != nil:
			out = append(out, a.path)
		case a.call != nil:
			out = append(out, a.call.Paths()...)
		}
	}
	return out
}

// Error is the failure of a function.
type Error struct {
	Function string // the function that failed, which may be an inner one
	Cause    string // what AWS says after the name of the state; it names the whole call
	Detail   string // what was expected and found, which AWS often does not say
}

func (e *Error) Error() string { return e.Function + ": " + e.Detail }
