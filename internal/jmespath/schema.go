package jmespath

import (
	"maps"
	"reflect"
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

	// Of a Go type only, which [Expr.Compile] describes:
	read   *plan  // how its values are read
	open   bool   // an Object may have other members
	refuse string // why it has no JMESPath form
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

// kind is Unknown for a nil Schema.
func (s *Schema) kind() Kind {
	if s == nil {
		return Unknown
	}
	return min(s.Kind, Unknown)
}

// label names the type in messages, empty if it has no name.
func (s *Schema) label() string {
	if s.Name == "" && s.Kind == String && len(s.Values) > 0 {
		return "an enum"
	}
	return s.Name
}

// isMap reports whether values are objects whose names are data.
func (s *Schema) isMap() bool { return s.kind() == Object && !s.open && s.Elem != nil }

// isStruct reports whether values are objects of which all members are known.
func (s *Schema) isStruct() bool { return s.kind() == Object && !s.open && s.Elem == nil }

// member finds a member by its name; that of a Go field by its Smithy name.
func (s *Schema) member(name string) (m *Schema, ok bool) {
	if m, ok = s.Members[name]; !ok && s.read != nil {
		if found, has := s.read.member(name); has {
			m, ok = s.Members[found.name]
		}
	}
	return m, ok
}

// names are the names of the members that can be read, sorted.
func (s *Schema) names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Members)), func(name string) bool {
		return s.Members[name] != nil && s.Members[name].refuse != ""
	})
}

// values are those of an enum, sorted: the Values of a String, or what the
// method Values of a Go type lists, as the SDK's enums have it. Of any other
// type it is nil.
func (s *Schema) values() []string {
	switch {
	case s.kind() != String:
		return nil
	case s.read != nil:
		return goValues(s.read.typ)
	default:
		return slices.Sorted(slices.Values(s.Values))
	}
}

// equals reports whether two Schemas describe the same type by the same names.
func (s *Schema) equals(t *Schema) bool { return s.same(t, map[[2]*Schema]bool{}) }

// same compares two Schemas. Pairs that are being compared are assumed to be the
// same, since Schemas can contain themselves. A Go type has one Schema.
func (s *Schema) same(t *Schema, assumed map[[2]*Schema]bool) bool {
	pair := [2]*Schema{s, t}
	switch {
	case s == t || assumed[pair]:
		return true
	case s == nil || t == nil || s.read != nil || t.read != nil:
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

// goValues calls the method Values of a Go type.
func goValues(typ reflect.Type) []string {
	if typ == nil || typ.Kind() != reflect.String {
		return nil
	}
	method, ok := typ.MethodByName("Values")
	if !ok || method.Type.NumIn() != 1 || method.Type.NumOut() != 1 || method.Type.Out(0) != reflect.SliceOf(typ) {
		return nil
	}
	list := method.Func.Call([]reflect.Value{reflect.Zero(typ)})[0]
	values := make([]string, list.Len())
	for i := range values {
		values[i] = list.Index(i).String()
	}
	slices.Sort(values)
	return values
}
