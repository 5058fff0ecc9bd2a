package jmespath

import (
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Kinds is a set of kinds.
type Kinds uint8

// The sets of one kind, and of all.
const (
	IsNull    Kinds = 1 << jsontype.Null
	IsBoolean Kinds = 1 << jsontype.Boolean
	IsNumber  Kinds = 1 << jsontype.Number
	IsString  Kinds = 1 << jsontype.String
	IsArray   Kinds = 1 << jsontype.Array
	IsObject  Kinds = 1 << jsontype.Object
	IsAny           = IsNull | IsBoolean | IsNumber | IsString | IsArray | IsObject
)

// SetOf is the set of the kind alone; of Unknown, of all.
func SetOf(k jsontype.Kind) Kinds {
	if k >= jsontype.Unknown {
		return IsAny
	}
	return 1 << k
}

// String names the set for a message: "a string, an array or an object".
func (s Kinds) String() string {
	if s == IsAny {
		return jsontype.Unknown.Noun()
	}
	var names []string
	for k := range jsontype.Unknown {
		if s&SetOf(k) != 0 {
			names = append(names, k.Noun())
		}
	}
	return alternatives(names)
}

// Kind is the one kind of the set beside null, or Unknown if there are more.
func (s Kinds) Kind() jsontype.Kind {
	for k := range jsontype.Unknown {
		if s == SetOf(k) || s == SetOf(k)|IsNull {
			return k
		}
	}
	return jsontype.Unknown
}

func alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
