package jsonpath

import "fmt"

// SyntaxError says what is wrong in the text of a path, and where.
type SyntaxError struct {
	Text    string // the whole path
	Offset  int    // of the byte at fault
	Message string // what was expected, or what is not supported
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("path %q, character %d: %s", e.Text, e.Offset+1, e.Message)
}

// Reason says why a path leads nowhere.
type Reason uint8

// The reasons.
const (
	NoMember  Reason = iota // an object has no member of that name
	NoElement               // an array is too short
	NotObject               // a name is applied to a value that is no object
	NotArray                // an index is applied to a value that is no array
)

// NotFoundError is the failure of Get: the path leads nowhere in this document.
type NotFoundError struct {
	Path   string // as written
	At     string // the part up to the step that failed, in bracket notation: $['a'][0]
	Last   bool   // the step that failed is the last one
	Reason Reason
}

func (e *NotFoundError) Error() string {
	why := [...]string{"no such member", "no such array element", "the value before it is not an object", "the value before it is not an array"}
	return fmt.Sprintf("path %q leads nowhere at %s: %s", e.Path, e.At, why[e.Reason])
}

// ConflictError is the failure of Set: a step of the path meets a value that
// it cannot go through.
type ConflictError struct {
	Path string // as written
	Step string // the name or index that cannot be applied
	At   string // the part up to that step, in bracket notation
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("path %q cannot be written: step %q does not fit the value before %s", e.Path, e.Step, e.At)
}

func (l *lexer) fail(offset int, format string, args ...any) error {
	return &SyntaxError{Text: l.text, Offset: offset, Message: fmt.Sprintf(format, args...)}
}

func (l *lexer) unsupported(offset int, what string) error {
	return l.fail(offset, "%s are not supported", what)
}
