package jmespath

import "strings"

// Kind is a type of JMESPath.
type Kind uint8

// The types of JMESPath. Unknown is what is known only at run time.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
	Unknown
)

// String is the type's name as the function type() gives it.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object", "unknown"}[k]
}

// Kinds is a set of kinds.
type Kinds uint8

// The sets of one kind, and of all.
const (
	IsNull    Kinds = 1 << Null
	IsBoolean Kinds = 1 << Boolean
	IsNumber  Kinds = 1 << Number
	IsString  Kinds = 1 << String
	IsArray   Kinds = 1 << Array
	IsObject  Kinds = 1 << Object
	IsAny           = IsNull | IsBoolean | IsNumber | IsString | IsArray | IsObject
)

// Set is the set of the kind alone; of Unknown, of all.
func (k Kind) Set() Kinds {
	if k == Unknown {
		return IsAny
	}
	return 1 << k
}

// String names the set for a message: "a string, an array or an object".
func (s Kinds) String() string {
	if s == IsAny {
		return "any value"
	}
	var names []string
	for k := range Unknown {
		if s&k.Set() != 0 {
			names = append(names, [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k])
		}
	}
	return alternatives(names)
}

// Kind is the one kind of the set beside null, or Unknown if there are more.
func (s Kinds) Kind() Kind {
	for k := range Unknown {
		if s == k.Set() || s == k.Set()|IsNull {
			return k
		}
	}
	return Unknown
}

func alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
