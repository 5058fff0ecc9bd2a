package terraform

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// TestConvertsAsTerraform: a converted value is what hcl and cty make of it, whatever an
// unknown part of it may be, and what they refuse is unknown.
func TestConvertsAsTerraform(t *testing.T) {
	t.Parallel()
	kinds := []string{
		"string", "number", "bool", "any", "list(string)", "list(number)", "list(any)", "set(string)", "set(number)", "set(any)", "map(string)", "map(number)", "map(any)",
		"tuple([string, number])", "object({a = string})", "object({a = number, b = optional(string)})", "object({a = any, b = optional(number, 3)})",
		"list(object({a = any, b = optional(string, \"d\")}))", "map(object({a = optional(number, 1)}))", "object({a = optional(object({b = optional(number, 4)}), {})})", "list(list(any))", "map(map(any))",
	}
	values := []string{
		`"a"`, `"5"`, `"5.50"`, `"true"`, `"1"`, `5`, `1.50`, `true`, `null`, `[]`, `{}`, `["b", "a", "b"]`, `["10", "9"]`, `[10, 9, 9]`, `[1, "2"]`, `["x", 2]`, `[true, 1]`, `[null, 1]`, `[[1], ["a", "b"]]`,
		`{a = 1}`, `{a = "1"}`, `{a = "x", b = 2}`, `{a = null}`, `{a = {}}`, `{a = {b = "7"}}`, `{a = 1, c = true}`, `[{a = 1}, {a = "x"}]`, `[{a = 1}, {b = 2}]`, `[{a = 1}, {a = 2, b = 3}]`, `{x = {a = "1"}, y = {}}`,
		`HOLE`, `"x${HOLE}"`, `[HOLE]`, `[HOLE, "a"]`, `[HOLE, 1]`, `[HOLE, true, "a"]`, `[1, "x${HOLE}"]`, `{a = HOLE}`, `{a = HOLE, b = 1}`, `{a = 1, b = HOLE}`, `{a = HOLE, b = 1, c = "y"}`, `[{a = HOLE}, {a = 1}]`,
		`[{a = HOLE, b = 2}, {a = "x", b = 2}]`, `{x = {a = HOLE}, y = {a = 2}}`, `[[HOLE], [1]]`, `{a = {b = HOLE}}`,
	}
	for _, kind := range kinds {
		for _, value := range values {
			m, v := converted(t, kind, strings.ReplaceAll(value, "HOLE", "aws_a.b.c"))
			for _, part := range []string{`"s"`, `"5"`, `7`, `true`, `null`} {
				if actual := strings.ReplaceAll(value, "HOLE", part); actual != value || part == `"s"` {
					requireAgrees(t, v, judged(t, m, actual), kind+": "+value+" with "+part)
				}
			}
			if !strings.Contains(value, "HOLE") {
				requireKnown(t, v, judged(t, m, value), kind+": "+value)
			}
		}
	}
}

// TestTypesTakeNoTime: a type whose defaults take long is not read.
func TestTypesTakeNoTime(t *testing.T) {
	t.Parallel()
	loop := "[" + strings.Repeat("[for a in [1, 2, 3, 4, 5, 6, 7, 8] : ", 12) + "a" + strings.Repeat("]", 13)
	for _, kind := range []string{"object({a = optional(any, " + loop + ")})", "object({a = optional(string, 1e99999999)})", `object({a = optional(string, "${1e99999999}")})`} {
		_, v := converted(t, kind, "{}")
		require.Equal(t, Unknown, v.Kind, kind)
	}
}

// converted is what a variable of a type is that has a value.
func converted(t *testing.T, kind, value string) (hclsyntax.Expression, *Value) { //nolint:ireturn // one of hcl's kinds
	t.Helper()
	text := "variable \"x\" {\n  type = " + kind + "\n  default = " + value + "\n}\n"
	m, err := newModule(New(oneFile(text)).reader, ".")
	require.NoError(t, err)
	require.Empty(t, m.source.problems, text)
	return m.blocks["variable.x"].attributes["type"], m.variable(m.evaluator(newBudget(), nil), "x", Place{})
}

// judged is the JSON of a value in a type; empty if there is none.
func judged(t *testing.T, kind hclsyntax.Expression, text string) string {
	t.Helper()
	parsed, diagnostics := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	require.False(t, diagnostics.HasErrors(), text)
	v, diagnostics := parsed.Value(nil)
	if diagnostics.HasErrors() {
		return ""
	}
	want, defaults, diagnostics := typeexpr.TypeConstraintWithDefaults(kind)
	require.False(t, diagnostics.HasErrors())
	if defaults != nil {
		v = defaults.Apply(v)
	}
	v, err := convert.Convert(v, want)
	if err != nil {
		return ""
	}
	encoded, err := ctyjson.Marshal(v, v.Type())
	require.NoError(t, err)
	return string(encoded)
}

// requireKnown: no part of a value is unknown, unless Terraform refuses it.
func requireKnown(t *testing.T, v *Value, want, about string) {
	t.Helper()
	encoded, ok := encode(v, newBudget())
	require.True(t, ok)
	_, known := encoded.known()
	require.Equal(t, want != "", known, "%s: %s", about, want)
}

// requireAgrees: what is known of a value is so.
func requireAgrees(t *testing.T, v *Value, want, about string) {
	t.Helper()
	if want == "" { // Terraform refuses it: nothing is asked of the value
		return
	}
	decoder := json.NewDecoder(strings.NewReader(want))
	decoder.UseNumber()
	var decoded any
	require.NoError(t, decoder.Decode(&decoded))
	agrees(t, v, decoded, about+": "+want)
}

func agrees(t *testing.T, v *Value, rendered any, about string) {
	t.Helper()
	switch v.Kind {
	case Unknown:
	case Null:
		require.Nil(t, rendered, about)
	case Bool:
		require.Equal(t, v.Literal == "true", rendered, about)
	case Number:
		require.IsType(t, json.Number(""), rendered, about)
		encoded, err := json.Marshal(rendered)
		require.NoError(t, err)
		require.JSONEq(t, string(encoded), v.Literal, about)
	case String:
		require.IsType(t, "", rendered, about)
		if text, known := v.Text.known(); known {
			require.Equal(t, rendered, text, about)
		}
	case List:
		require.IsType(t, []any{}, rendered, about)
		require.Len(t, rendered, len(v.Items), about)
		for i, item := range v.Items {
			agrees(t, item, rendered.([]any)[i], about) //nolint:forcetypeassert // it is one
		}
	case Object:
		require.IsType(t, map[string]any{}, rendered, about)
		require.Len(t, rendered, len(v.Members), about)
		for _, m := range v.Members {
			name, _ := m.Name.Text.known()
			require.Contains(t, rendered, name, about)
			agrees(t, m.Value, rendered.(map[string]any)[name], about) //nolint:forcetypeassert // it is one
		}
	}
}
