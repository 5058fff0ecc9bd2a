package jsonata_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// decode reads a JSON value as this project holds them.
func decode(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), text)
	return v
}

func encode(t testing.TB, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

const states = `{
	"input": {
		"null": null, "one": 1.0, "hundred": 1e2, "minus": -0, "tenth": 0.1, "text": "x",
		"long": 9223372036854775807, "longer": 9223372036854775808,
		"items": [1, null, {"k": null}], "object": {"b": 1, "a": 2}, "nested": [[1, 2], [3]]
	},
	"result": {"Jobs": [{"Status": "FAILED"}, {"Status": "OK"}]},
	"context": {"State": {"Name": "S"}}
}`

func environment(t testing.TB) jsonata.Environment {
	t.Helper()
	return jsonata.Environment{
		Variables: map[string]any{"states": decode(t, states), "none": nil, "count": json.Number("3")},
		Now:       time.Date(2026, 11, 20, 8, 30, 0, 123_456_789, time.FixedZone("", 3600)),
		Random:    rand.New(rand.NewPCG(1, 2)),
		UUID:      func() string { return "b1a0c7f4-0000-4000-8000-000000000000" },
	}
}

// eval gives the result as JSON, or what Step Functions would say.
func eval(t testing.TB, text string) string {
	t.Helper()
	return evalWithin(t, text, jsonata.StepFunctions)
}

// evalWithin is eval within limits.
func evalWithin(t testing.TB, text string, limits jsonata.Limits) string {
	t.Helper()
	e, err := jsonata.Compile(text)
	require.NoError(t, err, text)
	environment := environment(t)
	environment.Limits = &limits
	v, err := e.Eval(t.Context(), environment)
	if err != nil {
		_, sentence, _ := strings.Cut(e.Cause("F", err), "specified for the field 'F' ")
		return sentence
	}
	return encode(t, v)
}

const threw = "threw an error during evaluation"

func TestEval(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"$states.input.text", `"x"`},
		{"$states.result.Jobs[Status='FAILED'].Status", `"FAILED"`},
		{"$count([1])", threw + ". T1006: Attempted to invoke a non-function"}, // a variable hides the function
		{"$states.input.object", `{"a":2,"b":1}`},
		{"{'b': 1, 'a': [null, {}]}", `{"a":[null,{}],"b":1}`},
		{"$states.input.nested", `[[1,2],[3]]`},
		{"$contains('a(b', /\\(b/)", "true"},
		{"$base64decode('gA==')", "\"\ufffd\""},

		// Numbers as JavaScript writes them; integers of 64 bits are kept.
		{"$states.input.one", "1"},
		{"$states.input.hundred", "100"},
		{"$states.input.minus", "0"},
		{"$states.input.tenth + 0.2", "0.30000000000000004"},
		{"$states.input.long", "9223372036854775807"},
		{"$states.input.longer", "9223372036854776000"},
		{"$string($states.input.long)", `"9223372036854775807"`},
		{"'a' & $states.input.one", `"a1"`},
		{"$states.input.one ~> $string", `"1"`},
		{"1e20", "100000000000000000000"},
		{"[1e21, 1e-7, 1e-6, -1.5e-10]", "[1e+21,1e-7,0.000001,-1.5e-10]"},
		{"[1/0, -1/0, 0/0]", `["Infinity","-Infinity","NaN"]`},

		// null is a value, wherever it comes from.
		{"null", "null"},
		{"$none", "null"},
		{"$states.input.`null`", "null"},
		{"$states.input.items[1]", "null"},
		{"$states.input.items[$ = null]", "null"},
		{"$states.input.items.k", "null"},
		{"$map($states.input.items, function($v) { $type($v) })", `["number","null","object"]`},
		{"$exists($states.input.`null`)", "true"},
		{"$type($lookup($states.input, 'null'))", `"null"`},
		{"null in $states.input.items", "true"},
		{"$states.input.items[1] = null", "true"},

		// What gives nothing, or no JSON value.
		{"$states.input.missing", "returned nothing (undefined)."},
		{"$missing", "returned nothing (undefined)."},
		{"status", "returned nothing (undefined)."},
		{"$", "returned nothing (undefined)."},
		{"$filter([1], function($v) { $v > 1 })", "returned nothing (undefined)."},
		{"$sum", "returned an unsupported result type."},
		{"[function() { 1 }]", "returned an unsupported result type."},
		{"{'a': /b/}", "returned an unsupported result type."},
		{"{'pattern': 'a', 'flags': 'b'}", `{"flags":"b","pattern":"a"}`},
	} {
		require.Equal(t, c[1], eval(t, c[0]), c[0])
	}
}

