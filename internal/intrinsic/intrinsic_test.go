package intrinsic_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
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
	return string(jsontree.Compact(value)), nil
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
		{`States.StringToJson(' ')`, `{}`, `null`},
		{`States.StringToJson($)`, `" {\"a\": 1, \"a\": {\"b\": 12345678901234567890}} "`, `{"a":{"b":12345678901234567890}}`},
		{`States.JsonToString($)`, `{"b": 1, "a": "<é>"}`, `"{\"a\":\"<é>\",\"b\":1}"`},
		{`States.JsonMerge($.a, $.b, false)`, `{"a": {"x": {"y": 1}, "z": 1}, "b": {"x": {}}}`, `{"x":{},"z":1}`},
		{`States.JsonMerge($.a, $.b, $.deep)`, `{"a": {"x": 1}, "b": {"y": 2}, "deep": "no"}`, `{"x":1,"y":2}`},
		{`States.Array()`, `{}`, `[]`},
		{`States.Array(1, 'a', null, true, $.a, States.Array(2))`, `{"a": {}}`, `[1,"a",null,true,{},[2]]`},
		{`States.ArrayPartition($, 2)`, `[1, 2, 3]`, `[[1,2],[3]]`},
		{`States.ArrayPartition($, 9)`, `[]`, `[]`},
		{`States.ArrayContains($, 1)`, `[{"a": 1}, 1.0]`, `true`},
		{`States.ArrayContains($.list, $.item)`, `{"list": [{"a": [1]}], "item": {"a": [1.0]}}`, `true`},
		{`States.ArrayContains($, 9007199254740993)`, `[9007199254740992]`, `false`},
		{`States.ArrayContains($, 100000000000000000000)`, `[1e20]`, `true`},
		{`States.ArrayContains($, '1')`, `[1]`, `true`},
		{`States.ArrayContains($, true)`, `["true"]`, `true`},
		{`States.ArrayContains($, false)`, `[0, "", null, []]`, `false`},
		{`States.ArrayContains($, null)`, `[[], {}, null]`, `true`},
		{`States.ArrayRange(1, 9, 4)`, `{}`, `[1,5,9]`},
		{`States.ArrayRange(3, 1, -1)`, `{}`, `[3,2,1]`},
		{`States.ArrayRange(3, 1, 1)`, `{}`, `[]`},
		{`States.ArrayRange(2147483646, 2147483647, 5)`, `{}`, `[2147483646]`},
		{`States.ArrayRange(1.9, 3.9, 1.9)`, `{}`, `[1,2,3]`},
		{`States.ArrayRange(2.5, -1.5, -1.5)`, `{}`, `[2,1,0,-1]`},
		{`States.ArrayPartition($, 1.9)`, `[1, 2]`, `[[1],[2]]`},
		{`States.ArrayGetItem($, 1)`, `["a", "b"]`, `"b"`},
		{`States.ArrayGetItem($, 1.9)`, `["a", "b", "c"]`, `"b"`},
		{`States.ArrayGetItem($, 7)`, `[]`, `null`},
		{`States.ArrayLength($)`, `[[], {}]`, `2`},
		{`States.ArrayUnique($)`, `[1, 1.0, "1", [1], [1.0], null, null]`, `[[1],null,1,"1"]`},
		{`States.ArrayUnique($)`, `[true, false]`, `[false,true]`},
		{`States.ArrayUnique($)`, `["c", "b", "a"]`, `["a","b","c"]`},
		{`States.ArrayUnique($)`, `[[1, 2], [2, 1], [1, 2]]`, `[[2,1],[1,2]]`},
		{`States.ArrayUnique($)`, `[{"b": 1, "a": {}}, {"a": {}, "b": 1.0}]`, `[{"a":{},"b":1}]`},
		{`States.ArrayUnique(States.ArrayRange(20, 1, -1))`, `{}`, `[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]`},
		{`States.Base64Encode('Data')`, `{}`, `"RGF0YQ=="`},
		{`States.Base64Decode('RGF0YQ==')`, `{}`, `"Data"`},
		{`States.Base64Decode(' RGF!0YQ')`, `{}`, `"Data"`},
		{`States.Base64Decode('RGF0==YQ')`, `{}`, `"Dat"`},
		{`States.Base64Decode('RGF0Y')`, `{}`, `"Dat"`},
		{`States.Base64Decode('Pj4-Pz8_')`, `{}`, `">>>???"`},
		{`States.Base64Decode('////')`, `{}`, "\"\uFFFD\uFFFD\uFFFD\""},
		{`States.Hash('input data', 'SHA-1')`, `{}`, `"aaff4a450a104cd177d28d18d74485e8cae074b7"`},
		{`States.Hash('input data', 'MD5')`, `{}`, `"812f45842bc6d66ee14572ce20db8e86"`},
		{`States.Hash($, 'MD5')`, `{"a": 1}`, `"bb6cb5c68df4652941caf652a366f2d8"`},
		{`States.MathAdd(-1.5, 0.5)`, `{}`, `0`},
		{`States.MathAdd(2.5, -2.5)`, `{}`, `1`},
		{`States.MathAdd($.n, 0)`, `{"n": 0.49999999999999994}`, `0`},
		{`States.MathAdd(2147483646, 1)`, `{}`, `2147483647`},
		{`States.StringSplit('a,b;;c', ',;')`, `{}`, `["a","b","c"]`},
		{`States.StringSplit(',', ',')`, `{}`, `[]`},
		{`States.UUID()`, `{}`, `"a-uuid"`},
		{"States.UUID\t( )", `{}`, `"a-uuid"`},
		{`States.MathRandom(5, 6)`, `{}`, `5`},
		{`States.Format( '{}' , States.JsonToString( $['a,)'] ) )`, `{"a,)": 1}`, `"1"`},
	}
	for _, tt := range tests {
		t.Run(tt.call, func(t *testing.T) {
			t.Parallel()
			got, err := eval(t, tt.call, tt.input)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestRandom(t *testing.T) {
	t.Parallel()
	// For a seed the number is that of java.util.Random.
	tests := []struct{ call, want string }{
		{`States.MathRandom(1, 100, 42)`, `63`},
		{`States.MathRandom(1, 1000, 2)`, `806`},
		{`States.MathRandom(1.9, 5.9, 42.9)`, `3`}, // a power of two
		{`States.MathRandom(-5, 5, 42)`, `-5`},
		{`States.MathRandom(1, 10, -10)`, `1`},
		{`States.MathRandom(1, 10, 0)`, `7`},
		{`States.MathRandom(2147483640, 2147483647, 1)`, `2147483644`},
		{`States.MathRandom(-2147483648, 2147483647, 42)`, `-1170105035`},
	}
	for _, tt := range tests {
		got, err := eval(t, tt.call, `{}`)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.call)
	}
	seen := map[string]bool{}
	call, err := intrinsic.Parse(`States.MathRandom(-1, 2)`)
	require.NoError(t, err)
	env := environment(t, `{}`)
	for range 100 {
		n, err := call.Eval(env)
		require.NoError(t, err)
		seen[string(n.(json.Number))] = true
	}
	require.Equal(t, map[string]bool{"-1": true, "0": true, "1": true}, seen)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 10_001) + `"`
	// The cause is the beginning, and then the words or, without words,
	// "Invalid arguments in" and the function.
	tests := []struct{ call, input, words, detail string }{
		{`States.Format($, 1)`, `2`, "", "expected a string as argument 1, found 2"},
		{
			`States.Format('{}')`, `{}`, "Invalid arguments in States.Format: number of arguments do not match the occurrences of {}.",
			"expected as many values as the template has {}, which is 1, found 0",
		},
		{
			`States.Format('', 1)`, `{}`, "Invalid arguments in States.Format: number of arguments do not match the occurrences of {}.",
			"expected as many values as the template has {}, which is 0, found 1",
		},
		{
			`States.Format('a{ {}', 1)`, `{}`, "Invalid template in States.Format: matching '}' not found for '{'.",
			"expected {}, or a backslash before the brace, in the template, found { alone at character 2",
		},
		{
			`States.Format($)`, `"{}}"`, "Invalid template in States.Format: matching '{' not found for '}'.",
			"expected {}, or a backslash before the brace, in the template, found } alone at character 3",
		},
		{
			`States.StringToJson($)`, `"{"`, "Cannot convert String to Json in States.StringToJson, caused by: unexpected end of JSON input",
			`expected JSON as argument 1, found "{": unexpected end of JSON input`,
		},
		{
			`States.StringToJson('1 2')`, `{}`,
			"Cannot convert String to Json in States.StringToJson, caused by: invalid character '2' after top-level value",
			`expected JSON as argument 1, found "1 2": invalid character '2' after top-level value`,
		},
		{`States.StringToJson($)`, `{}`, "", "expected a string as argument 1, found {}"},
		{`States.JsonMerge($, 1, false)`, `{}`, "", "expected an object as argument 2, found 1"},
		{`States.JsonMerge($, $, true)`, `{}`, "", "expected false as argument 3, found true"},
		{`States.ArrayPartition($, 0.9)`, `[]`, "", "expected a positive number as argument 2, found 0.9"},
		{`States.ArrayPartition(1, 1)`, `[]`, "", "expected an array as argument 1, found 1"},
		{`States.ArrayRange(1, 2, 0)`, `{}`, "", "expected a number other than 0 as argument 3, found 0"},
		{`States.ArrayRange(1, 1001, 1)`, `{}`, "", "expected at most 1000 elements from 1 to 1001 in steps of 1, found more"},
		{`States.ArrayRange('a', 2, 1)`, `{}`, "", `expected a number as argument 1, found "a"`},
		{`States.ArrayGetItem($, 1)`, `[1]`, "", "expected an index of the array, which has 1 elements, as argument 2, found 1"},
		{`States.ArrayGetItem($, -1)`, `[1]`, "", "expected an index of the array, which has 1 elements, as argument 2, found -1"},
		{`States.Base64Encode($)`, long, "", "expected at most 10000 characters in argument 1, found 10001"},
		{`States.Base64Encode(1)`, `{}`, "", "expected a string as argument 1, found 1"},
		{`States.Base64Decode($)`, long, "", "expected at most 10000 characters in argument 1, found 10001"},
		{`States.Hash($, 'MD5')`, long, "", "expected at most 10000 characters of data, found 10001"},
		{`States.Hash('a', 'SHA')`, `{}`, "", `expected one of MD5, SHA-1, SHA-256, SHA-384, SHA-512 as argument 2, found "SHA"`},
		{`States.MathAdd($, 1)`, `2147483647`, "", "expected a sum of 32 bits, found 2147483648"},
		{`States.MathAdd(-2147483648, -1)`, `{}`, "", "expected a sum of 32 bits, found -2147483649"},
		{`States.MathAdd($, 1)`, `1e300`, "", "expected a number of 32 bits as argument 1, found 1e300"},
		{`States.MathAdd(1, -2147483649)`, `{}`, "", "expected a number of 32 bits as argument 2, found -2147483649"},
		{`States.MathRandom(2, 2)`, `{}`, "", "expected an end that is greater than the start, found 2 to 2"},
		{`States.MathRandom(1.4, 1.6)`, `{}`, "", "expected an end that is greater than the start, found 1 to 1"},
		{`States.MathRandom(1, 2, null)`, `{}`, "", "expected a number as argument 3, found null"},
		{`States.MathRandom(1, 2, 1e19)`, `{}`, "", "expected a number of 64 bits as argument 3, found 1e19"},
		{`States.StringSplit($, ',')`, `1`, "", "expected a string as argument 1, found 1"},
		{`States.StringSplit('a', null)`, `1`, "", "expected a string as argument 2, found null"},
	}
	for _, tt := range tests {
		t.Run(tt.call, func(t *testing.T) {
			t.Parallel()
			_, err := eval(t, tt.call, tt.input)
			var failed *intrinsic.Error
			require.ErrorAs(t, err, &failed)
			name, _, _ := strings.Cut(tt.call, "(")
			words := cmp.Or(tt.words, "Invalid arguments in "+name)
			require.Equal(t, intrinsic.Error{
				Function: name,
				Cause:    "There was an error while evaluating the intrinsic function: " + tt.call + ". " + words,
				Detail:   tt.detail,
			}, *failed)
			require.EqualError(t, err, name+": "+tt.detail)
		})
	}
}

// A template of a few bytes may take the same large value any number of times.
//
//nolint:paralleltest // it measures memory
func TestLargeValuesManyTimesAreRefused(t *testing.T) {
	const times = 10_000
	large := `"` + strings.Repeat("x", 200_000) + `"`
	for _, text := range []string{
		"States.Format('" + strings.Repeat("{}", times) + "'" + strings.Repeat(", $", times) + ")",
		"States.JsonToString(States.Array($" + strings.Repeat(", $", times) + "))",
		"States.ArrayUnique(States.Array($" + strings.Repeat(", $", times) + "))",
		"States.Array(" + strings.Repeat("States.JsonToString($), ", times) + "1)",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := eval(t, text, large)
		runtime.ReadMemStats(&after)
		var failed *intrinsic.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "expected arguments of at most 16 MiB in the whole call", failed.Detail)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20))
	}
}

