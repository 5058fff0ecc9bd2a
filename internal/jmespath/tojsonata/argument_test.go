package tojsonata_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// argumentCases have the text that a person reads; empty, the exact one. What
// they give is nothing where want is empty.
var argumentCases = []struct{ expression, on, text, want string }{
	{"Status", `{"Status": "X"}`, "$states.result.Status", `"X"`},
	{"Status", `{}`, "$states.result.Status", ""},
	{"Size", `{"Size": 0}`, "$states.result.Size", `0`},
	{"Done", `{"Done": false}`, "$states.result.Done", `false`},
	{"'X'", `{}`, `'X'`, `"X"`},
	{"`1`", `{}`, `1`, `1`},
	{"`null`", `{}`, "", ""},
	{"Last", `{"Last": {"State": "a"}}`, "$states.result.Last", `{"State": "a"}`},
	{"Last", `{"Last": {}}`, "$states.result.Last", `{}`},
	{"ByName.a.Count", `{"ByName": {"a": {"Count": 2}}}`, "$states.result.ByName.a.Count", `2`},
	{"ByName.A.Count", `{"ByName": {"a": {"Count": 2}}}`, "$states.result.ByName.A.Count", ""},
	{"At", `{"At": "1970-01-01T00:00:05Z"}`, "$toMillis($states.result.At) / 1000", `5`},
	{"length(Names)", `{"Names": ["a"]}`, "$exists($states.result.Names) ? $count($states.result.Names)", `1`},
	{"length(Names)", `{}`, "$exists($states.result.Names) ? $count($states.result.Names)", ""},
	{"Doc", `{"Doc": [null, ["a"]]}`, "", `[null, ["a"]]`},
	{"Doc", `{"Doc": null}`, "", ""},
	{"Status || Last.State", `{"Last": {"State": "a"}}`, "", `"a"`},

	// An array is an array, however many elements it has.
	{"Names", `{"Names": ["a"]}`, "$states.result.Names", `["a"]`},
	{"Names", `{"Names": []}`, "$states.result.Names", `[]`},
	{"Names", `{}`, "$states.result.Names", ""},
	{"Last.Names", `{"Last": {"Names": ["a"]}}`, "$states.result.Last.Names", `["a"]`},
	{"Lines[0].Names", `{"Lines": [{"Names": ["a"]}]}`, "$exists($states.result.Lines[0].Names) ? [$states.result.Lines[0].Names]", `["a"]`},
	{"Lines[0].Names", `{"Lines": [{"Names": []}]}`, "$exists($states.result.Lines[0].Names) ? [$states.result.Lines[0].Names]", `[]`},
	{"Lines[0].Names", `{"Lines": [{}]}`, "$exists($states.result.Lines[0].Names) ? [$states.result.Lines[0].Names]", ""},
	{"Lines[].State", `{"Lines": [{"State": "a"}, {"State": "b"}]}`, "$exists($states.result.Lines) ? [$states.result.Lines.State]", `["a", "b"]`},
	{"Lines[].State", `{"Lines": [{"State": "a"}, {}]}`, "$exists($states.result.Lines) ? [$states.result.Lines.State]", `["a"]`},
	{"Lines[].State", `{"Lines": []}`, "$exists($states.result.Lines) ? [$states.result.Lines.State]", `[]`},
	{"Lines[].State", `{}`, "$exists($states.result.Lines) ? [$states.result.Lines.State]", ""},
	{"Lines[?State == 'a'].Names[]", `{"Lines": [{"State": "a", "Names": ["b"]}]}`, `$exists($states.result.Lines) ? [$states.result.Lines[State = 'a'].Names]`, `["b"]`},
	{"(Lines[].State)[1]", `{"Lines": [{"State": "a"}, {}, {"State": "b"}]}`, "($states.result.Lines.State)[1]", `"b"`},
	{"(Lines[].Names[])[-1]", `{"Lines": [{"Names": ["a"]}, {}, {"Names": ["b"]}]}`, "($states.result.Lines.Names)[-1]", `"b"`},
	{
		"(Lines[?Ready])[0].Names", `{"Lines": [{}, {"Ready": true, "Names": ["a"]}]}`,
		"$exists(($states.result.Lines[Ready = true])[0].Names) ? [($states.result.Lines[Ready = true])[0].Names]", `["a"]`,
	},
	{"Lines[].Names[0]", `{"Lines": [{"Names": ["a"]}, {}, {"Names": ["b", "c"]}]}`, "$exists($states.result.Lines) ? [$states.result.Lines.Names[0]]", `["a", "b"]`},
	{"Grid", `{"Grid": [["a"]]}`, "", `[["a"]]`},
	{"Grid[]", `{"Grid": [["a"], []]}`, "", `["a"]`},
	{"Names[1:]", `{"Names": ["a", "b"]}`, "", `["b"]`},
	{"Times", `{"Times": ["1970-01-01T00:00:05Z"]}`, "", `[5]`},

	// What is null is left out of what is made.
	{"[Status]", `{"Status": "X"}`, "[$states.result.Status]", `["X"]`},
	{"[Status]", `{}`, "[$states.result.Status]", `[]`},
	{"[Status, Last.State, 'c']", `{"Last": {"State": "b"}}`, `[$states.result.Status, $states.result.Last.State, 'c']`, `["b", "c"]`},
	{"[[Status], [Last.State]]", `{"Status": "X"}`, "[[$states.result.Status], [$states.result.Last.State]]", `[["X"], []]`},
	{"[Names]", `{"Names": ["a"]}`, "", `[["a"]]`},
	{"[Names, Names]", `{}`, "", `[]`},
	{"[Doc]", `{"Doc": ["a"]}`, "", `[["a"]]`},
	{"[Doc, `null`]", `{"Doc": null}`, "", `[]`},
	{"{a: Status, b: Names}", `{"Names": ["a"]}`, `{'a': $states.result.Status, 'b': $states.result.Names}`, `{"b": ["a"]}`},
	{"{a: Lines[].State, b: Size}", `{"Size": 1}`, `{'a': $exists($states.result.Lines) ? [$states.result.Lines.State], 'b': $states.result.Size}`, `{"b": 1}`},
	{"{a: Lines[].State, b: Size}", `{"Lines": [], "Size": 1}`, `{'a': $exists($states.result.Lines) ? [$states.result.Lines.State], 'b': $states.result.Size}`, `{"a": [], "b": 1}`},
	{"{a: {b: Status}, c: [{d: Size}]}", `{"Size": 1}`, `{'a': {'b': $states.result.Status}, 'c': [{'d': $states.result.Size}]}`, `{"a": {}, "c": [{"d": 1}]}`},
	{"{\"%}\": '%}', \"a b\": Status}", `{"Status": "X"}`, `{"\u0025}": "\u0025}", 'a b': $states.result.Status}`, `{"%}": "%}", "a b": "X"}`},
	{"{a: Status, a: Size}", `{"Status": "X", "Size": 1}`, `{'a': $states.result.Size}`, `{"a": 1}`},
	{"{a: Status, a: Size}", `{"Status": "X"}`, `{'a': $states.result.Size}`, `{}`},
	{"{a: Doc, a: Size}", `{"Doc": "X"}`, "", `{}`},
	{"{a: Doc}", `{"Doc": {"b": null}}`, "", `{"a": {"b": null}}`},

	// An error anywhere is one of all of it.
	{"{a: length(Names), b: Size}", `{"Size": 1}`, `$exists($states.result.Names) ? {'a': $count($states.result.Names), 'b': $states.result.Size}`, ""},
	{"{a: length(Names), b: Size}", `{"Names": ["a"]}`, `$exists($states.result.Names) ? {'a': $count($states.result.Names), 'b': $states.result.Size}`, `{"a": 1}`},
	{"{a: length(Names), a: Size}", `{"Size": 1}`, `$exists($states.result.Names) ? {'a': $states.result.Size}`, ""},
	{"[Size, [length(Names)]]", `{"Size": 1}`, "$exists($states.result.Names) ? [$states.result.Size, [$count($states.result.Names)]]", ""},
	{"[Size, [sum(Doc)]]", `{"Size": 1}`, "", ""},
}

