package jmespath

import (
	"maps"
	"slices"
)

// Shape is what is known of a value before there is one.
type Shape struct {
	Kinds   Kinds
	schema  *Schema           // the type that the value is read from, if known
	Elem    *Shape            // of an array's elements, if known and schema is nil
	Members map[string]*Shape // all the members of an object that the expression makes
	// mixed: values of several types come here, so that a member can be
	// missing in some without being misspelt.
	Mixed bool
	// trace is where values come from that are read from a described value.
	trace *trace
}

var (
	anything = &Shape{Kinds: IsAny}
	mixture  = &Shape{Kinds: IsAny, Mixed: true}
)

func scalarShape(k Kinds) *Shape { return &Shape{Kinds: k} }

func arrayOf(elem *Shape) *Shape { return &Shape{Kinds: IsArray, Elem: elem} }

// literalShape is the shape of a JSON value.
func literalShape(v any) *Shape {
	switch v := v.(type) {
	case []any:
		s := arrayOf(nil)
		for _, item := range v {
			s.Elem = s.Elem.or(literalShape(item))
		}
		return s
	case map[string]any:
		s := &Shape{Kinds: IsObject, Members: map[string]*Shape{}, trace: &trace{made: true}}
		for name, m := range v {
			s.Members[name] = literalShape(m)
		}
		return s
	default:
		return scalarShape(fromAny(v).kind.Set())
	}
}

// String names the shape for a message: a type, or kinds.
func (s *Shape) String() string {
	if s.isKnown() && s.schema.label() != "" {
		return s.schema.label()
	}
	if s.Kinds == IsNull || s.Kinds == IsAny {
		return s.Kinds.String()
	}
	return (s.Kinds &^ IsNull).String()
}

// Only reports whether the value is of the kinds, or null.
func (s *Shape) Only(k Kinds) bool { return s.Kinds&^(k|IsNull) == 0 }

// Schema is the described type that the value is read from, or nil.
func (s *Shape) Schema() *Schema { return s.schema }

// Element is the shape of the elements, if the value is an array.
func (s *Shape) Element() *Shape {
	elem := anything
	switch {
	case s.schema != nil && s.schema.kind() == Array:
		elem = s.schema.Elem.shape()
	case s.Elem != nil:
		return s.Elem
	case s.Mixed:
		elem = mixture
	}
	return elem.from(s.trace.elements())
}

// isKnown reports whether the value is read from a type that says what kind of
// value it is.
func (s *Shape) isKnown() bool { return s.schema != nil && s.schema.kind() != Unknown }

// plan is how values are read if the type is one of Go, or nil.
func (s *Shape) plan() *plan {
	if s.schema == nil {
		return nil
	}
	return s.schema.read
}

// value is the shape of the members' values, if the value is an object.
func (s *Shape) value() *Shape {
	value := anything
	switch {
	case len(s.Members) > 0:
		var joined *Shape
		for _, name := range slices.Sorted(maps.Keys(s.Members)) {
			joined = joined.or(s.Members[name])
		}
		return joined
	case s.schema != nil && s.schema.isMap():
		value = s.schema.Elem.shape()
	case s.Mixed || s.schema != nil && s.schema.isStruct():
		value = mixture
	}
	return value.from(s.trace.values())
}

// or is the shape of a value that has one of two shapes; nil has no value.
func (s *Shape) or(t *Shape) *Shape { return s.join(t, 0) }

// join joins shapes so many arrays deep. A type can contain itself without
// end, so what is deeper than any expression looks is left open.
func (s *Shape) join(t *Shape, depth int) *Shape {
	switch {
	case depth > 8:
		return mixture.from(&trace{lost: true})
	case s == nil || s == t:
		return t
	case t == nil:
		return s
	}
	joined := &Shape{Kinds: s.Kinds | t.Kinds, Mixed: s.Mixed || t.Mixed, trace: s.trace.and(t.trace)}
	switch {
	case s.schema == t.schema || s.schema != nil && t.schema != nil && s.schema.equals(t.schema):
		joined.schema = s.schema
	case s.Kinds == IsNull:
		joined.schema = t.schema
	case t.Kinds == IsNull:
		joined.schema = s.schema
	default:
		joined.Mixed = true
	}
	if joined.schema == nil && (s.Kinds|t.Kinds)&IsArray != 0 {
		joined.Elem = s.elementOrNil().join(t.elementOrNil(), depth+1)
	}
	return joined
}

// elementOrNil is nil if the value is no array.
func (s *Shape) elementOrNil() *Shape {
	if s.Kinds&IsArray == 0 {
		return nil
	}
	return s.Element()
}

// with is the shape of a value that may also be of some kinds that hold
// nothing.
func (s *Shape) with(k Kinds) *Shape {
	if s.Kinds|k == s.Kinds {
		return s
	}
	widened := *s
	widened.Kinds |= k
	return &widened
}

// without is the shape of a value of which some kinds are ruled out.
func (s *Shape) without(k Kinds) *Shape {
	if s.Kinds&k == 0 {
		return s
	}
	narrowed := *s
	narrowed.Kinds &^= k
	return &narrowed
}

// shape is what is known of a value that is described so. Any of it may be null:
// it may stand below a member that is not there.
func (s *Schema) shape() *Shape {
	if s == nil {
		return anything
	}
	return &Shape{Kinds: s.kind().Set() | IsNull, schema: s}
}

// root is the shape of the value that an expression is evaluated on.
func (s *Schema) root() *Shape {
	return s.shape().from(&trace{places: []*place{{typ: s}}})
}

// from is the shape with the trace.
func (s *Shape) from(t *trace) *Shape {
	if t == nil {
		return s
	}
	traced := *s
	traced.trace = t
	return &traced
}

// provenance is the trace of a shape.
func (s *Shape) provenance() trace {
	if s.trace == nil {
		return trace{}
	}
	return *s.trace
}
