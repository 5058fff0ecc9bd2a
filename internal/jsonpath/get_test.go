package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

func document(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var doc any
	require.NoError(t, dec.Decode(&doc))
	return doc
}

func parse(t testing.TB, text string) *jsonpath.Path {
	t.Helper()
	p, err := jsonpath.Parse(text)
	require.NoError(t, err)
	return p
}

// requireGet demands a value of a path, in JSON.
func requireGet(t *testing.T, path, doc, want string) {
	t.Helper()
	got, err := parse(t, path).Get(document(t, doc))
	require.NoError(t, err)
	require.Equal(t, document(t, want), got)
}

func TestGetDefinite(t *testing.T) {
	t.Parallel()
	const doc = `{"a": {"b": [{"c": 1}, null], "detail-type": "x", "x y": 2, "it's": 3, "q\\\"": 4, "größe": 5, "aws:tag": 6, "0": 7, "n\"m\"": 8}}`
	tests := []struct{ path, want string }{
		{"$", doc},
		{"$$", doc},
		{"$a.a.0", "7"},
		{"$$.a.detail-type", `"x"`},
		{"$.a.b[0].c", "1"},
		{"$.a.b.[0].c", "1"},
		{"$.['a'].b[0]['c']", "1"},
		{`$["a"]["b"][ 0 ].c`, "1"},
		{"$.a.b[1]", "null"},
		{"$.a.b[(@.length-1)]", "null"},
		{"$.a.b[( @.length - 2 )].c", "1"},
		{"$.a['x y']", "2"},
		{"$.a.['x y']", "2"},
		{`$.a['it\'s']`, "3"},
		{`$.a["it's"]`, "3"},
		{`$.a['q\"']`, "4"},
		{`$.a['q\\"']`, "4"},
		{`$.a["n\"m\""]`, "8"},
		{"$.a.größe", "5"},
		{"$.a.aws:tag", "6"},
		{"$.a.0", "7"},
		{"$.a['0','none','aws:tag']", `{"0": 7, "aws:tag": 6}`},
		{"$.a['none','other']", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.True(t, parse(t, tt.path).Definite())
			requireGet(t, tt.path, doc, tt.want)
		})
	}
}

