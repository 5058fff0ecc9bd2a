package jobstest

import (
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
)

// outputShape describes what jobs.Output makes of a value of a type of the SDK:
// with members as Step Functions spells them, and timestamps and blobs as
// strings. It is nil for what has no type.
func outputShape(t reflect.Type) *pollcore.Shape {
	return shapes{}.of(t)
}

// shapes are those of the structures found so far, which can contain themselves.
type shapes map[reflect.Type]*pollcore.Shape

func (known shapes) of(t reflect.Type) *pollcore.Shape {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil
	}
	if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[[]byte]() {
		return &pollcore.Shape{Kind: pollcore.KindString}
	}
	switch t.Kind() {
	case reflect.Struct:
		return known.structure(t)
	case reflect.Slice:
		return &pollcore.Shape{Kind: pollcore.KindArray, Elem: known.of(t.Elem())}
	case reflect.Map:
		return &pollcore.Shape{Kind: pollcore.KindObject, Elem: known.of(t.Elem())}
	case reflect.String:
		return &pollcore.Shape{Name: t.Name(), Kind: pollcore.KindString, Values: pollcore.ValueType{Go: t}.Values()}
	case reflect.Bool:
		return &pollcore.Shape{Kind: pollcore.KindBoolean}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return &pollcore.Shape{Kind: pollcore.KindNumber}
	default: // a union, whose members its type does not say
		return nil
	}
}

func (known shapes) structure(t reflect.Type) *pollcore.Shape {
	if s, ok := known[t]; ok {
		return s
	}
	s := &pollcore.Shape{Name: t.Name(), Kind: pollcore.KindObject, Members: map[string]*pollcore.Shape{}}
	known[t] = s
	for f := range t.Fields() {
		if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
			s.Members[javasdk.MemberName(f.Name)] = known.of(f.Type)
		}
	}
	return s
}
