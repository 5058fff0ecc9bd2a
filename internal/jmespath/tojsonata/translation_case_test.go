package tojsonata_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
)

// hardCases are documents, each with expressions on it whose translation is
// easily wrong: in JSONata an array of one element is that element, arrays in
// arrays run together, null is a value and nothing is none, and its engines are
// written in JavaScript.
var hardCases = map[string][]string{
	`{"n": null, "e": [], "ee": [[]], "s": ["x"], "ss": [["x"]], "sss": [[["x"]]], "m": ["x", ["x"], [], null, {}], "o": {}, "z": 0}`: {
		"n", "e", "ee", "s", "ss", "sss", "m", "o", "missing", "n.n", "e.n", "s[0]", "ss[0]", "ss[0][0]", "s[1]", "s[-2]", "ee[0]", "ee[][]",
		"e[]", "ee[]", "ss[]", "sss[]", "sss[][]", "sss[][][]", "sss[][][][]", "m[]", "m[][]", "m[*]", "m[*][0]", "m[][0]", "m[?@]", "m[?!@]", "n[]", "z[]", "o[]",
		"n[*]", "o[*]", "n.*", "z.*", "o.*", "[n]", "[e]", "[s]", "[ss]", "[n, e, s]", "[[n], [[s]]]", "[n] | [0]", "{a: n}", "{a: e, b: [n, s], c: {d: n}}",
		"{a: n}.a", "{a: s, a: n}", "{a: n, a: s}", "n.{a: z}", "n.[z]", "n | [@]", "n | {a: @}", "[n, missing][*]", "*", "*[]", "*[0]", "[*]",
		"n == missing", "n == `null`", "e == s", "s == `[\"x\"]`", "s == 'x'", "ss[] == s", "e == `[]`", "o == e", "[e] == ee", "{a: n} == `{\"a\": null}`",
		"n || 'x'", "e || s", "o || 'x'", "z || 'x'", "n && 'x'", "!n", "!e", "!z", "!o", "!ee", "!!s", "n < z", "z <= z", "'a' < 'b'", "z < 'a'",
		"type(n)", "type(e)", "type(missing)", "to_array(n)", "to_array(s)", "to_array('x')", "not_null(n, missing)", "not_null(n, e, s)", "not_null(n, length(n))",
		"length(e)", "length(s)", "length(n)", "length(o)", "length(z)", "reverse(e)", "reverse(s)", "reverse(ss)", "reverse(m)", "sort(e)", "sort(s)", "sort(m)", "sort(ss)",
		"max(e)", "max(s)", "max(m)", "sum(e)", "avg(e)", "join('', e)", "join('-', s)", "join('-', m)", "join('-', n)", "contains(m, n)", "contains(m, s)", "contains(m, 'x')",
		"contains(s, 'x')", "contains(e, e)", "contains(n, n)", "keys(o)", "values(o)", "keys(n)", "values(e)", "merge(o, o)", "merge(o, n)", "merge(o, {a: n})",
		"map(&@, m)", "map(&[0], m)", "map(&@, e)", "map(&@, ee)", "map(&length(@), m)", "map(&@, n)", "s[0:0]", "s[0:1]", "ss[::-1]", "z[0:1]", "o[::2]",
	},
	`[{"k": 2, "v": "b"}, {"k": 1, "v": ["a"]}, {"k": 1, "v": []}, {"k": -0.5}, {"K": 9, "k": 1e300}]`: {
		"sort_by(@, &k)[].v", "sort_by(@, &k)[*].v", "sort_by(@, &k)", "sort_by(@, &v)", "sort_by(@, &K)", "sort_by([0:1], &v)", "sort_by([0:1], &K)", "sort_by([0], &k)",
		"sort_by(`[]`, &k)", "sort_by(@, &length(k))", "sort_by([*].[k], &[0])", "sort_by(@, &k) | [0].v", "sort_by(@, &k)[?v]", "max_by(@, &k).v", "min_by(@, &k)",
		"max_by(@, &v)", "max_by(`[]`, &k)", "min_by([?k == `1`], &k).v", "map(&sort_by([@], &k), @)", "[?k > `1`].v", "[?v == 'b' || length(v) > `0`].k", "[?k > v]",
		"[::2].k", "[-1:].k", "[-1:-9:-1].k", "[9:].k", "[:-9].k", "[::-2].k", "[2147483648]", "[-9223372036854775808]", "[9223372036854775807:]", "[:-9223372036854775808]",
		"[::9223372036854775807].k", "[::-9223372036854775807].k", "[::-9223372036854775808].k", "[99999999999999999999]", "[*].[k, v]", "[*].{k: k, v: v}", "[].v[]", "[].v[0]",
		"{a: [*].v, b: [[0].v, missing, [1].v]}", "[[*].K, [*].none]", "length(@) == `5`", "sum([*].k)", "avg([?k < `3`].k)", "[*].k | max(@)", "[*].not_null(v, k)",
	},
	`{"a": -0.0, "b": 0, "c": 9007199254740993, "d": 1e308, "e": 5e-324, "f": 0.1, "g": -1.5, "h": "1"}`: {
		"a == b", "[a] == [b]", "a < b", "contains([a], b)", "a == `-0`", "b || 'x'", "c == `9007199254740992`", "c == `9007199254740993`", "d > `1e307`", "e > b", "f == `0.1`", "f == `0.10`",
		"g < `-1`", "abs(g)", "ceil(g)", "floor(g)", "abs(a)", "floor(d)", "ceil(e)", "g == `-1.5`", "h == `1`", "`1` == h", "to_number(h) == `1`", "[a, b, g] | sort(@)", "min([d, e])",
		"{a: a, d: d, h: h}", "sum([f, f, f])", "`1e21` == `1000000000000000000000`", "`123456789012345678901234567890` > c",
	},
	`["1", "-0", "1e5", "-1E+05", "01", "1.", ".5", "1.50", " 1", "1\n", "", "-", "0x10", "Infinity", "NaN", "1e99", "1e-400", "true", "null", "+1", "١"]`: {
		"[*].to_number(@)", "map(&to_number(@), @)",
	},
	`{"s": "a😀b", "t": "é\u0301", "q": "say \"x\" \\ / \u0000 \u2028", "w": ["😀", "a", "é", "A", "", "10", "9"], "p": "%}", "x": "\ufffd"}`: {
		"length(s)", "length(t)", "reverse(s)", "reverse(t)", "reverse('')", "starts_with(s, 'a😀')", "ends_with(s, '😀b')", "ends_with(s, 'xa😀b')", "starts_with(s, '')", "ends_with('', '')",
		"contains(s, '😀')", "contains(s, '')", "contains(s, `1`)", "starts_with(s, `1`)", "starts_with(p, '%}')", "p == '%}'", "[p, '{%', '%}'] == ['%}', '{%', p]", "sort(w)", "max(w)", "min(w)",
		"join('😀', w)", `q == '` + `say "x" \ / ` + "\x00 \u2028'", "w[?@ > 'a']", "w[?@ == 'é']", "`\"\\ud83d\\ude00\"` == w[0]", "x == `\"\\ud800\"`", "{\"%}\": p, \"\": s, \"\\\"\": q}", "`{\"%\": \"}\"}`",
	},
	`{"": 1, "a b": 2, "\"": 3, "\\": 4, "\n": 5, "😀": 6, "$": 7, "%": 8, "*": 9, "tick` + "`" + `": 10, "constructor": 11, "toString": 12, "A": 13, "a": 14, "10": 15, "9": 16, "in": {"and": {"or": 17}}, "%}": 18}`: {
		`""`, `"a b"`, `"\""`, `"\\"`, `"\n"`, `"😀"`, `"\ud83d\ude00"`, `"$"`, `"%"`, `"*"`, "\"tick\\u0060\"", "constructor", "toString", "valueOf", "A", "a", `"10"`, "in.and.or", "in.constructor", `"%}"`, "aA",
		"keys(@)", "values(@)", "*", "keys(in)", "length(@)", "*.and", "[A, a]", "{A: a, a: A}", "{constructor: a}", "{constructor: a}.toString", "merge(@, {A: 'x'}).[A, a]", "type(valueOf)",
	},
	`{"ok": true, "no": false, "t": "true", "l": ["true", true], "i": {"a": [{"b": [1, 2]}, {"b": [3]}, {"b": null}, {}, [1]]}}`: {
		"ok", "no", "ok == `true`", "t == ok", "l[0] == ok", "contains(l, ok)", "no || length(`1`)", "ok || length(`1`)", "ok && length(`1`)", "no && length(`1`)", "!length(`1`)", "[length(`1`)]", "{a: length(`1`)}",
		"[ok, [length(`1`)]]", "length(`1`) == `null`", "length(`1`) | @", "l[?length(@) > `1`]", "l[*].length(@)", "i.a[].b[]", "i.a[*].b[*]", "i.a[*].b[]", "i.a[].b[0]", "i.a[*].b | [0]", "i.a[0:2].b[::-1]",
		"i.*.b", "i.*[*].b", "i.*[].b", "i.*[].b[]", "i.a[?b].b", "i.a[?b[0] == `3`]", "i.a[].[b]", "i.a[*].[b][]", "i.a[].{b: b}", "i.a[?type(@) == 'array']", "{x: i.a[*].b, y: [i.a[0].b, no], z: ok}",
		"[i.a[1].b, [i.a[1].b]]", "[no, ok, t]", "[]", "@", "`[[], [[]], null]`", "`{\"a\": [null]}`", "[`null`, `[null]`, [`null`]]",
	},
}

