package jmespath

import (
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// maxPlaces is how many places the values of one part of an expression are
// traced to. Each multi-select list of two doubles them.
const maxPlaces = 64

// trace is where the values of a shape come from. It is nil if nobody asks, as
// of a Go type, and for values that an expression makes which have no names.
type trace struct {
	places []*place
	made   bool // or from an object that the expression makes, by its own names
	lost   bool // or from a place that is not among these
}

// place is a value that an expression is evaluated on, or a part of it.
type place struct {
	above *place
	step  string // the member's name, or one of the two below
	typ   *jsontype.Type
}

// The steps that are no names.
const (
	eachElement = "[]"
	eachValue   = "*"
)

// and is the trace of values that come from one of two.
func (t *trace) and(other *trace) *trace {
	switch {
	case t == nil || t == other:
		return other
	case other == nil:
		return t
	}
	joined := &trace{places: slices.Clone(t.places), made: t.made || other.made, lost: t.lost || other.lost}
	for _, p := range other.places {
		if !slices.Contains(joined.places, p) {
			joined.add(p)
		}
	}
	return joined
}

func (t *trace) add(places ...*place) {
	if t.places = append(t.places, places...); len(t.places) > maxPlaces {
		t.places, t.lost = t.places[:maxPlaces], true
	}
}

// parts is the trace of parts of the values. The parts of an object that the
// expression makes are known to its shape, or else lost.
func (t *trace) parts(of func(*place) []*place) *trace {
	if t == nil {
		return nil
	}
	parts := &trace{lost: t.made || t.lost}
	for _, p := range t.places {
		parts.add(of(p)...)
	}
	return parts
}

func (t *trace) elements() *trace { return t.parts((*place).element) }
func (t *trace) values() *trace   { return t.parts((*place).value) }

func (t *trace) member(name string) *trace {
	return t.parts(func(p *place) []*place { return p.member(name) })
}

// kind is that of the type; Unknown if there is none.
func (p *place) kind() jsontype.Kind {
	if p.typ == nil {
		return jsontype.Unknown
	}
	return min(p.typ.Kind, jsontype.Unknown)
}

func (p *place) below(step string, typ *jsontype.Type) []*place { return []*place{{p, step, typ}} }

// element is the place of the elements. What is not described has parts that
// are not, and so does any JSON value.
func (p *place) element() []*place {
	switch p.kind() {
	case jsontype.Array:
		return p.below(eachElement, p.typ.Elem)
	case jsontype.Unknown:
		return p.below(eachElement, p.typ)
	default:
		return nil
	}
}

// value are the places of the values of all members.
func (p *place) value() []*place {
	switch {
	case p.kind() == jsontype.Unknown:
		return p.below(eachValue, p.typ)
	case p.typ.IsMap():
		return p.below(eachValue, p.typ.Elem)
	case p.typ.IsStruct():
		var places []*place
		for _, name := range slices.Sorted(maps.Keys(p.typ.Members)) {
			places = append(places, p.below(name, p.typ.Members[name])...)
		}
		return places
	default:
		return nil
	}
}

func (p *place) member(name string) []*place {
	switch {
	case p.kind() == jsontype.Unknown:
		return p.below(name, p.typ)
	case p.typ.IsMap():
		return p.below(name, p.typ.Elem)
	case p.typ.IsStruct():
		if m, ok := p.typ.Members[name]; ok {
			return p.below(name, m)
		}
	}
	return nil
}

// path are the steps from the value that the expression is evaluated on.
func (p *place) path() []string {
	var path []string
	for ; p.above != nil; p = p.above {
		path = append(path, p.step)
	}
	slices.Reverse(path)
	return path
}
