package jsonpath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestParse(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 80)
	tests := []struct {
		path                               string
		root, context, definite, reference bool
		variable                           string
	}{
		{path: "$", root: true, definite: true, reference: true},
		{path: "$$", root: true, context: true, definite: true, reference: true},
		{path: "$$.Map.Item.Value", context: true, definite: true, reference: true},
		{path: "$$['Execution']", context: true, definite: true, reference: true},
		{path: "$x", root: true, definite: true, reference: true, variable: "x"},
		{path: "$größe_2.a[0]", definite: true, reference: true, variable: "größe_2"},
		{path: "$変数['a']", definite: true, reference: true, variable: "変数"},
		{path: "$x[*]", variable: "x"},
		{path: "$" + long, root: true, definite: true, reference: true, variable: long},
		{path: "$.detail-type", definite: true, reference: true},
		{path: "$.detail.case-id", definite: true, reference: true},
		{path: "$.Snapshots.[0].State", definite: true, reference: true},
		{path: "$['Test\\\"\"Name\"']", definite: true, reference: true},
		{path: "$.item.items[1:5].itemValue"},
		{path: "$.[0]", definite: true, reference: true},
		{path: "$['it\\'s'].größe", definite: true, reference: true},
		{path: "$.a[-1]", definite: true},
		{path: "$.a[(@.length-1)]", definite: true},
		{path: "$.a['b','c']", definite: true},
		{path: "$.a['b','c'].d"},
		{path: "$.[*].['bucket', 'key']"},
		{path: "$.a[0,1]"},
		{path: "$.a[0:1]"},
		{path: "$.a[:1]"},
		{path: "$.a[1:]"},
		{path: "$.a.*"},
		{path: "$..a"},
		{path: "$.a[0]Id", definite: true, reference: true},
		{path: "$.a[0]Id.b", definite: true, reference: true},
		{path: "$.a[*]Id"},
		{path: "$.a']", definite: true, reference: true},
		{path: "$.Labels[?(@.Name==Receipt)]"},
		{path: "$.[?(@.year < 1999)].name"},
		{path: "$.a[?(@.x == 'y' && !(@.n >= 3) || @.s =~ /re/i || @.a in ['x'] || @.exists)]"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			p := parse(t, tt.path)
			require.Equal(t, tt.path, p.String())
			require.Equal(t, tt.root, p.Root(), "root")
			require.Equal(t, tt.context, p.Context(), "context")
			require.Equal(t, tt.variable, p.Variable(), "variable")
			require.Equal(t, tt.definite, p.Definite(), "definite")
			require.Equal(t, tt.reference, p.Reference(), "reference")
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
		{"$..", 3, `expected a name after "."`},
		{"$...a", 3, `expected a name after "."`},
		{"$1", 1, "starts with a letter"},
		{"$_a", 1, "starts with a letter"},
		{"$ .a", 1, "starts with a letter"},
		{"$a-b", 2, "does not stand in the name of a variable"},
		{"$a\xff", 2, "does not stand in the name of a variable"},
		{"$" + strings.Repeat("ä", 81), 1, "has 81 characters; the limit is 80"},
		{"$$a", 2, `expected "." or "[" after "$$"`},
		{"$$$", 2, `expected "." or "[" after "$$"`},
		{"States.Format('{}', $.a)", 0, "found an intrinsic function"},
		{"$.length(", 8, "does not stand in a plain name"},
		{"$.a b", 3, "write the name as ['...']"},
		{"$.a\xff", 3, "write the name as ['...']"},
		{"$.*a", 3, `expected "." or "["`},
		{"$['a']]", 6, `expected "." or "["`},
		{"$['a']b", 6, `expected "." or "["`},
		{"$[a]", 2, "expected a quoted name, an array index"},
		{"$[]", 2, "expected a quoted name, an array index"},
		{"$[", 2, "expected a quoted name, an array index"},
		{"$['a'", 5, `expected "]"`},
		{"$['a", 2, "expected a closing '"},
		{"$['a',]", 6, "expected a name in ' after"},
		{"$['a',0]", 6, "expected a name in ' after"},
		{`$['a',"b"]`, 6, "expected a name in ' after"},
		{"$[0 :1]", 4, `expected "]"`},
		{"$[0: 1]", 5, `expected "]"`},
		{"$.a[0]b", 6, `expected "." or "["`},
		{"$[0", 3, `expected "]"`},
		{"$[0 1]", 4, `expected "]"`},
		{"$[0,]", 4, "expected an array index"},
		{"$[-]", 2, "expected an array index"},
		{"$[0,1:2]", 5, `expected "]"`},
		{"$[:]", 2, "before or after"},
		{"$[::2]", 2, "before or after"},
		{"$[1:2:3:4]", 7, `expected "]"`},
		{"$[99999999999999999999]", 2, "too large"},
		{"$[2147483648]", 2, "too large"},
		{"$.a[(@.size()-1)]", 4, "other script expressions are not supported"},
		{"$.a[(@.length+1)]", 4, "other script expressions are not supported"},
		{"$.a[(@.length--1)]", 4, "other script expressions are not supported"},
		{"$.a[(@.length-x)]", 14, "expected an array index"},
		{"$[?@.a]", 3, `expected "(" after "?"`},
		{"$[?(@.a]", 7, "expected an operator"},
		{"$[?()]", 4, "expected a path"},
		{"$[?(@.a == )]", 11, "expected a path"},
		{"$[?(@.a = 1)]", 8, "expected an operator"},
		{"$[?(@.a =< 1)]", 8, "expected an operator"},
		{"$[?(@.a =~ 'x')]", 11, "expected a regular expression"},
		{"$[?(@.a =~ @.b)]", 11, "expected a regular expression"},
		{"$[?(@.a == /x/)]", 8, `to the right of "=~"`},
		{"$[?(/x/ =~ @.a)]", 4, `to the right of "=~"`},
		{"$[?(@.a =~ /x)]", 11, "expected a closing /"},
		{"$[?(@.a =~ /x/g)]", 14, `flag 'g'`},
		{"$[?(@.a =~ /(?=x)/)]", 11, "look-around and atomic groups are not supported"},
		{"$[?(@.a =~ /(?<!x)y/)]", 11, "look-around and atomic groups are not supported"},
		{`$[?(@.a =~ /(x)\1/)]`, 11, "back-references and this escape are not supported"},
		{"$[?(@.a =~ /a)(b/)]", 11, "unexpected )"},
		{"$[?(@.a in 'x')]", 11, "expected a list"},
		{"$[?(@.a size 'x')]", 13, "expected a number"},
		{"$[?(@.a size @.b)]", 13, "expected a number"},
		{"$[?(@.a empty 1)]", 14, "expected true or false"},
		{"$[?(@.a in ['x')]", 15, `expected "," or "]"`},
		{"$[?(@.a in ['x',])]", 16, "expected a path"},
		{"$[?(@.a like 'x')]", 8, "expected an operator"},
		{"$[?(@.a inside 'x')]", 8, "expected an operator"},
		{"$[?(price == 1)]", 4, `starts with "@" or "$"`},
		{"$[?(@.a == 1.)]", 11, `"1." is not a JSON number`},
		{"$[?(@.a == 2026-01-01)]", 11, "write a string as '...'"},
		{"$[?(@.a == {})]", 11, "does not stand in a string without quotes"},
		{"$[?(@.a == Some Thing)]", 16, `expected ")", "&&" or "||"`},
		{"$[?(@.a =~ /a++/)]", 11, "invalid nested repetition operator"},
		{"$[?((@.a)]", 9, `expected ")"`},
		{"$[?(@.a == 1]", 12, `expected ")"`},
		{"$[?(@.a == $$.b)]", 12, "reads no context object and no variables"},
		{"$[?(@.a == $b)]", 12, "reads no context object and no variables"},
		{"$[?" + strings.Repeat("(", 60), 53, "nested deeper than 50"},
		{"$[?(@ in " + strings.Repeat("[", 60), 57, "nested deeper than 50"},
		{"$" + strings.Repeat(".a", 40000), 64 << 10, "longer than 65536 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.path[:min(len(tt.path), 40)], func(t *testing.T) {
			t.Parallel()
			_, err := jsonpath.Parse(tt.path)
			var syntax *diag.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Contains(t, syntax.Message, tt.want)
			require.Equal(t, tt.offset, syntax.Offset)
			require.Equal(t, tt.path, syntax.Text)
		})
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := jsonpath.Parse("$.a[x]")
	require.ErrorContains(t, err, "1:5: expected a quoted name")
	require.ErrorContains(t, err, "\n  | $.a[x]\n  |     ^")
}

