package jsonpath_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
)

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
			doc := document(t, tt.doc)
			got, err := parse(t, tt.path).Set(doc, "new")
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
		{"$[-1]", `[1]`, "-1", "$[-1]"},
		{"$.a[*]", `{"a": []}`, "[*]", "$['a'][*]"},
		{"$..a", `{"a": 1}`, "a", "$..a"},
		{"$['a','b']", `{"a": 1}`, "['a','b']", "$['a','b']"},
	}
	for _, tt := range tests {
		t.Run(tt.path+" of "+tt.doc, func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, tt.path).Set(document(t, tt.doc), "new")
			var conflict *jsonpath.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, jsonpath.ConflictError{Path: tt.path, Step: tt.step, At: tt.at}, *conflict)
			require.ErrorContains(t, err, "cannot be written")
		})
	}
}