func TestErrorsReadAsOnAWS(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"$error('pending')", "D3137: pending"},
		{"1 + {}", `T2002: The right side of the "+" operator must evaluate to a number`},
		{"null - 1", `T2001: The left side of the "-" operator must evaluate to a number`},
		{"null < 1", `T2010: The expressions either side of operator "<" must evaluate to numeric or string values`},
		{"[1..'a']", "T2004: The right side of the range operator (..) must evaluate to an integer"},
		{"$nothing(1)", "T1006: Attempted to invoke a non-function"},
		{"$eval('1')", "T1006: Attempted to invoke a non-function"},
		{"$values({})", "T1006: Attempted to invoke a non-function"},
		{"1 ~> 2", "T2006: The right side of the function application operator ~> must be a function"},
		{"$abs('x')", `T0410: Argument 1 of function "abs" does not match function signature`},
		{"$pad('x', 'y')", `T0410: Argument 2 of function "pad" does not match function signature`},
		{"$replace('a', '', 'b')", "D3010: Second argument of replace function cannot be an empty string"},
		{"$sum(1, 2)", `T0410: Argument 2 of function "sum" does not match function signature`},
		{"$lookup({})", `T0410: Argument 2 of function "lookup" does not match function signature`},
		{"[1].($length())", `T0411: Context value is not a compatible type with argument 1 of function "length"`},
		{"$sum(['a'])", `T0412: Argument 1 of function "sum" must be an array of "numbers"`},
		{"$join([1])", `T0412: Argument 1 of function "join" must be an array of "strings"`},
		{"$number('abc')", `D3030: Unable to cast value to a number: "abc"`},
		{"1/0 + 1", `D1001: Number out of range: "Infinity"`},
		{"{'a': 1, 'a': 2}", `D1009: Multiple key definitions evaluate to same key: "a"`},
		{"$split('a', 'b', -1)", "D3020: Third argument of split function must evaluate to a positive number"},
		{"$toMillis('nope')", `D3110: The argument of the toMillis function must be an ISO 8601 formatted timestamp. Given "nope"`},
		{"$decodeUrl('%E0%A4%A')", "D3140: Malformed URL passed to $decodeUrl()"},
	} {
		require.Equal(t, threw+". "+c[1], eval(t, c[0]), c[0])
	}
}

// AWS gives no reason, and a UUID instead of it.
func TestBase64OfRubbishIsAnInternalError(t *testing.T) {
	t.Parallel()
	require.Equal(t, "threw an internal error during evaluation. b1a0c7f4-0000-4000-8000-000000000000", eval(t, "$base64decode('!!!')"))
	e, err := jsonata.Compile("$base64decode('!!!')")
	require.NoError(t, err)
	_, err = e.Eval(t.Context(), environment(t))
	_, internal := errors.AsType[*jsonata.InternalError](err)
	require.True(t, internal)
}

func TestNumbersAtTheEdgeAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`$formatInteger(-0, "1")`, `"0"`},
		{`$formatNumber(1e308, "0%")`, `"Infinity%"`},
		{`$formatNumber(1234567.5, "#,##0.00")`, `"1,234,567.50"`},
		{`$formatNumber(1234567, "#,##,000")`, `"12,34,567"`},
		{`$toMillis("8000000000000000", "[Y]")`, `"NaN"`},
		{`$toMillis("275760", "[Y]")`, "8639977881600000"},
		{`$trim("  a \n\t b  ")`, `"a b"`},
		{`$encodeUrl("é x")`, `"%C3%A9%20x"`},
		{`$match("é😀ab😀b", /b/).index`, "[4,7]"},
		{`/b/("😀ab😀b").next().start`, "6"},
	} {
		require.Equal(t, c[1], eval(t, c[0]), c[0])
	}
}

