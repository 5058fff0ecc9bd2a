package jmespath

import "slices"

// A timestamp is a number in JMESPath, and a string in a result of Step
// Functions. A translation makes it a number where a member is read that is
// described as one, or as a list of them.

// time reports whether the value is described as a timestamp.
func (s *shape) time() bool {
	schema, ok := s.typ.(*Schema)
	return ok && schema != nil && schema.Timestamp
}

// timed reports whether the value, or what it contains, is described as a
// timestamp.
func (s *shape) timed() bool {
	if schema, ok := s.typ.(*Schema); ok {
		return schema.timed(map[*Schema]bool{})
	}
	if s.elem != nil && s.elem.timed() {
		return true
	}
	for _, m := range s.members {
		if m.timed() {
			return true
		}
	}
	return false
}

func (s *Schema) timed(seen map[*Schema]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	if s.Timestamp || s.Elem.timed(seen) {
		return true
	}
	for _, m := range s.Members {
		if m.timed(seen) {
			return true
		}
	}
	return false
}

// untyped reports whether what the value contains is no more known to be
// timestamps, although it may be.
func (s *shape) untyped() bool {
	return s.mixed && s.kinds&(isArray|isObject) != 0 || s.elem != nil && s.elem.untyped()
}

// unconverted finds a node that takes timestamps as they are in the data, or
// nil.
func (n *checked) unconverted() *checked {
	if root := n.in; root.time() || root.kinds&isArray != 0 && (root.element().time() || root.nested() && root.timed()) {
		return n
	}
	var found *checked
	n.each(func(n *checked) {
		if found == nil && n.takesStrings() {
			found = n
		}
	})
	return found
}

// nested reports whether the value may be an array of arrays.
func (s *shape) nested() bool { return s.kinds&isArray != 0 && s.element().kinds&isArray != 0 }

func (n *checked) takesStrings() bool {
	timed := func(kid *checked) bool { return kid.out.timed() }
	switch n.op {
	case opField: // arrays of arrays of them
		return n.out.nested() && n.out.timed()
	case opValues: // a map of them, or a structure with some
		values := n.out.element()
		return n.kids[0].out.timed() && (values.time() || values.kinds&isArray != 0 && values.timed() || values.untyped())
	case opCompare:
		compound := n.kids[0].out.kinds & n.kids[1].out.kinds & (isArray | isObject)
		return compound != 0 && (n.order == equal || n.order == notEqual) && slices.ContainsFunc(n.kids, timed)
	case opCall:
		if n.name == "values" || n.name == "contains" || n.name == "merge" {
			return slices.ContainsFunc(n.kids, timed)
		}
		return n.out.untyped() && slices.ContainsFunc(n.kids, timed)
	case opOr, opAnd, opMultiList:
		return n.out.untyped() && slices.ContainsFunc(n.kids, timed)
	default:
		return false
	}
}
