package jmespath

import (
	"maps"
	"slices"
)

// shape is what is known of a value before there is one.
type shape struct {
	kinds   kinds
	typ     described         // the type that the value is read from, if known
	elem    *shape            // of an array's elements, if known and typ is nil
	members map[string]*shape // all the members of an object that the expression makes
	// mixed: values of several types come here, so that a member can be
	// missing in some without being misspelt.
	mixed bool
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
	item() *shape
	// field is the type of a structure's member. Why says what is wrong with a
	// member that is there and cannot be read.
	field(name string) (s *shape, why string, ok bool)
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
	anything = &shape{kinds: isAny}
	mixture  = &shape{kinds: isAny, mixed: true}
)

func scalarShape(k kinds) *shape { return &shape{kinds: k} }

func arrayOf(elem *shape) *shape { return &shape{kinds: isArray, elem: elem} }

// shapeOf is the shape of a value of the type. Any of it may be null: it may
// stand below a member that is not there.
func shapeOf(t described) *shape {
	return &shape{kinds: t.jmesKind().set() | isNull, typ: t}
}

// literalShape is the shape of a JSON value.
func literalShape(v any) *shape {
	switch v := v.(type) {
	case []any:
		s := arrayOf(nil)
		for _, item := range v {
			s.elem = s.elem.or(literalShape(item))
		}
		return s
	case map[string]any:
		s := &shape{kinds: isObject, members: map[string]*shape{}, trace: &trace{made: true}}
		for name, m := range v {
			s.members[name] = literalShape(m)
		}
		return s
	default:
		return scalarShape(fromAny(v).kind.set())
	}
}

// String names the shape for a message: a type, or kinds.
func (s *shape) String() string {
	if s.known() && s.typ.label() != "" {
		return s.typ.label()
	}
	if s.kinds == isNull || s.kinds == isAny {
		return s.kinds.String()
	}
	return (s.kinds &^ isNull).String()
}

// plan is the Go type that the value is read from, or nil.
func (s *shape) plan() *plan {
	p, _ := s.typ.(*plan)
	return p
}

// known reports whether the value is read from a type that says what kind of
// value it is.
func (s *shape) known() bool { return s.typ != nil && s.typ.jmesKind() != Unknown }

// element is the shape of the elements, if the value is an array.
func (s *shape) element() *shape {
	elem := anything
	switch {
	case s.typ != nil && s.typ.jmesKind() == Array:
		elem = s.typ.item()
	case s.elem != nil:
		return s.elem
	case s.mixed:
		elem = mixture
	}
	return elem.from(s.trace.elements())
}

// value is the shape of the members' values, if the value is an object.
func (s *shape) value() *shape {
	value := anything
	switch {
	case len(s.members) > 0:
		var joined *shape
		for _, name := range slices.Sorted(maps.Keys(s.members)) {
			joined = joined.or(s.members[name])
		}
		return joined
	case s.typ != nil && s.typ.form() == formMap:
		value = s.typ.item()
	case s.mixed || s.typ != nil && s.typ.form() == formStruct:
		value = mixture
	}
	return value.from(s.trace.values())
}

// or is the shape of a value that has one of two shapes; nil has no value.
func (s *shape) or(t *shape) *shape { return s.join(t, 0) }

// join joins shapes so many arrays deep. A type can contain itself without
// end, so what is deeper than any expression looks is left open.
func (s *shape) join(t *shape, depth int) *shape {
	switch {
	case depth > 8:
		return mixture.from(&trace{lost: true})
	case s == nil || s == t:
		return t
	case t == nil:
		return s
	}
	joined := &shape{kinds: s.kinds | t.kinds, mixed: s.mixed || t.mixed, trace: s.trace.and(t.trace)}
	switch {
	case s.typ == t.typ || s.typ != nil && t.typ != nil && s.typ.equals(t.typ):
		joined.typ = s.typ
	case s.kinds == isNull:
		joined.typ = t.typ
	case t.kinds == isNull:
		joined.typ = s.typ
	default:
		joined.mixed = true
	}
	if joined.typ == nil && (s.kinds|t.kinds)&isArray != 0 {
		joined.elem = s.elementOrNil().join(t.elementOrNil(), depth+1)
	}
	return joined
}

// elementOrNil is nil if the value is no array.
func (s *shape) elementOrNil() *shape {
	if s.kinds&isArray == 0 {
		return nil
	}
	return s.element()
}

// with is the shape of a value that may also be of some kinds that hold
// nothing.
func (s *shape) with(k kinds) *shape {
	if s.kinds|k == s.kinds {
		return s
	}
	widened := *s
	widened.kinds |= k
	return &widened
}

// without is the shape of a value of which some kinds are ruled out.
func (s *shape) without(k kinds) *shape {
	if s.kinds&k == 0 {
		return s
	}
	narrowed := *s
	narrowed.kinds &^= k
	return &narrowed
}