func TestFunctionsOfStepFunctions(t *testing.T) {
	t.Parallel()
	argument := func(n, function string) string {
		return threw + ". T0410: Argument " + n + ` of function "` + function + `" does not match function signature`
	}
	const undefined, memory = "returned nothing (undefined).",
		threw + ": Expression evaluation memory limit exceeded: Check for excessive memory usage"
	for _, c := range [][2]string{
		{"$partition([1,2,3,4,5], 2)", "[[1,2],[3,4],[5]]"},
		{"$partition([1,2], 2.9)", "[[1,2]]"},
		{"$partition([1,2,3])", "[[1,2,3]]"},
		{"$partition('ab', 1)", `[["ab"]]`},
		{"$partition([], 2)", undefined},
		{"$partition([1], 0)", undefined},
		{"$partition([1], -0.5)", undefined},
		{"$partition([1], -1)", threw + ". D3137: Second argument must be zero or greater"},
		{"$partition(null, 1)", threw + `. T0412: Argument 1 of function "partition" must be an array`},
		{"$partition([1], 'a')", argument("2", "partition")},
		{"$partition([1], 1, 1)", argument("3", "partition")},

		{"$range(0, 9, 3)", "[0,3,6,9]"},
		{"$range(0, 10, 3)", "[0,3,6,9]"},
		{"$range(1, 9, 9)", "1"},
		{"$range(10, 0, -2)", "[10,8,6,4,2,0]"},
		{"$range(-1.7, 2, 1)", "[-1,0,1,2]"},
		{"$range(1, 5)", undefined},
		{"$range(1, 5, 0)", undefined},
		{"$range(5, 1, 1)", undefined},
		{"$range(1)", argument("2", "range")},
		{"$range(1, 'a', 1)", argument("2", "range")},
		{"$range(1, 2, 3, 4)", argument("4", "range")},
		{"$max($range(1, 360145, 1))", "360145"},
		{"$range(1, 360146, 1)", memory},
		{"$range(-9223372036854775808, 9223372036854775807, 9223372036854775807)[1]", "-1"},

		{"$hash('Hello', 'MD5')", `"8b1a9953c4611296a827abf8c47804d7"`},
		{"$hash('input', 'SHA-1')", `"140f86aae51ab9e1cda9b4254fe98a74eb54c1a1"`},
		{"$hash('Hello', 'SHA-256')", `"185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"`},
		{"$length($hash('Hello', 'SHA-384'))", "96"},
		{"$length($hash('Hello', 'SHA-512'))", "128"},
		{"$hash('ñ', 'MD5')", `"94e9342ecbb1458b6043ecd3bfcbc192"`},
		{"$hash('a')", undefined},
		{"$hash('a', 'md5')", threw + ". D3137: Second argument must be one of MD5, SHA-1, SHA-256, SHA-384, SHA-512"},
		{"$hash(42, 'MD5')", argument("1", "hash")},
		{"$hash('a', 5)", argument("2", "hash")},
		{"$hash('a', 'MD5', 'x')", argument("3", "hash")},

		{"$random(42)", "0.7275636800328681"},
		{"$random(0.9)", "0.730967787376657"},
		{"$random('a')", argument("1", "random")},
		{"$random(1, 2)", argument("2", "random")},
		{"$random() = $random()", "false"},
		{"$uuid()", `"b1a0c7f4-0000-4000-8000-000000000000"`},
		{"$uuid(1)", argument("1", "uuid")},

		{`$parse('{"b":[1.0,null],"a":1e2}')`, `{"a":100,"b":[1,null]}`},
		{"$parse('-0')", "0"},
		{"$parse('1') + 1", "2"},
		{"$exists($parse('null'))", "true"},
		{"$map(['[1,2]', '[3]'], $parse)", "[[1,2],[3]]"},
		{"$parse()", undefined},
		{"$parse(null)", argument("1", "parse")},
		{"$parse('1', 2)", argument("2", "parse")},
		{"$parse('')", threw + ". D3137: Invalid JSON"},
		{"$parse('1 2')", threw + ". D3137: Invalid JSON"},
		{"$parse('1e400')", threw + ". D3137: Invalid JSON"},
		{`$parse('{"a":1,"a":2}')`, threw + ". D3137: Invalid JSON"},

		{"$now()", `"2026-11-20T07:30:00.123Z"`},
		{"$now('[Y0001]/[M01]/[D01]')", `"2026/11/20"`},
		{"$now('[H01]:[m01]', '+0530')", `"13:00"`},
		{"$now($missing, '+0530')", `"2026-11-20T13:00:00.123+05:30"`},
		{"$millis()", "1795159800123"},
		{"$millis(1)", argument("1", "millis")},
		{"$toMillis($now()) = $millis()", "true"},
		{"$sort($shuffle([1,2,3]))", "[1,2,3]"},
		{"$shuffle('a')", `["a"]`},
		{"$shuffle()", undefined},
		{"$shuffle([1], 2)", argument("2", "shuffle")},
	} {
		require.Equal(t, c[1], eval(t, c[0]), c[0])
	}
}

