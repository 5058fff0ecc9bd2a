package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema"
)

type (
	common struct {
		Name string `json:"name"`
	}

	tree struct {
		common

		Inner  *tree      `json:"inner,omitempty"`
		Leaves []leaf     `json:"leaves"`
		Hidden string     `json:"-"`
		Colour *schemaFor `json:"colour,omitempty"`
	}

	leaf struct{ Lasts time.Duration }

	schemaFor struct {
		// At is where it is.
		At int `json:"at"`
	}
)

// MarshalJSON writes what no field shows.
func (l leaf) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Seconds float64  `json:"seconds"`
		Notes   []string `json:"notes,omitempty"`
	}{l.Lasts.Seconds(), make([]string, int(l.Lasts/time.Second))})
}

func TestOf(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[[]tree](), schema.Options{
		Types:     map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[leaf](): {Type: "object"}},
		Described: map[string]string{"name": "the name", "inner": "one below", "colour.at": "a place"},
		Closed:    true,
	})
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	const of = `{"type": "object", "additionalProperties": false, "required": ["name", "leaves"], "properties": {
		"name": {"type": "string", "description": "the name"}, "inner": {"$ref": "#/$defs/tree", "description": "one below"},
		"leaves": {"type": "array", "items": {"type": "object"}},
		"colour": {"type": "object", "additionalProperties": false, "required": ["at"], "properties": {"at": {"type": "integer", "description": "a place"}}}}}`
	require.JSONEq(t, `{"$defs": {"tree": `+of+`}, "type": "array", "items": {"$ref": "#/$defs/tree"}}`, string(text))
}

func TestOfWhatWritesItself(t *testing.T) {
	t.Parallel()
	s, err := schema.Of(reflect.TypeFor[leaf](), schema.Options{})
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"type": "object", "properties": {"seconds": {"type": "number"}, "notes": {"type": "array", "items": {"type": "string"}}}, "required": ["seconds"]}`, string(text))

	s, err = schema.Sampled(map[string]any{"a": 1.5, "b": []string{"x"}, "c": map[string]bool{"d": true}}, map[string]any{"a": 0})
	require.NoError(t, err)
	text, err = json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}, "b": {"type": "array", "items": {"type": "string"}},
		"c": {"type": "object", "properties": {"d": {"type": "boolean"}}}}}`, string(text))
	_, err = schema.Sampled(map[string]any{"a": nil}, map[string]any{})
	require.ErrorContains(t, err, "nothing shows the type of null")
}

func TestDescribedMembersAreThere(t *testing.T) {
	t.Parallel()
	_, err := schema.Of(reflect.TypeFor[common](), schema.Options{Described: map[string]string{"size": "the name"}})
	require.EqualError(t, err, "there is no member size, which is described")
}

func TestLists(t *testing.T) {
	t.Parallel()
	section := "Text.\n\n- `a`, `b.c`: of [both](x.md)\n- `d`: one: two\n\nA row has:\n\n| `e` | text | its `f` |\n"
	require.Equal(t, map[string]string{"a": "of both", "b.c": "of both", "d": "one: two", "rows.e": "its `f`"}, schema.Lists(section, "", "rows"))
}
