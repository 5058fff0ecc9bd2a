package jmespathtest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// Describe describes a Go type by data, under the same names. An interface is
// a document. It panics at types that have no JMESPath form.
func Describe(t reflect.Type) *jsontype.Type {
	return describe(t, map[reflect.Type]*jsontype.Type{})
}

// describe describes a type in the middle of others that contain it. A type
// that is met again elsewhere gets a Type of its own, as models may have it.
func describe(t reflect.Type, within map[reflect.Type]*jsontype.Type) *jsontype.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := within[t]; ok {
		return s
	}
	s := &jsontype.Type{Name: t.String()}
	within[t] = s
	defer delete(within, t)
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		s.Kind, s.Timestamp = jsontype.Number, true
	case t == reflect.TypeFor[[]byte]():
		s.Kind = jsontype.String
	case kind == reflect.Struct:
		s.Kind, s.Members = jsontype.Object, map[string]*jsontype.Type{}
		for f := range t.Fields() {
			if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
				s.Members[f.Name] = describe(f.Type, within)
			}
		}
	case kind == reflect.Slice:
		s.Kind, s.Elem = jsontype.Array, describe(t.Elem(), within)
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		s.Kind, s.Elem = jsontype.Object, describe(t.Elem(), within)
	case kind == reflect.String:
		s.Kind, s.Values = jsontype.String, jmespath.GoValues(t)
	case kind == reflect.Bool:
		s.Kind = jsontype.Boolean
	case t.Comparable() && reflect.Zero(t).CanConvert(reflect.TypeFor[float64]()):
		s.Kind = jsontype.Number
	case kind == reflect.Interface: // any, a document, or a union, whose Go type does not list its members
		s.Kind = jsontype.Unknown
	default:
		panic(fmt.Sprintf("%s cannot be described", t))
	}
	return s
}