func TestGetMissing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, doc, at string
		last          bool
		reason        jsonpath.Reason
		aws           string
	}{
		{"$.x", `{}`, "$['x']", true, jsonpath.NoMember, "No results for path: $['x']"},
		{"$.x.y", `{"x": {}}`, "$['x']['y']", true, jsonpath.NoMember, "No results for path: $['x']['y']"},
		{"$.x.y.z", `{"x": {}}`, "$['x']['y']", false, jsonpath.NoMember, "Missing property in path $['x']['y']"},
		{"$.x[2]", `{"x": [1, 2]}`, "$['x'][2]", true, jsonpath.NoElement, "No results for path: $['x'][2]"},
		{"$.x[2].y", `{"x": [1, 2]}`, "$['x'][2]", false, jsonpath.NoElement, "No results for path: $['x'][2]['y']"},
		{"$.x[-1]", `{"x": [1, 2]}`, "$['x'][-1]", true, jsonpath.NoElement, "No results for path: $['x'][-1]"},
		{"$[(@.length-3)]", `[1, 2]`, "$[(@.length-3)]", true, jsonpath.NoElement, "No results for path: $[(@.length-3)]"},
		{"$[(@.length-0)]", `[1, 2]`, "$[(@.length-0)]", true, jsonpath.NoElement, "No results for path: $[(@.length-0)]"},
		{"$.x.y.z", `{"x": [1]}`, "$['x']['y']", false, jsonpath.NotObject, "Property ['y'] not found in path $['x']"},
		{"$.x['y','z']", `{"x": 1}`, "$['x']['y','z']", true, jsonpath.NotObject, "Property ['y','z'] not found in path $['x']"},
		{"$.x.y", `{"x": null}`, "$['x']['y']", true, jsonpath.NotObject, "Property ['y'] not found in path $['x']"},
		{
			"$.x[0]", `{"x": {"0": 1}}`, "$['x'][0]", true, jsonpath.NotArray,
			`Filter: [0] can only be applied to arrays. Current context is: {"0":1}`,
		},
		{"$[0].a", `null`, "$[0]", false, jsonpath.NotArray, "The path $ is null"},
		{
			"$$[0].a", `"text"`, "$[0]", false, jsonpath.NotArray,
			`Filter: [0]['a'] can only be applied to arrays. Current context is: "text"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.path+" of "+tt.doc, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, tt.path).Get(document(t, tt.doc))
			var missing *jsonpath.NotFoundError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, tt.path, missing.Path)
			require.Equal(t, tt.at, missing.At)
			require.Equal(t, tt.last, missing.Last)
			require.Equal(t, tt.reason, missing.Reason)
			require.Equal(t, "Invalid path '"+tt.path+"' : "+tt.aws, missing.AWS())
			require.ErrorContains(t, err, "leads nowhere at "+tt.at)
		})
	}
}

func TestGetList(t *testing.T) {
	t.Parallel()
	const doc = `{
		"list": [{"n": "c", "v": 1}, {"n": "a", "v": 2, "in": {"n": "x"}}, {"v": 3}, 4],
		"map": {"z": 1, "b": {"n": "m"}, "a": [5, [6]]}
	}`
	tests := []struct{ path, want string }{
		{"$.list[*].n", `["c", "a"]`},
		{"$.list.*.v", `[1, 2, 3]`},
		{"$.list[*].in.n", `["x"]`},
		{"$.map[*]", `[[5, [6]], {"n": "m"}, 1]`},
		{"$.map.*", `[[5, [6]], {"n": "m"}, 1]`},
		{"$.list[1:3].v", `[2, 3]`},
		{"$.list[3:]", `[4]`},
		{"$.list[:1].n", `["c"]`},
		{"$.list[-1:]", `[4]`},
		{"$.list[:-3].v", `[1]`},
		{"$.list[ 0:3:2 ].v", `[1, 2, 3]`},
		{"$.list[2:0:-1].v", `[]`},
		{"$.list[0:-1]", `[]`},
		{"$.list[2:1]", `[]`},
		{"$.list[9:]", `[]`},
		{"$.list[-9:1].v", `[1]`},
		{"$.list[0,2,9,0].v", `[1, 3, 1]`},
		{"$.list[-1,0].v", `[1]`},
		{"$.[*].['z','a']", `[{"z": 1, "a": [5, [6]]}]`},
		{"$.list[*]['n','v']", `[{"n": "c", "v": 1}, {"n": "a", "v": 2}, {"v": 3}]`},
		{"$['map','list'].b.n", `["m"]`},
		{"$['map','list'][1:]", `[{"n": "a", "v": 2, "in": {"n": "x"}}, {"v": 3}, 4]`},
		{"$..n", `["c", "a", "x", "m"]`},
		{"$..['n']", `["c", "a", "x", "m"]`},
		{"$..['n','v']", `[{"n": "c", "v": 1}, {"n": "a", "v": 2}]`},
		{"$..[0]", `[{"n": "c", "v": 1}, 5, 6]`},
		{"$.map..*", `[[5, [6]], {"n": "m"}, 1, 5, [6], 6, "m"]`},
		{"$..in..n", `["x"]`},
		{"$..[1:2].n", `["a"]`},
		{"$..[(@.length-1)]", `[4, [6], 6]`},
		{"$.none[*]", `[]`},
		{"$.none.x[1:5].y", `[]`},
		{"$.list.x[*]", `[]`},
		{"$.list[7][*]", `[]`},
		{"$.list[3][*]", `[]`},
		{"$.list[*][0]", `[]`},
		{"$..none", `[]`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.False(t, parse(t, tt.path).Definite())
			requireGet(t, tt.path, doc, tt.want)
		})
	}
}

func TestGetLimit(t *testing.T) {
	t.Parallel()
	doc := document(t, `{"list": [`+strings.Repeat("[[0]],", 2000)+`[]], "deep": `+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`}`)
	tests := []string{
		"$.deep..*..*..*..*..*..*..*..*",
		"$.list[?($ == $)]",
		"$.list[?($.list subsetof $.list)]",
		"$.list[?($..* anyof ['a'])]",
		"$.list[?(" + strings.Repeat("1==1 && ", 5000) + "@[0])]",
		"$.list[*].." + "['a'" + strings.Repeat(",'a'", 9000) + "]",
	}
	for _, path := range tests {
		t.Run(path[:min(len(path), 40)], func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, path).Get(doc)
			var limit *jsonpath.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, path, limit.Path)
			require.ErrorContains(t, err, "visits more than")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	doc := document(b, `{"detail": {"jobs": [{"id": "a"}, {"id": "b", "state": {"status": "DONE"}}]}}`)
	p := parse(b, "$.detail.jobs[1].state.status")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Get(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetFilter(b *testing.B) {
	doc := document(b, `{"jobs": [{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c", "n": 3}]}`)
	p := parse(b, "$.jobs[?(@.n >= 2 && @.id != 'c')].id")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Get(doc); err != nil {
			b.Fatal(err)
		}
	}
}