func TestRandomIsSeeded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[$random(), $random()]", "$shuffle([1..20])"} {
		first := eval(t, text)
		require.Equal(t, first, eval(t, text), text)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	depth := threw + ": Stack overflow error: Check for non-terminating recursive function." +
		" Consider rewriting as tail-recursive"
	memory := threw + ": Expression evaluation memory limit exceeded: Check for excessive memory usage"
	for _, c := range [][2]string{
		{"1" + strings.Repeat("+1", 99), "100"},
		{"1" + strings.Repeat("+1", 100), depth},
		{strings.Repeat("(", 99) + "1" + strings.Repeat(")", 99), "1"},
		{strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), depth},
		{strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100), depth},
		{"1" + strings.Repeat("~>$string", 99), `"1"`},
		{"1" + strings.Repeat("~>$string", 100), depth},
		{"($f := function($x) { $x <= 0 ? 0 : 1 + $f($x-1) }; $f(31))", "31"},
		{"($f := function($x) { $x <= 0 ? 0 : 1 + $f($x-1) }; $f(1000))", depth},
		{"$pad('', 7000000)", memory},
		{"[1..873783]", memory},
	} {
		require.Equal(t, c[1], eval(t, c[0]), "%.50s", c[0])
	}
}

func TestCancelledEvaluation(t *testing.T) {
	t.Parallel()
	e, err := jsonata.Compile("$map([1..100000], function($v) { $sum([1..100000]) })")
	require.NoError(t, err)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Eval(cancelled, environment(t))
	require.Equal(t, context.Canceled, err)
}

func TestCauseOfAWrongType(t *testing.T) {
	t.Parallel()
	e, err := jsonata.Compile(" $ItemsVar ")
	require.NoError(t, err)
	for _, c := range [][2]string{
		{"null", "null"}, {"true", "boolean"}, {`"<a>"`, "string"}, {"[1]", "array"}, {`{"a":1}`, "object"}, {"1.5", "number"},
	} {
		wrong := &jsonata.ResultTypeError{Expected: "array", Value: decode(t, c[0])}
		require.Equal(t, "The JSONata expression '$ItemsVar' specified for the field 'Items' returned an unexpected"+
			" result type. Expected 'array', but was '"+c[1]+"' for value: "+c[0], e.Cause("Items", wrong))
	}
}

func TestInputsAreNotChanged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"($s := $states.input.object; $s ~> |$s|{'c': 1}|)",
		"$states.input ~> |$states.input.object|{'c': 1}, 'a'|",
		"[$sort([3,1]), $reverse($states.input.items), $append($states.input.items, 1)]",
		"$states.input",
	} {
		env := environment(t)
		e, err := jsonata.Compile(text)
		require.NoError(t, err)
		_, err = e.Eval(t.Context(), env)
		require.NoError(t, err, text)
		require.Equal(t, environment(t).Variables, env.Variables, text)
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	e, err := jsonata.Compile("a & $.a & $$.a")
	require.NoError(t, err)
	v, err := e.Eval(t.Context(), jsonata.Environment{Input: map[string]any{"a": "x"}})
	require.NoError(t, err)
	require.Equal(t, "xxx", v)
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	e, err := jsonata.Compile("($f := function($x) { $x < 1 ? 0 : $x + $f($x-1) }; $f(20) & $states.input.one & $now())")
	require.NoError(t, err)
	shared := environment(t).Variables
	done := make(chan error)
	for range 4 {
		go func() {
			for range 100 {
				env := jsonata.Environment{Variables: shared}
				if _, err := e.Eval(context.Background(), env); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}
