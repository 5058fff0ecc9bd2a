package intrinsic_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// environment reads paths from the JSON text.
func environment(t *testing.T, input string) intrinsic.Environment {
	t.Helper()
	doc, err := jsontree.Parse([]byte(input))
	require.NoError(t, err)
	return intrinsic.Environment{
		Get:    func(p *jsonpath.Path) (any, error) { return p.Get(doc.Root.Value()) },
		Random: rand.New(rand.NewPCG(1, 0)),
		UUID:   func() string { return "a-uuid" },
	}
}

func eval(t *testing.T, text, input string) (string, error) {
	t.Helper()
	call, err := intrinsic.Parse(text)
	require.NoError(t, err, text)
	require.Equal(t, text, call.String())
	value, err := call.Eval(environment(t, input))
	if err != nil {
		return "", err
	}
	out, err := json.Marshal(value)
	require.NoError(t, err)
	return string(out), nil
}

func TestEval(t *testing.T) {
	t.Parallel()
	tests := []struct{ call, input, want string }{
		{`States.Format('{} and {}', $.a, 'b')`, `{"a": "x"}`, `"x and b"`},
		{`States.Format('no values')`, `{}`, `"no values"`},
		{`States.Format('\{\} \\ it\'s {}', 1)`, `{}`, `"{} \\ it's 1"`},
		{
			`States.Format('{} {} {} {} {}', null, true, 1.50, $.list, $.object)`, `{"list": [1, "b", null], "object": {"b": [], "a": "x"}}`,
			`"null true 1.50 [1, b, null] {a=x, b=[]}"`,
		},
		{`States.Format($.template, 1)`, `{"template": "n={}"}`, `"n=1"`},
		{`States.StringToJson('\{"a": [1, 2.50]\}')`, `{}`, `{"a":[1,2.50]}`},
		{`States.StringToJson('')`, `{}`, `null`},
		{`States.JsonToString($)`, `{"b": 1, "a": "<é>"}`, `"{\"a\":\"\u003cé\u003e\",\"b\":1}"`},
		{`States.JsonMerge($.a, $.b, false)`, `{"a": {"x": {"y": 1}, "z": 1}, "b": {"x": {}}}`, `{"x":{},"z":1}`},
		{`States.Array()`, `{}`, `[]`},
		{`States.Array(1, 'a', null, true, $.a, States.Array(2))`, `{"a": {}}`, `[1,"a",null,true,{},[2]]`},
		{`States.ArrayPartition($, 2)`, `[1, 2, 3]`, `[[1,2],[3]]`},
		{`States.ArrayPartition($, 9)`, `[]`, `[]`},
		{`States.ArrayContains($, 1)`, `[{"a": 1}, 1.0]`, `true`},
		{`States.ArrayContains($.list, $.item)`, `{"list": [{"a": [1]}], "item": {"a": [1.0]}}`, `true`},
		{`States.ArrayContains($, '1')`, `[1]`, `false`},
		{`States.ArrayContains($, null)`, `[[], {}, null]`, `true`},
		{`States.ArrayRange(1, 9, 4)`, `{}`, `[1,5,9]`},
		{`States.ArrayRange(3, 1, -1)`, `{}`, `[3,2,1]`},
		{`States.ArrayRange(3, 1, 1)`, `{}`, `[]`},
		{`States.ArrayRange(9223372036854775806, 9223372036854775807, 5)`, `{}`, `[9223372036854775806]`},
		{`States.ArrayGetItem($, 1)`, `["a", "b"]`, `"b"`},
		{`States.ArrayLength($)`, `[[], {}]`, `2`},
		{`States.ArrayUnique($)`, `[1, 1.0, "1", [1], [1.0], null, null]`, `[1,"1",[1],null]`},
		{`States.Base64Encode('Data')`, `{}`, `"RGF0YQ=="`},
		{`States.Base64Decode('RGF0YQ==')`, `{}`, `"Data"`},
		{`States.Hash('input data', 'SHA-1')`, `{}`, `"aaff4a450a104cd177d28d18d74485e8cae074b7"`},
		{`States.Hash('input data', 'MD5')`, `{}`, `"812f45842bc6d66ee14572ce20db8e86"`},
		{`States.Hash($, 'MD5')`, `{"a": 1}`, `"bb6cb5c68df4652941caf652a366f2d8"`},
		{`States.MathAdd(-1.5, 0.5)`, `{}`, `0`},
		{`States.MathAdd($.n, 1)`, `{"n": 9007199254740993}`, `9007199254740994`},
		{`States.StringSplit('a,b;;c', ',;')`, `{}`, `["a","b","c"]`},
		{`States.StringSplit(',', ',')`, `{}`, `[]`},
		{`States.UUID()`, `{}`, `"a-uuid"`},
		{`States.MathRandom(5, 6)`, `{}`, `5`},
		{`States.Format( '{}' , States.JsonToString( $['a,)'] ) )`, `{"a,)": 1}`, `"1"`},
	}
	for _, tt := range tests {
		t.Run(tt.call, func(t *testing.T) {
			t.Parallel()
			got, err := eval(t, tt.call, tt.input)
			require.NoError(t, err)
			if !strings.Contains(tt.want, `\u`) {
				require.Equal(t, tt.want, got)
				return
			}
			require.JSONEq(t, tt.want, got)
		})
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	for range 100 {
		first, err := eval(t, `States.MathRandom(-3, 3, $)`, `7`)
		require.NoError(t, err)
		second, err := eval(t, `States.MathRandom(-3, 3, 7)`, `{}`)
		require.NoError(t, err)
		require.Equal(t, first, second, "a seed gives the same number")
		require.Contains(t, []string{"-3", "-2", "-1", "0", "1", "2"}, first)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_001)
	tests := []struct{ call, input, want string }{
		{`States.Format($, 1)`, `2`, "expected a string as argument 1, found 2"},
		{`States.Format('{}')`, `{}`, `the template has 1 times "{}", and there are 0 values`},
		{`States.Format('', 1)`, `{}`, `the template has 0 times "{}", and there are 1 values`},
		{`States.StringToJson($)`, `"{"`, "the string is no JSON: {"},
		{`States.JsonMerge($, 1, false)`, `{}`, "expected an object as argument 2, found 1"},
		{`States.JsonMerge($, $, true)`, `{}`, "expected false as argument 3, found true"},
		{`States.ArrayPartition($, 0)`, `[]`, "expected a positive number as argument 2"},
		{`States.ArrayPartition(1, 1)`, `[]`, "expected an array as argument 1"},
		{`States.ArrayRange(1, 2, 0)`, `{}`, "expected a number other than 0 as argument 3"},
		{`States.ArrayRange(1, 1001, 1)`, `{}`, "more than 1000 elements"},
		{`States.ArrayRange('a', 2, 1)`, `{}`, `expected a number as argument 1, found "a"`},
		{`States.ArrayGetItem($, 1)`, `[1]`, "index 1 is outside of the array, which has 1 elements"},
		{`States.ArrayGetItem($, -1)`, `[1]`, "index -1 is outside"},
		{`States.Base64Encode($)`, `"` + long + `"`, "argument 1 has more than 10000 characters"},
		{`States.Base64Decode('%')`, `{}`, "the string is no Base64: %"},
		{`States.Hash('a', 'SHA')`, `{}`, "expected one of MD5, SHA-1, SHA-256, SHA-384, SHA-512 as argument 2"},
		{`States.MathAdd($, 1)`, `9223372036854775807`, "the sum has more than 64 bits"},
		{`States.MathAdd($, 1)`, `1e300`, "expected a number of 64 bits"},
		{`States.MathRandom(2, 2)`, `{}`, "the end (2) has to be greater than the start (2)"},
		{`States.StringSplit($, ',')`, `"` + `"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.call, func(t *testing.T) {
			t.Parallel()
			_, err := eval(t, tt.call, tt.input)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var failed *intrinsic.Error
			require.ErrorAs(t, err, &failed)
			require.Contains(t, failed.Cause, tt.want)
			require.Contains(t, tt.call, failed.Function)
		})
	}
	_, err := eval(t, `States.Format('{}', States.JsonToString($.a.b))`, `{"a": 1}`)
	var missing *jsonpath.NotFoundError
	require.ErrorAs(t, err, &missing, "an error of a path comes back")
}

func TestParse(t *testing.T) {
	t.Parallel()
	call, err := intrinsic.Parse(`States.Format('{}{}', $$.Execution.Id, States.MathAdd($count, $.list[?(@.a == 'x,)')].n))`)
	require.NoError(t, err)
	var paths []string
	for _, p := range call.Paths() {
		paths = append(paths, p.String())
	}
	require.Equal(t, []string{"$$.Execution.Id", "$count", "$.list[?(@.a == 'x,)')].n"}, paths)
	require.True(t, intrinsic.Is("States.X"))
	require.False(t, intrinsic.Is("$.States."))

	nested := strings.Repeat("States.Array(", 10) + strings.Repeat(")", 10)
	_, err = intrinsic.Parse(nested)
	require.NoError(t, err)
	for text, want := range map[string]intrinsic.SyntaxError{
		"States.Formt('a')":            {Offset: 0, Message: `there is no function "States.Formt"`, Suggestion: "States.Format"},
		"States.Array(" + nested + ")": {Offset: 130, Message: "calls nest deeper than 10"},
		"States.UUID":                  {Offset: 11, Message: `expected "(" after States.UUID`},
		"States.UUID(":                 {Offset: 12, Message: "expected an argument, found the end of the text"},
		"States.UUID(1)":               {Offset: 0, Message: "States.UUID takes 0 arguments, found 1"},
		"States.MathRandom(1)":         {Offset: 0, Message: "States.MathRandom takes 2 or 3 arguments, found 1"},
		"States.Format()":              {Offset: 0, Message: "States.Format takes at least 1 arguments, found 0"},
		"States.ArrayLength()":         {Offset: 0, Message: "States.ArrayLength takes 1 argument, found 0"},
		"States.UUID() x":              {Offset: 13, Message: `expected nothing after the call, found " x"`},
		"States.Array(1 2)":            {Offset: 15, Message: `expected "," or ")" in the call of States.Array`},
		"States.Array(1,)":             {Offset: 15, Message: `expected a string in single quotes, a number, true, false, null, a path or a call, found ""`},
		"States.Array(x)":              {Offset: 13, Message: `expected a string in single quotes, a number, true, false, null, a path or a call, found "x"`},
		`States.Array('a`:              {Offset: 13, Message: "the string has no end: expected a single quote"},
		`States.Array('a\n')`:          {Offset: 15, Message: `a backslash can only stand before one of ' { } \`},
	} {
		_, err := intrinsic.Parse(text)
		var syntax *intrinsic.SyntaxError
		require.ErrorAs(t, err, &syntax, text)
		require.Equal(t, want, *syntax, text)
	}
	_, err = intrinsic.Parse("States.Array($.a[)")
	var syntax *intrinsic.SyntaxError
	require.ErrorAs(t, err, &syntax)
	require.GreaterOrEqual(t, syntax.Offset, 13)
}

// FuzzEval: nothing panics; what parses is written as it was, and evaluates to
// a JSON value or fails.
func FuzzEval(f *testing.F) {
	for _, text := range []string{
		`States.Format('{}\{', $.a)`, `States.ArrayRange(1, $.n, -1)`, `States.StringToJson($.s)`, `States.JsonMerge($, $.a, false)`,
		`States.ArrayUnique(States.Array(1, 1e0, $..a))`, `States.Hash($, 'MD5')`, `States.MathAdd($.n, 9223372036854775807)`,
		`States.MathRandom(-9223372036854775808, 9223372036854775807, 1)`, `States.StringSplit($.s, '[]')`, `States.Base64Decode($.s)`,
	} {
		f.Add(text, `{"a": [{"a": 1}], "n": -5, "s": "[1, 2]"}`)
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		call, err := intrinsic.Parse(text)
		if err != nil {
			var syntax *intrinsic.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.LessOrEqual(t, syntax.Offset, len(text))
			return
		}
		again, err := intrinsic.Parse(call.String())
		require.NoError(t, err)
		require.Equal(t, call.String(), again.String())
		if _, err := jsontree.Parse([]byte(input)); err != nil {
			return
		}
		value, err := call.Eval(environment(t, input))
		if err != nil {
			_, failed := errors.AsType[*intrinsic.Error](err)
			_, missing := errors.AsType[*jsonpath.NotFoundError](err)
			_, limit := errors.AsType[*jsonpath.LimitError](err)
			require.True(t, failed || missing || limit, "%v", err)
			return
		}
		_, err = json.Marshal(value)
		require.NoError(t, err)
	})
}
