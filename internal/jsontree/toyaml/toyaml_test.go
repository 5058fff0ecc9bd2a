package toyaml_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/jsontree/toyaml"
)

// values draws JSON, with texts that YAML could take for something else.
func values() *rapid.Generator[any] {
	texts := rapid.OneOf(rapid.SampledFrom([]string{"", "no", "1", "1e3", "null", "~", "a: b", "- a", "#", "2026-11-23", "*", "&a", "!t", "a\nb\n", "\na", "\n", " a\nb", "\u2028a\nb", "a\n b\n\n", " a ", "\t", "é", "<<"}), rapid.String())
	return rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Map(texts, func(s string) any { return s }),
			rapid.Map(rapid.Float64Range(-1e15, 1e15), func(f float64) any { return f }),
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Just[any](nil),
			rapid.Map(rapid.SliceOfN(values(), 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(texts, values(), 0, 3), func(m map[string]any) any { return m }),
		)
	})
}

// YAML has the value that the JSON had.
func TestNodeKeepsTheValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(values().Draw(t, "value"))
		require.NoError(t, err)
		doc, err := jsontree.Parse(text)
		require.NoError(t, err)
		written, err := yaml.Marshal(toyaml.Node(doc.Root))
		require.NoError(t, err)
		var read any
		require.NoError(t, yaml.Unmarshal(written, &read), "%s", written)
		again, err := json.Marshal(read)
		require.NoError(t, err)
		require.JSONEq(t, string(text), string(again), "%s", written)
	})
}

// Members keep their order, and what is empty is written on its line.
func TestNodeKeepsTheOrder(t *testing.T) {
	t.Parallel()
	doc, err := jsontree.Parse([]byte(`{"b": {}, "a": [[], 1.50, "1.50"], "<<": ""}`))
	require.NoError(t, err)
	written, err := yaml.Marshal(toyaml.Node(doc.Root))
	require.NoError(t, err)
	require.Equal(t, "b: {}\na:\n    - []\n    - 1.50\n    - \"1.50\"\n\"<<\": \"\"\n", string(written))
}
