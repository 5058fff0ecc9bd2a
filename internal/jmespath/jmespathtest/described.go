package jmespathtest

import (
	"fmt"
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// Describe describes a Go type by data, under the same names. An interface is
// a document. It panics at types that have no JMESPath form.
func Describe(t reflect.Type) *jmespath.Schema {
	return describe(t, map[reflect.Type]*jmespath.Schema{})
}

// describe describes a type in the middle of others that contain it. A type
// that is met again elsewhere gets a Schema of its own, as models may have it.
func describe(t reflect.Type, within map[reflect.Type]*jmespath.Schema) *jmespath.Schema {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s, ok := within[t]; ok {
		return s
	}
	s := &jmespath.Schema{Name: t.String()}
	within[t] = s
	defer delete(within, t)
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		s.Kind, s.Timestamp = jmespath.Number, true
	case t == reflect.TypeFor[[]byte]():
		s.Kind = jmespath.String
	case kind == reflect.Struct:
		s.Kind, s.Members = jmespath.Object, map[string]*jmespath.Schema{}
		for f := range t.Fields() {
			if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
				s.Members[f.Name] = describe(f.Type, within)
			}
		}
	case kind == reflect.Slice:
		s.Kind, s.Elem = jmespath.Array, describe(t.Elem(), within)
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		s.Kind, s.Elem = jmespath.Object, describe(t.Elem(), within)
	case kind == reflect.String:
		s.Kind, s.Values = jmespath.String, jmespath.Type{Go: t}.Values()
	case kind == reflect.Bool:
		s.Kind = jmespath.Boolean
	case t.Comparable() && reflect.Zero(t).CanConvert(reflect.TypeFor[float64]()):
		s.Kind = jmespath.Number
	case kind == reflect.Interface: // any, a document, or a union, whose Go type does not list its members
		s.Kind = jmespath.Unknown
	default:
		panic(fmt.Sprintf("%s cannot be described", t))
	}
	return s
}