func eachArgument(t *testing.T, yield func(c translated)) {
	t.Helper()
	for _, a := range argumentCases {
		e, err := jmespath.Parse(a.expression)
		require.NoError(t, err, a.expression)
		c := translated{method: "Argument", want: nothing{}}
		require.NoError(t, json.Unmarshal([]byte(a.on), &c.on), a.on)
		if a.want != "" {
			require.NoError(t, json.Unmarshal([]byte(a.want), &c.want), a.want)
		}
		c.text, err = tojsonata.Translate(e, "$states.result", orders()).Argument(nil, nil)
		require.NoError(t, err, a.expression)
		if a.text == "" {
			require.False(t, isReadable(c.text), "%s: %s", a.expression, c.text)
		} else {
			require.Equal(t, a.text, c.text, a.expression)
		}
		yield(c)
	}
}

func TestArgument(t *testing.T) {
	t.Parallel()
	eachArgument(t, func(c translated) {
		got, err := evaluateJSONata(t, c.text, c.on)
		require.NoError(t, err, c.text)
		require.True(t, c.agrees(got), "%s on %v wants %v, gives %v", c.text, c.on, c.want, got)
	})
}

func TestUntranslatableArgument(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"{__proto__: Status}":       "1:1: JSONata cannot make an object with the member __proto__",
		"[Status, to_string(Size)]": "1:10: to_string() has no equal in JSONata",
		"{a: values(Last)}":         "1:5: a timestamp is a string",
	} {
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		_, err = tojsonata.Translate(e, "$states.result", orders()).Argument(nil, nil)
		require.ErrorContains(t, requireRefused(t, err), want)
	}
}

