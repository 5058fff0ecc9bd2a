package jmespath

import (
	"reflect"
	"slices"
)

// shape is what is known of a value before there is one.
type shape struct {
	kinds   kinds
	plan    *plan             // the Go type that the value is read from, if known
	elem    *shape            // of an array's elements, if known and plan is nil
	members map[string]*shape // all the members of an object that the expression makes
	// mixed: values of several Go types come here, so that a member can be
	// missing in some without being misspelt.
	mixed bool
}

var (
	anything = &shape{kinds: isAny}
	mixture  = &shape{kinds: isAny, mixed: true}
)

func scalarShape(k kinds) *shape { return &shape{kinds: k} }

func arrayOf(elem *shape) *shape { return &shape{kinds: isArray, elem: elem} }

// shapeOf is the shape of what a plan loads. Any of it may be null: it may
// stand below a pointer that is nil.
func shapeOf(p *plan) *shape {
	p = p.target()
	return &shape{kinds: p.kind.set() | isNull, plan: p}
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
		s := &shape{kinds: isObject, members: map[string]*shape{}}
		for name, m := range v {
			s.members[name] = literalShape(m)
		}
		return s
	default:
		return scalarShape(fromAny(v).kind.set())
	}
}

// String names the shape for a message: a Go type, or kinds.
func (s *shape) String() string {
	if s.plan != nil && s.plan.kind != Unknown {
		return s.plan.typ.String()
	}
	if s.kinds == isNull || s.kinds == isAny {
		return s.kinds.String()
	}
	return (s.kinds &^ isNull).String()
}

// element is the shape of the elements, if the value is an array.
func (s *shape) element() *shape {
	switch {
	case s.plan != nil && s.plan.kind == Array:
		return shapeOf(s.plan.inner)
	case s.elem != nil:
		return s.elem
	case s.mixed:
		return mixture
	default:
		return anything
	}
}

// value is the shape of the members' values, if the value is an object.
func (s *shape) value() *shape {
	switch {
	case len(s.members) > 0:
		var joined *shape
		for _, m := range s.members {
			joined = joined.or(m)
		}
		return joined
	case s.plan != nil && s.plan.rep == repMap:
		return shapeOf(s.plan.inner)
	case s.mixed || s.plan != nil && s.plan.rep == repStruct:
		return mixture
	default:
		return anything
	}
}

// or is the shape of a value that has one of two shapes; nil has no value.
func (s *shape) or(t *shape) *shape { return s.join(t, 0) }

// join joins shapes so many arrays deep. A Go type can contain itself without
// end, so what is deeper than any expression looks is left open.
func (s *shape) join(t *shape, depth int) *shape {
	switch {
	case depth > 8:
		return mixture
	case s == nil || s == t:
		return t
	case t == nil:
		return s
	}
	joined := &shape{kinds: s.kinds | t.kinds, mixed: s.mixed || t.mixed}
	switch {
	case s.plan == t.plan:
		joined.plan = s.plan
	case s.kinds == isNull:
		joined.plan = t.plan
	case t.kinds == isNull:
		joined.plan = s.plan
	default:
		joined.mixed = true
	}
	if joined.plan == nil && (s.kinds|t.kinds)&isArray != 0 {
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

// Type is the static type of an expression's result. Any value may also be
// null, since it may stand below a member that is null.
type Type struct {
	Kind Kind
	Elem *Type        // of an array's elements, if they are known
	Go   reflect.Type // the Go type that the value is read from, or nil
}

func (s *shape) export() Type {
	t := Type{Kind: s.kinds.kind()}
	if s.plan != nil && s.plan.kind != Unknown {
		t.Go = s.plan.typ
	}
	// A Go type can contain itself, so only the elements' own type is given.
	if elem := s.element(); t.Kind == Array && elem.kinds != isAny {
		t.Elem = &Type{Kind: elem.kinds.kind()}
		if elem.plan != nil && elem.plan.kind != Unknown {
			t.Elem.Go = elem.plan.typ
		} else if elem.elem != nil {
			inner := elem.export()
			t.Elem = &inner
		}
	}
	return t
}

// Values lists the values of an SDK enum, which is a named string with a
// method Values. Of any other type it is nil.
func (t Type) Values() []string {
	if t.Go == nil || t.Go.Kind() != reflect.String {
		return nil
	}
	method, ok := t.Go.MethodByName("Values")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(t.Go) {
		return nil
	}
	list := method.Func.Call([]reflect.Value{reflect.Zero(t.Go)})[0]
	values := make([]string, list.Len())
	for i := range values {
		values[i] = list.Index(i).String()
	}
	slices.Sort(values)
	return values
}
