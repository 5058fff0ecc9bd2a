package jmespath

import (
	"maps"
	"slices"
)

// shape is what is known of a value before there is one.
type Shape struct {
	Kinds   Kinds
	typ     described         // the type that the value is read from, if known
	Elem    *Shape            // of an array's elements, if known and typ is nil
	Members map[string]*Shape // all the members of an object that the expression makes
	// mixed: values of several types come here, so that a member can be
	// missing in some without being misspelt.
	Mixed bool
	// trace is where values come from that are read from a described value.
	trace *trace
}

// described is a type that is known before there is a value of it: a Go type,
// which is a *plan, or a *[Schema]. All that the check knows of either it asks
// here.
type described interface {
	jmesKind() Kind
	// label names the type in messages, empty if it has no name.
	label() string
	form() form
	// item is the type of an array's elements or a map's values.
	item() *Shape
	// field is the type of a structure's member. Why says what is wrong with a
	// member that is there and cannot be read.
	field(name string) (s *Shape, why string, ok bool)
	fields() []string
	equals(described) bool
}

// form is what is known of an object's members.
type form uint8

const (
	formOpen form = iota // nothing
	formStruct
	formMap // they are all of one type
)

var (
	anything = &Shape{Kinds: IsAny}
	mixture  = &Shape{Kinds: IsAny, Mixed: true}
)

func scalarShape(k Kinds) *Shape { return &Shape{Kinds: k} }

func arrayOf(elem *Shape) *Shape { return &Shape{Kinds: IsArray, Elem: elem} }

// shapeOf is the shape of a value of the type. Any of it may be null: it may
// stand below a member that is not there.
func shapeOf(t described) *Shape {
	return &Shape{Kinds: t.jmesKind().Set() | IsNull, typ: t}
}

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
	if s.isKnown() && s.typ.label() != "" {
		return s.typ.label()
	}
	if s.Kinds == IsNull || s.Kinds == IsAny {
		return s.Kinds.String()
	}
	return (s.Kinds &^ IsNull).String()
}

// Only reports whether the value is of the kinds, or null.
func (s *Shape) Only(k Kinds) bool { return s.Kinds&^(k|IsNull) == 0 }

// Schema is the described type that the value is read from, or nil.
func (s *Shape) Schema() *Schema {
	t, _ := s.typ.(*Schema)
	return t
}

// plan is the Go type that the value is read from, or nil.
func (s *Shape) plan() *plan {
	p, _ := s.typ.(*plan)
	return p
}

// isKnown reports whether the value is read from a type that says what kind of
// value it is.
func (s *Shape) isKnown() bool { return s.typ != nil && s.typ.jmesKind() != Unknown }

// element is the shape of the elements, if the value is an array.
func (s *Shape) Element() *Shape {
	elem := anything
	switch {
	case s.typ != nil && s.typ.jmesKind() == Array:
		elem = s.typ.item()
	case s.Elem != nil:
		return s.Elem
	case s.Mixed:
		elem = mixture
	}
	return elem.from(s.trace.elements())
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
	case s.typ != nil && s.typ.form() == formMap:
		value = s.typ.item()
	case s.Mixed || s.typ != nil && s.typ.form() == formStruct:
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
	case s.typ == t.typ || s.typ != nil && t.typ != nil && s.typ.equals(t.typ):
		joined.typ = s.typ
	case s.Kinds == IsNull:
		joined.typ = t.typ
	case t.Kinds == IsNull:
		joined.typ = s.typ
	default:
		joined.Mixed = true
	}
	if joined.typ == nil && (s.Kinds|t.Kinds)&IsArray != 0 {
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
