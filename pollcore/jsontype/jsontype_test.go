package jsontype_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// node is a list that holds itself.
func node(kind jsontype.Kind) *jsontype.Type {
	n := &jsontype.Type{Name: "Node", Kind: jsontype.Object}
	n.Members = map[string]*jsontype.Type{"next": n, "value": {Kind: kind}, "any": nil}
	return n
}

func TestTypesThatContainThemselves(t *testing.T) {
	t.Parallel()
	require.True(t, node(jsontype.String).Equal(node(jsontype.String)))
	require.False(t, node(jsontype.String).Equal(node(jsontype.Number)))
	upper := node(jsontype.String).Respell(func(name string) string { return "x" + name })
	require.Same(t, upper, upper.Members["xnext"])
	require.Nil(t, upper.Members["xany"])
	require.False(t, upper.Equal(node(jsontype.String)))
	require.Nil(t, (*jsontype.Type)(nil).Respell(nil))
}

func TestTypeInMessages(t *testing.T) {
	t.Parallel()
	for want, typ := range map[string]*jsontype.Type{
		"any value": nil, "an object": {Kind: jsontype.Object}, "null": {}, "an enum": {Kind: jsontype.String, Values: []string{"A"}},
		"State": {Name: "State", Kind: jsontype.String, Values: []string{"A"}}, "a number": {Kind: jsontype.Number},
	} {
		require.Equal(t, want, typ.String())
	}
	require.Equal(t, "unknown", jsontype.Kind(99).String())
	require.Nil(t, (&jsontype.Type{Kind: jsontype.Number, Values: []string{"1"}}).Enum())
	require.Nil(t, (*jsontype.Type)(nil).Enum())
}

func TestMapsAndStructures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		typ             *jsontype.Type
		isMap, isStruct bool
	}{
		{nil, false, false},
		{&jsontype.Type{Kind: jsontype.Unknown}, false, false},
		{&jsontype.Type{Kind: jsontype.Array, Elem: &jsontype.Type{}}, false, false},
		{&jsontype.Type{Kind: jsontype.Object, Elem: &jsontype.Type{}}, true, false},
		{&jsontype.Type{Kind: jsontype.Object}, false, true},
	} {
		require.Equal(t, tt.isMap, tt.typ.IsMap())
		require.Equal(t, tt.isStruct, tt.typ.IsStruct())
	}
}
