package jmespath

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Shape is the static type of an expression's value: what is known of the value
// before there is one. It is more and less than a declared type: it knows which
// kinds are ruled out and where the value comes from, and it can join values of
// several types.
type Shape struct {
	Kinds Kinds
	// The type that the value is read from, if it is known: one that data
	// declares, or one of Go.
	typ  *jsontype.Type
	plan *plan

	Elem    *Shape            // of an array's elements, if known and not declared
	Members map[string]*Shape // all the members of an object that the expression makes
	// Mixed: values of several types come here, so that a member can be
	// missing in some without being misspelt.
	Mixed bool
	// trace is where values come from that are read from a declared value.
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
		return scalarShape(SetOf(fromAny(v).kind))
	}
}

// typeShape is what is known of a value that data declares. Any of it may be
// null: it may stand below a member that is not there.
func typeShape(t *jsontype.Type) *Shape {
	if t == nil {
		return anything
	}
	return &Shape{Kinds: SetOf(t.Kind) | IsNull, typ: t}
}

// goShape is what is known of a value of a Go type.
func goShape(p *plan) *Shape {
	p = p.target()
	return &Shape{Kinds: SetOf(p.kind) | IsNull, plan: p}
}

// rootShape is the shape of the value that an expression is evaluated on.
func rootShape(t *jsontype.Type) *Shape {
	return typeShape(t).from(&trace{places: []*place{{typ: t}}})
}

// String names the shape for a message: a type, or kinds.
func (s *Shape) String() string {
	switch {
	case s.isKnown() && s.plan != nil:
		return s.plan.typ.String()
	case s.isKnown() && s.typ.String() != s.typ.Kind.Noun():
		return s.typ.String()
	case s.Kinds == IsNull || s.Kinds == IsAny:
		return s.Kinds.String()
	default:
		return (s.Kinds &^ IsNull).String()
	}
}

// Only reports whether the value is of the kinds, or null.
func (s *Shape) Only(k Kinds) bool { return s.Kinds&^(k|IsNull) == 0 }

// Type is the type that the value is read from, if data declares it, or nil.
func (s *Shape) Type() *jsontype.Type { return s.typ }

// Element is the shape of the elements, if the value is an array.
func (s *Shape) Element() *Shape {
	elem := anything
	switch {
	case s.kind() == jsontype.Array:
		elem = s.parts()
	case s.Elem != nil:
		return s.Elem
	case s.Mixed:
		elem = mixture
	}
	return elem.from(s.trace.elements())
}

// result is the type of the values. A type can contain itself, so that of an
// array of Go says of the elements only what they are.
func (s *Shape) result() *jsontype.Type {
	t := s.own()
	if t == s.typ || t.Kind != jsontype.Array {
		return t
	}
	elem := s.Element()
	if t.Elem = elem.own(); elem.Elem != nil {
		t.Elem = elem.result()
	}
	return t
}

// own is the type of the values without that of their parts, unless data
// declares it.
func (s *Shape) own() *jsontype.Type {
	switch kind := s.Kinds.Kind(); {
	case kind == s.kind() && s.typ != nil:
		return s.typ
	case kind == s.kind() && s.plan != nil:
		return &jsontype.Type{Name: s.plan.typ.String(), Kind: kind, Values: GoValues(s.plan.typ)}
	default:
		return &jsontype.Type{Kind: kind}
	}
}

// kind is that of the type that the value is read from; Unknown without one.
func (s *Shape) kind() jsontype.Kind {
	switch {
	case s.plan != nil:
		return s.plan.kind
	case s.typ != nil:
		return min(s.typ.Kind, jsontype.Unknown)
	default:
		return jsontype.Unknown
	}
}

// isKnown reports whether the value is read from a type that says what kind of
// value it is.
func (s *Shape) isKnown() bool { return s.kind() != jsontype.Unknown }

// isMap reports whether the value is read from a type whose names are data.
func (s *Shape) isMap() bool { return s.plan != nil && s.plan.rep == repMap || s.typ.IsMap() }

// isStruct reports whether the value is read from a type of which all members are
// known.
func (s *Shape) isStruct() bool {
	return s.plan != nil && s.plan.rep == repStruct && !s.plan.open || s.typ.IsStruct()
}

// parts is the shape of the elements or values that the type holds.
func (s *Shape) parts() *Shape {
	if s.plan != nil {
		return goShape(s.plan.inner)
	}
	return typeShape(s.typ.Elem)
}

// member is the shape of a member of a struct, by its name; by its Smithy name if
// the type is one of Go. Refused says why the member has no JMESPath form.
func (s *Shape) member(name string) (m *Shape, refused string, ok bool) {
	if s.plan != nil {
		found, ok := s.plan.member(name)
		if !ok {
			return nil, "", false
		}
		return goShape(found.plan), found.plan.target().refuse, true
	}
	t, ok := s.typ.Members[name]
	return typeShape(t), "", ok
}

// names are the names of the members of a struct that can be read, sorted.
func (s *Shape) names() []string {
	if s.plan != nil {
		return s.plan.names()
	}
	return slices.Sorted(maps.Keys(s.typ.Members))
}

// enum are the values of an enum, sorted, or nil.
func (s *Shape) enum() []string {
	if s.plan != nil {
		return GoValues(s.plan.typ)
	}
	return s.typ.Enum()
}

// isSameType reports whether both values are read from one type, or both from
// none that is known.
func (s *Shape) isSameType(t *Shape) bool { return s.plan == t.plan && s.typ.Equal(t.typ) }

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
	case s.isMap():
		value = s.parts()
	case s.Mixed || s.isStruct():
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
	case s.isSameType(t), t.Kinds == IsNull:
		joined.typ, joined.plan = s.typ, s.plan
	case s.Kinds == IsNull:
		joined.typ, joined.plan = t.typ, t.plan
	default:
		joined.Mixed = true
	}
	if joined.typ == nil && joined.plan == nil && (s.Kinds|t.Kinds)&IsArray != 0 {
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