// What AWS takes: the state machine is created, and fails when it runs.
func TestParseTakesPathFunctionsForMembers(t *testing.T) {
	t.Parallel()
	for text, function := range map[string]string{
		"$.a.sum()": "sum()", "$.length()": "length()", "$.a.index(0)": "index(0)", "$.a[?(@.b.length() > 1)]": "length()", "$.a": "",
	} {
		path, err := jsonpath.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, function, path.Function(), text)
	}
	path, err := jsonpath.Parse("$.a.sum()")
	require.NoError(t, err)
	_, err = path.Get(map[string]any{"a": []any{json.Number("1")}})
	require.Error(t, err)
}

func TestWarning(t *testing.T) {
	t.Parallel()
	for text, warning := range map[string]string{
		"$.a'": `"a'"`, "$.a[0]'b'.c,d": `"'b'"`, `$.x.a"b`: `"a\"b"`, "$.a]": `"a]"`, "$.a*": `"a*"`, "$.a?": `"a?"`, "$.a)": `"a)"`,
		"$.a.sum()": `"sum()"`, "$.a[0:4:2]": "passes over the 2", "$.a[1:-1]": "counts neither from the end",
		"$.a-b": "", "$['a,b']": "", "$.a[?(@.b == 'c,d')]": "", "$.a[0:4:]": "",
	} {
		if got := parse(t, text).Warning(); warning == "" {
			require.Empty(t, got, text)
		} else {
			require.Contains(t, got, warning, text)
		}
	}
}

func TestParseIgnoresBlanksAtTheEnd(t *testing.T) {
	t.Parallel()
	path, err := jsonpath.Parse("$$.Execution.Name  ")
	require.NoError(t, err)
	require.Equal(t, "$$.Execution.Name", path.String())
}
