package server

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

func TestEveryOperationIsServed(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	all := slices.Sorted(maps.Keys(s.api.Operations))
	require.Len(t, all, 37)
	require.Equal(t, all, slices.Sorted(maps.Keys(s.operations)))
}

// The structs of the operations have the members of the model, with types that hold their
// values.
func TestStructsAreAsInTheModel(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	for name, o := range s.operations {
		model := s.api.Operations[name]
		requireFit(t, o.in, model.Input, name+" input")
		requireFit(t, o.out, model.Output, name+" output")
		for _, m := range model.Input.Members {
			require.True(t, slices.ContainsFunc(reflect.VisibleFields(o.in), func(f reflect.StructField) bool { return memberOf(f) == m.Name }),
				"%s: the input has no field for %s", name, m.Name)
		}
	}
}

func requireFit(t *testing.T, of reflect.Type, shape *catalog.Shape, where string) {
	t.Helper()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == reflect.TypeFor[json.RawMessage]() {
		return
	}
	kinds := map[catalog.ShapeType][]reflect.Kind{
		catalog.String: {reflect.String}, catalog.Boolean: {reflect.Bool}, catalog.Integer: {reflect.Int, reflect.Int64}, catalog.Long: {reflect.Int, reflect.Int64},
		catalog.Float: {reflect.Float64}, catalog.Double: {reflect.Float64},
		catalog.Timestamp: {reflect.Struct}, catalog.Structure: {reflect.Struct}, catalog.List: {reflect.Slice}, catalog.Map: {reflect.Map},
	}
	require.Contains(t, kinds[shape.Type], of.Kind(), where)
	require.Equal(t, shape.Type == catalog.Timestamp, of == reflect.TypeFor[epoch](), where)
	if shape.Element != nil {
		requireFit(t, of.Elem(), shape.Element.Shape, where)
	}
	if shape.Type == catalog.Structure {
		for f := range of.Fields() {
			m := shape.Member(memberOf(f))
			require.NotNil(t, m, "%s: the model has no member for the field %s", where, f.Name)
			requireFit(t, f.Type, m.Shape, where+"."+m.Name)
		}
	}
}

// Each rule that the model has for inputs is one that the reader knows.
func TestEveryInputHasARule(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	seen := map[*catalog.Shape]bool{}
	var visit func(*catalog.Shape)
	visit = func(shape *catalog.Shape) {
		if seen[shape] {
			return
		}
		seen[shape] = true
		require.NotContains(t, []catalog.ShapeType{catalog.Map, catalog.Blob, catalog.Timestamp, catalog.Document, catalog.Union}, shape.Type, shape.Name)
		if shape.Pattern != "" {
			require.Contains(t, patterns, shape.Pattern)
		}
		for _, m := range shape.Members {
			visit(m.Shape)
		}
		if shape.Element != nil {
			visit(shape.Element.Shape)
		}
	}
	for _, o := range s.api.Operations {
		visit(o.Input)
	}
	require.Greater(t, len(seen), 40)
}
