package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

func document(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var doc any
	require.NoError(t, dec.Decode(&doc))
	return doc
}

func TestGet(t *testing.T) {
	t.Parallel()
	const doc = `{"a": {"b": [{"c": 1}, null], "detail-type": "x", "x y": 2, "it's": 3, "q\\\"": 4, "größe": 5, "aws:tag": 6, "0": 7}}`
	tests := []struct{ path, want string }{
		{"$", doc},
		{"$$", doc},
		{"$$.a.detail-type", `"x"`},
		{"$.a.b[0].c", "1"},
		{"$.a.b.[0].c", "1"},
		{"$['a'].b[0]['c']", "1"},
		{`$["a"]["b"][ 0 ].c`, "1"},
		{"$.a.b[1]", "null"},
		{"$.a['x y']", "2"},
		{"$.a.['x y']", "2"},
		{`$.a['it\'s']`, "3"},
		{`$.a["it's"]`, "3"},
		{`$.a['q\"']`, "4"},
		{`$.a['q\\"']`, "4"},
		{"$.a.größe", "5"},
		{"$.a.aws:tag", "6"},
		{"$.a.0", "7"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			p, err := jsonpath.Parse(tt.path)
			require.NoError(t, err)
			require.Equal(t, tt.path, p.String())
			require.Equal(t, strings.HasPrefix(tt.path, "$$"), p.Context())
			require.Equal(t, strings.Trim(tt.path, "$") == "", p.Root())
			got, err := p.Get(document(t, doc))
			require.NoError(t, err)
			require.Equal(t, document(t, tt.want), got)
		})
	}
}

func TestGetMissing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, doc string
		want      jsonpath.NotFoundError
	}{
		{"$.x", `{}`, jsonpath.NotFoundError{At: "$['x']", Last: true, Reason: jsonpath.NoMember}},
		{"$.x.y.z", `{"x": {}}`, jsonpath.NotFoundError{At: "$['x']['y']", Reason: jsonpath.NoMember}},
		{"$.x[2]", `{"x": [1, 2]}`, jsonpath.NotFoundError{At: "$['x'][2]", Last: true, Reason: jsonpath.NoElement}},
		{"$.x.y", `{"x": [1]}`, jsonpath.NotFoundError{At: "$['x']['y']", Last: true, Reason: jsonpath.NotObject}},
		{"$.x.y", `{"x": null}`, jsonpath.NotFoundError{At: "$['x']['y']", Last: true, Reason: jsonpath.NotObject}},
		{"$.x[0]", `{"x": {"0": 1}}`, jsonpath.NotFoundError{At: "$['x'][0]", Last: true, Reason: jsonpath.NotArray}},
		{"$[0].a", `"text"`, jsonpath.NotFoundError{At: "$[0]", Reason: jsonpath.NotArray}},
	}
	for _, tt := range tests {
		t.Run(tt.path+" of "+tt.doc, func(t *testing.T) {
			t.Parallel()
			p, err := jsonpath.Parse(tt.path)
			require.NoError(t, err)
			_, err = p.Get(document(t, tt.doc))
			var missing *jsonpath.NotFoundError
			require.ErrorAs(t, err, &missing)
			tt.want.Path = tt.path
			require.Equal(t, tt.want, *missing)
			require.ErrorContains(t, err, "leads nowhere at "+tt.want.At)
		})
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, doc, want string }{
		{"$", `{"a": 1}`, `"new"`},
		{"$.a", `{"a": 1, "b": 2}`, `{"a": "new", "b": 2}`},
		{"$.c", `{"a": 1}`, `{"a": 1, "c": "new"}`},
		{"$.c.d['e f']", `{"a": 1}`, `{"a": 1, "c": {"d": {"e f": "new"}}}`},
		{"$.a[1].b", `{"a": [0, {"b": 1, "c": 2}]}`, `{"a": [0, {"b": "new", "c": 2}]}`},
		{"$[0]", `[1, 2]`, `["new", 2]`},
	}
	for _, tt := range tests {
		t.Run(tt.path+" of "+tt.doc, func(t *testing.T) {
			t.Parallel()
			p, err := jsonpath.Parse(tt.path)
			require.NoError(t, err)
			doc := document(t, tt.doc)
			got, err := p.Set(doc, "new")
			require.NoError(t, err)
			require.Equal(t, document(t, tt.want), got)
			require.Equal(t, document(t, tt.doc), doc, "the document itself is not changed")
		})
	}
}