// eachHardCase gives all translations of all hard cases.
func eachHardCase(t *testing.T, yield func(expression string, c translated)) {
	t.Helper()
	g := &generator{jmespathtest.NewGenerator(1)}
	for document, expressions := range hardCases {
		var on any
		require.NoError(t, json.Unmarshal([]byte(document), &on), document)
		for _, expression := range expressions {
			e, err := jmespath.Parse(expression)
			require.NoError(t, err, expression)
			for _, c := range g.translations(pair{e, nil, on}, nil) {
				require.NoError(t, c.err, expression)
				yield(expression, c)
			}
		}
	}
}

// A document is null where a described member is not there.
func TestTranslationOfNullDocuments(t *testing.T) {
	t.Parallel()
	for _, on := range []any{map[string]any{"Doc": nil}, map[string]any{}, map[string]any{"Doc": false}, map[string]any{"Doc": []any{}}} {
		for _, expression := range []string{"Doc == `null`", "Doc != `null`", "!(Doc == `null`)", "Doc == `null` || Done == `true`"} {
			e, err := jmespath.Parse(expression)
			require.NoError(t, err)
			program, _ := e.Compile(nil)
			want, err := program.EqualsBool(on, true)
			require.NoError(t, err)
			text, err := tojsonata.Translate(e, "$states.result", orders()).EqualsBool(true)
			require.NoError(t, err)
			require.True(t, isReadable(text), text)
			got, err := evaluateJSONata(t, text, on)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s on %v as %s", expression, on, text)
		}
	}
}

func TestTranslationOfHardCases(t *testing.T) {
	t.Parallel()
	eachHardCase(t, func(expression string, c translated) {
		got, err := evaluateJSONata(t, c.text, c.on)
		require.NoError(t, err, "%s of %s on %v", c.method, expression, c.on)
		require.True(t, c.agrees(got), "%s of %s on %v wants %v, gives %v", c.method, expression, c.on, c.want, got)
	})
}
