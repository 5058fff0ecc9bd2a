package jmespath_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// Members that an argument writes have their names in the call, as far as they
// are those of a structure; keys of maps are data.
func TestArgument(t *testing.T) {
	t.Parallel()
	text := &jmespath.Schema{Kind: jmespath.String}
	filter := &jmespath.Schema{Kind: jmespath.Object, Members: map[string]*jmespath.Schema{
		"ids":  {Kind: jmespath.Array, Elem: text},
		"tags": {Kind: jmespath.Object, Elem: text},
	}}
	data := &jmespath.Schema{Kind: jmespath.Object, Members: map[string]*jmespath.Schema{
		"id": text, "lists": {Kind: jmespath.Array, Elem: &jmespath.Schema{Kind: jmespath.Array, Elem: text}},
	}}
	upper := func(owner *jmespath.Schema, name string) string {
		require.Contains(t, owner.Members, name)
		return strings.ToUpper(name[:1]) + name[1:]
	}
	for _, c := range []struct {
		text   string
		schema *jmespath.Schema
		want   string
	}{
		{"{ids: [id]}", filter, `{"Ids": [$in.id]}`},
		{"[{ids: [id]}]", &jmespath.Schema{Kind: jmespath.Array, Elem: filter}, `[{"Ids": [$in.id]}]`},
		{"{tags: {lower: id}}", filter, `{"Tags": {"lower": $in.id}}`},
		{"{other: id}", filter, `{"other": $in.id}`},
		{"{ids: id}", nil, `{"ids": $in.id}`},
		{"id", text, `$in.id`},
	} {
		e, err := jmespath.Parse(c.text)
		require.NoError(t, err)
		got, err := e.JSONata("$in", data).Argument(c.schema, upper)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.text)
	}
	e, err := jmespath.Parse("{ids: id, other: lists[].[@, id]}")
	require.NoError(t, err)
	_, err = e.JSONata("$in", data).Argument(filter, upper)
	require.ErrorContains(t, err, `the member "ids" has another name in the call`)
}