// Members that an argument writes have their names in the call, as far as they
// are those of a structure; keys of maps are data.
func TestNamesOfArguments(t *testing.T) {
	t.Parallel()
	text := &jsontype.Type{Kind: jsontype.String}
	filter := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"ids":  {Kind: jsontype.Array, Elem: text},
		"tags": {Kind: jsontype.Object, Elem: text},
	}}
	data := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"id": text, "lists": {Kind: jsontype.Array, Elem: &jsontype.Type{Kind: jsontype.Array, Elem: text}},
	}}
	upper := func(owner *jsontype.Type, name string) string {
		require.Contains(t, owner.Members, name)
		return strings.ToUpper(name[:1]) + name[1:]
	}
	for _, c := range []struct {
		text     string
		declared *jsontype.Type
		want     string
	}{
		{"{ids: [id]}", filter, `{'Ids': [$in.id]}`},
		{"[{ids: [id]}]", &jsontype.Type{Kind: jsontype.Array, Elem: filter}, `[{'Ids': [$in.id]}]`},
		{"{tags: {lower: id}}", filter, `{'Tags': {'lower': $in.id}}`},
		{"{ids: id, Ids: [id]}", filter, `{'Ids': [$in.id]}`},
		{"{other: id}", filter, `{'other': $in.id}`},
		{"{ids: id}", nil, `{'ids': $in.id}`},
		{"id", text, `$in.id`},
	} {
		e, err := jmespath.Parse(c.text)
		require.NoError(t, err)
		got, err := tojsonata.Translate(e, "$in", data).Argument(c.declared, upper)
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.text)
	}
	e, err := jmespath.Parse("[{ids: id, other: lists[].[@, id]}]")
	require.NoError(t, err)
	got, err := tojsonata.Translate(e, "$in", data).Argument(&jsontype.Type{Kind: jsontype.Array, Elem: filter}, upper)
	require.NoError(t, err)
	require.False(t, isReadable(got), got)
	require.Contains(t, got, `, 'Ids', `)
	require.Contains(t, got, `, 'other', `)
}