func TestFailureInside(t *testing.T) {
	t.Parallel()
	const call = `States.Format('{}', States.MathAdd('x', 1))`
	_, err := eval(t, call, `{}`)
	var failed *intrinsic.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "States.MathAdd", failed.Function)
	require.Equal(t, "There was an error while evaluating the intrinsic function: "+call+". Invalid arguments in States.MathAdd", failed.Cause)

	_, err = eval(t, `States.Format('{}', States.JsonToString($.a.b))`, `{"a": 1}`)
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
	for text, want := range map[string]diag.SyntaxError{
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
		var syntax *diag.SyntaxError
		require.ErrorAs(t, err, &syntax, text)
		want.Text = text
		require.Equal(t, want, *syntax, text)
	}
	_, err = intrinsic.Parse("States.Array($.a[)")
	var syntax *diag.SyntaxError
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
		`States.MathRandom(-2147483648, 2147483647, $.n)`, `States.ArrayUnique(States.Array('é', 1e999, true, $, -7, 2147483648, null))`,
		`States.Format($.s, States.ArrayContains($.a, '\{a=1\}'))`, `States.Base64Decode('-_=é')`,
	} {
		f.Add(text, `{"a": [{"a": 1}], "n": -5, "s": "[1, 2]"}`)
	}
	f.Fuzz(func(t *testing.T, text, input string) {
		call, err := intrinsic.Parse(text)
		if err != nil {
			var syntax *diag.SyntaxError
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
