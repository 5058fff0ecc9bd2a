package jobstest

import (
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// outputShape describes what jobs.Output makes of a value of a type of the SDK:
// with members as Step Functions spells them, and timestamps and blobs as
// strings. It is nil for what has no type.
func outputShape(t reflect.Type) *jsontype.Type {
	return shapes{}.of(t)
}

// shapes are those of the structures found so far, which can contain themselves.
type shapes map[reflect.Type]*jsontype.Type

func (known shapes) of(t reflect.Type) *jsontype.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil
	}
	if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[[]byte]() {
		return &jsontype.Type{Kind: jsontype.String}
	}
	switch t.Kind() {
	case reflect.Struct:
		return known.structure(t)
	case reflect.Slice:
		return &jsontype.Type{Kind: jsontype.Array, Elem: known.of(t.Elem())}
	case reflect.Map:
		return &jsontype.Type{Kind: jsontype.Object, Elem: known.of(t.Elem())}
	case reflect.String:
		return &jsontype.Type{Name: t.Name(), Kind: jsontype.String, Values: jmespath.GoValues(t)}
	case reflect.Bool:
		return &jsontype.Type{Kind: jsontype.Boolean}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return &jsontype.Type{Kind: jsontype.Number}
	default: // a union, whose members its type does not say
		return nil
	}
}

func (known shapes) structure(t reflect.Type) *jsontype.Type {
	if s, ok := known[t]; ok {
		return s
	}
	s := &jsontype.Type{Name: t.Name(), Kind: jsontype.Object, Members: map[string]*jsontype.Type{}}
	known[t] = s
	for f := range t.Fields() {
		if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
			s.Members[javasdk.MemberName(f.Name)] = known.of(f.Type)
		}
	}
	return s
}
