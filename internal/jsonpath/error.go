package jsonpath

import (
	"encoding/json"
	"fmt"
)

// Reason says why a path leads nowhere.
type Reason uint8

// The reasons.
const (
	NoMember  Reason = iota // an object has no member of that name
	NoElement               // an array is too short
	NotObject               // a name is applied to a value that is not an object
	NotArray                // an index is applied to a value that is not an array
)

// NotFoundError is the failure of Get: a definite path leads nowhere in this
// document.
type NotFoundError struct {
	Path   string // as written
	At     string // the part up to the step that failed, in bracket notation: $['a'][0]
	Last   bool   // the step that failed is the last one
	Reason Reason

	query *query
	step  int // the index of the step that failed
	value any // that it was applied to
}

func (e *NotFoundError) Error() string {
	why := [...]string{"no such member", "no such array element", "the value before it is not an object", "the value before it is not an array"}
	return fmt.Sprintf("path %q leads nowhere at %s: %s", e.Path, e.At, why[e.Reason])
}

// AWS returns the words of Step Functions for the failure of InputPath or
// OutputPath.
func (e *NotFoundError) AWS() string {
	return "Invalid path '" + e.Path + "' : " + e.cause()
}

func (e *NotFoundError) cause() string {
	before := e.query.normal(e.step)
	switch {
	case e.Reason == NoMember && !e.Last:
		return "Missing property in path " + e.At
	case e.Reason == NoMember, e.Reason == NoElement:
		return "No results for path: " + e.query.normal(len(e.query.steps))
	case e.Reason == NotObject:
		return "Property " + fragments(e.query.steps[e.step:e.step+1]) + " not found in path " + before
	case e.value == nil:
		return "The path " + before + " is null"
	default:
		// A JSON value always encodes.
		text, _ := json.Marshal(e.value)
		return fmt.Sprintf("Filter: %s can only be applied to arrays. Current context is: %s", fragments(e.query.steps[e.step:]), text)
	}
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

// LimitError is the failure of Get if a path takes too many values into
// account, as descendants of descendants do.
type LimitError struct {
	Path  string // as written
	Limit int    // in values visited
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("path %q visits more than %d values; name the members on the way instead of \"..\" or \"*\"", e.Path, e.Limit)
}
