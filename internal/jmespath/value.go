package jmespath

import (
	"reflect"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// value is a JMESPath value during an evaluation. Scalars are in it; arrays and
// objects stay what they are in Go, and their plan says how to read them. The
// zero value is null. A Go value that has no JMESPath form is of kind Unknown,
// with the reason as text.
type value struct {
	kind jsontype.Kind
	num  float64       // of a Number; 1 of the Boolean true
	text string        // of a String
	held reflect.Value // an Array or an Object
	plan *plan         // of an Array or an Object
}

func number(n float64) value { return value{kind: jsontype.Number, num: n} }

func text(s string) value { return value{kind: jsontype.String, text: s} }

// formless is a Go value that has no JMESPath form, for a reason.
func formless(reason string) value { return value{kind: jsontype.Unknown, text: reason} }

func boolean(b bool) value {
	v := value{kind: jsontype.Boolean}
	if b {
		v.num = 1
	}
	return v
}

func (v value) isTrue() bool { return v.num != 0 }

func (v value) isText(s string) bool { return v.kind == jsontype.String && v.text == s }

// The plans of what JSON is decoded to, and of what expressions build.
var (
	madeList   = &plan{kind: jsontype.Array, rep: repMadeList}
	madeObject = &plan{kind: jsontype.Object, rep: repMade}
	jsonList   = &plan{kind: jsontype.Array, rep: repList}
	jsonObject = &plan{kind: jsontype.Object, rep: repObject}
)

func list(items []value) value {
	return value{kind: jsontype.Array, held: reflect.ValueOf(&items), plan: madeList}
}

func object(members map[string]value) value {
	return value{kind: jsontype.Object, held: reflect.ValueOf(members), plan: madeObject}
}
