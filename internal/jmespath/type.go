package jmespath

import (
	"reflect"
)

// Type is the static type of an expression's result. Any value may also be
// null, since it may stand below a member that is null.
type Type struct {
	Kind   Kind
	Elem   *Type        // of an array's elements, if they are known
	Go     reflect.Type // the Go type that the value is read from, or nil
	Schema *Schema      // the described type that the value is read from, or nil
}

func (s *Shape) export() Type {
	t := s.own()
	// A type can contain itself, so only the elements' own type is given.
	if elem := s.Element(); t.Kind == Array && elem.Kinds != IsAny {
		inner := elem.own()
		if !elem.isKnown() && elem.Elem != nil {
			inner = elem.export()
		}
		t.Elem = &inner
	}
	return t
}

// own is the static type without that of its parts.
func (s *Shape) own() Type {
	t := Type{Kind: s.Kinds.Kind()}
	if !s.isKnown() {
		return t
	}
	if s.schema.read != nil {
		t.Go = s.schema.read.typ
	} else {
		t.Schema = s.schema
	}
	return t
}

// String names the type for a message.
func (t Type) String() string {
	switch {
	case t.Go != nil:
		return t.Go.String()
	case t.Schema != nil && t.Schema.label() != "":
		return t.Schema.label()
	default:
		return t.Kind.Set().String()
	}
}

// Values lists the values of an enum, sorted: of a Schema that has some, or of
// a named string of Go with a method Values, as the SDK's enums are. Of any
// other type it is nil.
func (t Type) Values() []string {
	if t.Schema != nil {
		return t.Schema.values()
	}
	return goValues(t.Go)
}
