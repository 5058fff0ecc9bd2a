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

// kinds is a set of kinds.
type kinds uint8

const (
	isNull    kinds = 1 << Null
	isBoolean kinds = 1 << Boolean
	isNumber  kinds = 1 << Number
	isString  kinds = 1 << String
	isArray   kinds = 1 << Array
	isObject  kinds = 1 << Object
	isAny           = isNull | isBoolean | isNumber | isString | isArray | isObject
)

// set is the set of the kind alone; of Unknown, of all.
func (k Kind) set() kinds {
	if k == Unknown {
		return isAny
	}
	return 1 << k
}

// String names the set for a message: "a string, an array or an object".
func (s kinds) String() string {
	if s == isAny {
		return "any value"
	}
	var names []string
	for k := range Unknown {
		if s&k.set() != 0 {
			names = append(names, [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k])
		}
	}
	return alternatives(names)
}

// kind is the one kind of the set beside null, or Unknown if there are more.
func (s kinds) kind() Kind {
	for k := range Unknown {
		if s == k.set() || s == k.set()|isNull {
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
