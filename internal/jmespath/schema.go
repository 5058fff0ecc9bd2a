package jmespath

import (
	"maps"
	"slices"
)

// Schema describes a type by data, as a service's model does. Schemas can
// contain themselves. They must not change while they are in use.
//
// A nil *Schema stands for JSON values of which nothing is said.
type Schema struct {
	// Name is the type's name in messages; it may be empty.
	Name string
	// Kind is what values are, beside null, which any value may be. Unknown is
	// a document: any JSON value, whose names are data and not the model's.
	Kind Kind
	// Members are an Object's. Their names are spelled exactly so.
	Members map[string]*Schema
	// Elem is what an Array holds. An Object that has one is a map: its keys
	// are data, its values are of this type, and it has no Members.
	Elem *Schema
	// Values are those of a String that is an enum.
	Values []string
	// Timestamp is set on a Number that is a time, in epoch seconds.
	Timestamp bool
}

// shape is what is known of a value that is described so.
func (s *Schema) shape() *Shape {
	if s == nil {
		return anything
	}
	return shapeOf(s)
}

// root is the shape of the value that an expression is evaluated on.
func (s *Schema) root() *Shape {
	return s.shape().from(&trace{places: []*place{{typ: s}}})
}

// Respell is the Schema of data in which members have other names: spell gives
// the name there. The keys of maps are data and stay.
func (s *Schema) Respell(spell func(name string) string) *Schema {
	return s.respell(spell, map[*Schema]*Schema{})
}

func (s *Schema) respell(spell func(name string) string, done map[*Schema]*Schema) *Schema {
	if s == nil || done[s] != nil {
		return done[s]
	}
	other := *s
	done[s] = &other
	other.Elem = s.Elem.respell(spell, done)
	if s.Members != nil {
		other.Members = make(map[string]*Schema, len(s.Members))
		for name, m := range s.Members {
			other.Members[spell(name)] = m.respell(spell, done)
		}
	}
	return &other
}

// The methods of described.

func (s *Schema) jmesKind() Kind {
	if s == nil {
		return Unknown
	}
	return min(s.Kind, Unknown)
}

func (s *Schema) label() string {
	if s.Name == "" && s.Kind == String && len(s.Values) > 0 {
		return "an enum"
	}
	return s.Name
}

func (s *Schema) form() form {
	switch {
	case s.jmesKind() != Object:
		return formOpen
	case s.Elem != nil:
		return formMap
	default:
		return formStruct
	}
}

func (s *Schema) item() *Shape { return s.Elem.shape() }

func (s *Schema) field(name string) (member *Shape, why string, ok bool) {
	m, ok := s.Members[name]
	return m.shape(), "", ok
}

func (s *Schema) fields() []string { return slices.Sorted(maps.Keys(s.Members)) }

func (s *Schema) equals(other described) bool {
	t, ok := other.(*Schema)
	return ok && s.same(t, map[[2]*Schema]bool{})
}

// same reports whether two Schemas describe the same type by the same names.
// Pairs that are being compared are assumed to, since Schemas can contain
// themselves.
func (s *Schema) same(t *Schema, assumed map[[2]*Schema]bool) bool {
	pair := [2]*Schema{s, t}
	switch {
	case s == t || assumed[pair]:
		return true
	case s == nil || t == nil:
		return false
	}
	assumed[pair] = true
	if s.Name != t.Name || s.Kind != t.Kind || s.Timestamp != t.Timestamp || len(s.Members) != len(t.Members) || !slices.Equal(s.Values, t.Values) {
		return false
	}
	for name, m := range s.Members {
		other, ok := t.Members[name]
		if !ok || !m.same(other, assumed) {
			return false
		}
	}
	return s.Elem.same(t.Elem, assumed)
}
