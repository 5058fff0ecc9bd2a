// Package jsontype describes types of JSON values by data, as the model of a
// service does. Waiters are checked and translated by it where no Go type is at
// hand.
package jsontype

import "slices"

// Kind is what a value is, by the types of JMESPath: numbers have one type, and
// structures and maps are objects.
type Kind uint8

// The kinds. Unknown is what is known only at run time.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
	Unknown
)

// String is the kind's name, as JMESPath's function type() gives it.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object", "unknown"}[min(k, Unknown)]
}

// Noun names a value of the kind in a message: "a string".
func (k Kind) Noun() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object", "any value"}[min(k, Unknown)]
}

// Type describes values by data. Types can contain themselves. They must not
// change while they are in use.
//
// A nil *Type stands for JSON values of which nothing is said.
type Type struct {
	// Name is the type's name in messages; it may be empty.
	Name string
	// Kind is what values are, beside null, which any value may be. Unknown is
	// a document: any JSON value, whose names are data and not the model's.
	Kind Kind
	// Members are an Object's. Their names are spelled exactly so.
	Members map[string]*Type
	// Elem is what an Array holds. An Object that has one is a map: its keys
	// are data, its values are of this type, and it has no Members.
	Elem *Type
	// Values are those of a String that is an enum.
	Values []string
	// Timestamp is set on a Number that is a time, in epoch seconds.
	Timestamp bool
}

// String names the type in a message.
func (t *Type) String() string {
	switch {
	case t == nil:
		return Unknown.Noun()
	case t.Name == "" && t.Kind == String && len(t.Values) > 0:
		return "an enum"
	case t.Name == "":
		return t.Kind.Noun()
	default:
		return t.Name
	}
}

// Enum returns the values of an enum, sorted; of any other type it is nil.
func (t *Type) Enum() []string {
	if t == nil || t.Kind != String {
		return nil
	}
	return slices.Sorted(slices.Values(t.Values))
}

// IsMap reports whether values are objects whose names are data.
func (t *Type) IsMap() bool { return t != nil && t.Kind == Object && t.Elem != nil }

// IsStruct reports whether values are objects of which all members are known.
func (t *Type) IsStruct() bool { return t != nil && t.Kind == Object && t.Elem == nil }

// Respell returns the type of data in which members have other names: spell
// gives the name there. The keys of maps are data and stay.
func (t *Type) Respell(spell func(name string) string) *Type {
	return t.respell(spell, map[*Type]*Type{})
}

// Equal reports whether two types describe the same values by the same names.
func (t *Type) Equal(other *Type) bool { return t.same(other, map[[2]*Type]bool{}) }

func (t *Type) respell(spell func(name string) string, done map[*Type]*Type) *Type {
	if t == nil || done[t] != nil {
		return done[t]
	}
	other := *t
	done[t] = &other
	other.Elem = t.Elem.respell(spell, done)
	if t.Members != nil {
		other.Members = make(map[string]*Type, len(t.Members))
		for name, m := range t.Members {
			other.Members[spell(name)] = m.respell(spell, done)
		}
	}
	return &other
}

// same compares two types. Pairs that are being compared are assumed to be the
// same, since types can contain themselves.
func (t *Type) same(other *Type, assumed map[[2]*Type]bool) bool {
	pair := [2]*Type{t, other}
	switch {
	case t == other || assumed[pair]:
		return true
	case t == nil || other == nil:
		return false
	}
	assumed[pair] = true
	if t.Name != other.Name || t.Kind != other.Kind || t.Timestamp != other.Timestamp ||
		len(t.Members) != len(other.Members) || !slices.Equal(t.Values, other.Values) {
		return false
	}
	for name, m := range t.Members {
		theirs, ok := other.Members[name]
		if !ok || !m.same(theirs, assumed) {
			return false
		}
	}
	return t.Elem.same(other.Elem, assumed)
}
