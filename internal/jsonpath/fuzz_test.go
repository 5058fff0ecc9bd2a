package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var seeds = []string{
	"$", "$$.a", "$größe.b", "$.a.[0]['b c']", `$["\""]`, "$..a", "$[0", "$.a[1].b", "States.X()", "$.a[(@.length-1)]", "$[-1,2]",
	"$.a[0:-2:2]", "$.[*].['a','b']", "$..[?(@.a == 'x' && !(@.b >= 3) || @.a =~ /x/i)]", "$.a[?(@.b in [1,[x],null])].b", "$.a[?(@..b size 1)]",
	`$[?(@ =~ /a\/\d+/s)]`, "$.a[?($.a subsetof @ || @.a empty true)]",
}

// FuzzParse: nothing panics, an error has a place inside of the text, the text
// of a path parses to the same path, and what Set writes under a reference
// path Get reads there.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := jsonpath.Parse(text)
		if err != nil {
			var syntax *diag.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(text))
			require.NotEmpty(t, syntax.Message)
			return
		}
		again, err := jsonpath.Parse(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
		require.False(t, p.Reference() && !p.Definite())
		for _, doc := range []any{map[string]any{}, []any{"x", map[string]any{}}, nil, "x"} {
			written, err := p.Set(doc, "value")
			if err != nil {
				var conflict *jsonpath.ConflictError
				require.ErrorAs(t, err, &conflict)
				continue
			}
			require.True(t, p.Reference())
			read, err := p.Get(written)
			require.NoError(t, err)
			require.Equal(t, "value", read)
		}
	})
}

// FuzzGet: nothing panics or hangs, a definite path fails with a
// *NotFoundError only, any other gives a list, twice the same one, and the
// document stays as it is.
func FuzzGet(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, `{"a": [{"b": 1, "a": "x"}, [2, {"b": [null, true]}], "a/12"], "b c": {}}`)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		p, err := jsonpath.Parse(path)
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var doc any
		if err != nil || len(text) > 1000 || dec.Decode(&doc) != nil {
			return
		}
		before, err := json.Marshal(doc)
		require.NoError(t, err)
		value, err := p.Get(doc)
		again, againErr := p.Get(doc)
		require.Equal(t, value, again)
		require.Equal(t, err, againErr)
		after, marshalErr := json.Marshal(doc)
		require.NoError(t, marshalErr)
		require.Equal(t, string(before), string(after))
		switch {
		case p.Definite() && err != nil:
			var missing *jsonpath.NotFoundError
			require.ErrorAs(t, err, &missing)
			require.Contains(t, missing.AWS(), path)
		case err != nil:
			var limit *jsonpath.LimitError
			require.ErrorAs(t, err, &limit)
		case !p.Definite():
			require.IsType(t, []any{}, value)
		}
	})
}