func TestSetConflict(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, doc, step, at string }{
		{"$.a", `[1]`, "a", "$['a']"},
		{"$.a", `null`, "a", "$['a']"},
		{"$.a.b", `{"a": 1}`, "b", "$['a']['b']"},
		{"$.a.b", `{"a": null}`, "b", "$['a']['b']"},
		{"$.a[0]", `{"a": []}`, "0", "$['a'][0]"},
		{"$.a[0]", `{}`, "0", "$['a'][0]"},
		{"$[0]", `{"0": 1}`, "0", "$[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.path+" of "+tt.doc, func(t *testing.T) {
			t.Parallel()
			p, err := jsonpath.Parse(tt.path)
			require.NoError(t, err)
			_, err = p.Set(document(t, tt.doc), "new")
			var conflict *jsonpath.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, jsonpath.ConflictError{Path: tt.path, Step: tt.step, At: tt.at}, *conflict)
			require.ErrorContains(t, err, "cannot be written")
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path   string
		offset int
		want   string
	}{
		{"", 0, "found an empty string"},
		{"a.b", 0, `starts with "$"`},
		{"$.", 2, `expected a name after "."`},
		{"$.a.", 4, `expected a name after "."`},
		{"$a", 1, "variables are not supported"},
		{"$1", 1, "variables are not supported"},
		{"$ .a", 1, `expected "." or "[" after "$"`},
		{"$$a", 2, `expected "." or "[" after "$$"`},
		{"$$$", 2, `expected "." or "[" after "$$"`},
		{"States.Format('{}', $.a)", 0, "intrinsic functions are not supported"},
		{"$.a[*]", 4, "wildcards are not supported"},
		{"$.*", 2, "wildcards are not supported"},
		{"$..a", 1, `descendants ("..") are not supported`},
		{"$.a[?(@.b == 1)]", 4, "filters are not supported"},
		{"$.a[(@.length-1)]", 4, "script expressions are not supported"},
		{"$.a[-1]", 4, "negative array indices are not supported"},
		{"$.a[1:2]", 5, "array slices are not supported"},
		{"$.a[:2]", 4, "array slices are not supported"},
		{"$.a[1,2]", 5, "unions are not supported"},
		{"$['a','b']", 5, "unions are not supported"},
		{"$.a.length()", 10, "functions are not supported"},
		{"$.a b", 3, "write the name as ['...']"},
		{"$.a\xff", 3, "write the name as ['...']"},
		{"$.a]", 3, "write the name as ['...']"},
		{"$['a']]", 6, `expected "." or "["`},
		{"$[a]", 2, "expected a quoted name or an array index"},
		{"$[]", 2, "expected a quoted name or an array index"},
		{"$['a'", 5, `expected "]"`},
		{"$['a", 2, "expected a closing '"},
		{"$[0", 3, `expected "]"`},
		{"$[0 1]", 4, `expected "]"`},
		{"$['a']b", 6, `expected "." or "["`},
		{"$[99999999999999999999]", 2, "too large"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			_, err := jsonpath.Parse(tt.path)
			var syntax *jsonpath.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Contains(t, syntax.Message, tt.want)
			require.Equal(t, tt.offset, syntax.Offset)
			require.Equal(t, tt.path, syntax.Text)
		})
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := jsonpath.Parse("$.a[*]")
	require.EqualError(t, err, `path "$.a[*]", character 5: wildcards are not supported`)
}

// FuzzParse: nothing panics, an error has a place inside of the text, and
// what Set writes under a path Get reads there.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"$", "$$.a", "$.a.[0]['b c']", `$["\""]`, "$.größe", "$..a", "$[?(@)]", "$[0", "$.a[1].b", "States.X()"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := jsonpath.Parse(text)
		if err != nil {
			var syntax *jsonpath.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(text))
			require.NotEmpty(t, syntax.Message)
			return
		}
		for _, doc := range []any{map[string]any{}, []any{"x", map[string]any{}}, nil, "x"} {
			written, err := p.Set(doc, "value")
			if err != nil {
				var conflict *jsonpath.ConflictError
				require.ErrorAs(t, err, &conflict)
				continue
			}
			read, err := p.Get(written)
			require.NoError(t, err)
			require.Equal(t, "value", read)
		}
	})
}
