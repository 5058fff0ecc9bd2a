package jmespath

import "github.com/jobpoller/jobpoller/pollcore/diag"

// Code is the kind of an error, in the words of the JMESPath specification.
type Code string

// The codes of the specification, and four for which it has none.
const (
	Syntax          Code = "syntax"           // the text is no expression
	UnknownFunction Code = "unknown-function" // a function that JMESPath does not have
	InvalidArity    Code = "invalid-arity"    // too few or too many arguments
	InvalidType     Code = "invalid-type"     // an argument of a type that the function does not take
	InvalidValue    Code = "invalid-value"    // a value that has the right type and is still not allowed
	UnknownMember   Code = "unknown-member"   // a Go struct met at run time does not have the member
	AmbiguousName   Code = "ambiguous-name"   // Rename has no one new name for a member
	TooMuchWork     Code = "too-much-work"    // an evaluation that goes through too many values, or makes too much text
	Untranslatable  Code = "untranslatable"   // JSONata has no equal
)

// Error says why a text is no expression, or why an evaluation has no result.
// Its problems point into the text of the expression.
type Error struct {
	Code     Code // of the first problem
	Problems diag.Problems
}

// Error lists the problems, each with its source line and a caret.
func (e *Error) Error() string { return e.Problems.Error() }

// Unwrap gives errors.As the problems as [diag.Problems].
func (e *Error) Unwrap() error { return e.Problems }
