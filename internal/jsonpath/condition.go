package jsonpath

import "regexp"

// condition is what a filter asks of a value.
type condition interface {
	holds(e *evaluation, current any) bool
}

type (
	all    []condition // a && b
	either []condition // a || b
	not    struct{ condition }
	exists struct{ path *filterPath }
)

func (c all) holds(e *evaluation, current any) bool {
	for _, part := range c {
		if !part.holds(e, current) {
			return false
		}
	}
	return true
}

func (c either) holds(e *evaluation, current any) bool {
	for _, part := range c {
		if part.holds(e, current) {
			return true
		}
	}
	return false
}

func (c not) holds(e *evaluation, current any) bool { return !c.condition.holds(e, current) }

// holds tells whether the path leads to a value, be it null.
func (c exists) holds(e *evaluation, current any) bool {
	value, ok := c.path.value(e, current)
	if list, isList := value.([]any); isList && !c.path.definite {
		return len(list) > 0
	}
	return ok
}

// operand is a side of a comparison. Its value is a JSON value, or a
// *regexp.Regexp; ok is false if it has none.
type operand interface {
	value(e *evaluation, current any) (value any, ok bool)
}

type literal struct{ json any }

func (o literal) value(*evaluation, any) (any, bool) { return o.json, true }

type pattern struct{ *regexp.Regexp }

func (o pattern) value(*evaluation, any) (any, bool) { return o.Regexp, true }

// filterPath starts at the value that the filter looks at, "@", or at the root
// of the whole path, "$". A path that is not definite has a list for value.
type filterPath struct {
	query
	root bool
}

func (o *filterPath) value(e *evaluation, current any) (any, bool) {
	if o.root {
		current = e.root
	}
	if !e.visit(1 + len(o.steps)) {
		return nil, false
	}
	if !o.definite {
		return e.list(o.steps, current), true
	}
	value, failed, _ := o.query.value(current)
	return value, failed < 0
}
