package jsontree_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestParseKeepsOrderAndPlaces(t *testing.T) {
	t.Parallel()
	text := `{ "b/~" : [1.50, {"x": "é\n"}],` + "\n" + ` "a": null, "t": true }`
	doc, err := jsontree.Parse([]byte(text))
	require.NoError(t, err)
	root := doc.Root
	require.Equal(t, jsontree.Object, root.Kind)
	require.Equal(t, text, string(root.Raw()))
	require.Equal(t, []string{"b/~", "a", "t"}, []string{root.Members[0].Name, root.Members[1].Name, root.Members[2].Name})

	x := root.Get("b/~").Items[1].Get("x")
	require.Equal(t, "/b~1~0/1/x", x.Pointer())
	require.Equal(t, "é\n", x.Text)
	require.Equal(t, `"é\n"`, string(x.Raw()))
	require.Nil(t, root.Get("none"))

	p := root.Get("a").Problem("not %s", "good")
	require.Equal(t, "2:7: /a: not good", p.String())
	p = root.MemberProblem(root.Members[2], "unknown")
	require.Equal(t, "2:13: /t: unknown", p.String())
	require.Equal(t, map[string]any{
		"b/~": []any{json.Number("1.50"), map[string]any{"x": "é\n"}}, "a": nil, "t": true,
	}, root.Value())
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "1:1: not valid JSON: the text is empty"},
		{"trailing", "{} x", "1:4: not valid JSON: invalid character 'x' after top-level value"},
		{"a byte-order mark", "\ufeff{}", "1:1: not valid JSON: invalid character 'ï' looking for beginning of value; the text starts with a byte-order mark: save it as UTF-8 without one"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "looking for beginning of value; the text is in UTF-16: save it as UTF-8"},
		{"UTF-16, the other way around", "\xfe\xff\x00{\x00}", "looking for beginning of value; the text is in UTF-16: save it as UTF-8"},
		{"cut", `{"a":`, "1:6: not valid JSON: the text ends before its value does"},
		{"bad token", "{\n  \"a\": nope}", "2:9: not valid JSON: invalid character 'o' in literal null (expecting 'u')"},
		{"duplicates", `{"a":1,"b":{"c":1,"c":2},"a":3}`, "2 problems:\n1:19: /b/c: member \"c\" stands twice in this object; keep one"},
		{"deep", strings.Repeat("[", 600) + strings.Repeat("]", 600), "nested deeper than 512 values"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := jsontree.Parse([]byte(tt.text))
			var problems diag.Problems
			require.ErrorAs(t, err, &problems)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
