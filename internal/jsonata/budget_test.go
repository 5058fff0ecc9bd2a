//go:build unix

package jsonata_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

const (
	stackOverflow = threw + ": Stack overflow error: Check for non-terminating recursive function." +
		" Consider rewriting as tail-recursive"
	outOfMemory = threw + ": Expression evaluation memory limit exceeded: Check for excessive memory usage"
	outOfTime   = threw + ": Expression evaluation timeout: Check for infinite loop"
)

// Each of these took a process down, or gigabytes, or did not end, or showed an
// error of Go.
//
//nolint:paralleltest // it measures the process
func TestHostileExpressionsEndInAClearError(t *testing.T) {
	for _, c := range [][2]string{
		{`$formatInteger(1/0, "w")`, threw + `. D1001: Number out of range: "Infinity"`},
		{`$formatInteger(0/0, "w")`, threw + `. D1001: Number out of range: "NaN"`},
		{`$formatInteger(-1/0, "I")`, threw + `. D1001: Number out of range: "-Infinity"`},
		{`$formatInteger(1e12, "I")`, outOfMemory},
		{`$formatInteger(1.7e308, "I")`, outOfMemory},
		{`$reduce([1..3000], function($a, $b) { $a & $a })`, outOfMemory},
		{`$reduce([1..3000], function($a, $b) { $append($a, $a) })`, outOfMemory},
		{`$reduce([1..3000], function($a, $b) { $join([$a & "", $a & ""]) })`, outOfMemory},
		{`$reduce([1..3000], function($a, $b) { $replace($a & "", /./, "$0$0") })`, outOfMemory},
		{`[-9e18..9e18]`, threw + ". D2014: The size of the sequence allocated by the range operator (..) must not exceed" +
			" 1e7.  Attempted to allocate 18000000000000000000."},
		{`[1..1e300]`, threw + ". T2004: The right side of the range operator (..) must evaluate to an integer"},
		{`[1..9999999]`, outOfMemory},
		{"1" + strings.Repeat(" + 1", 200), stackOverflow},
		{`[1..900000]`, outOfMemory},
		{`($f := function($n) { 1 + $f($n + 1) }; $f(1))`, stackOverflow},
		{`($f := function($v) { $map($v, $f) }; $f(1))`, stackOverflow},
		{`($f := function($v) { $replace($v, $f, $f) }; $f("a"))`, stackOverflow},
		{`($f := function($v) { $sort([$v, $v], $f) }; $f(1))`, stackOverflow},
		{`$reduce([1..5000], function($a, $b) { [[$a]] })`, stackOverflow},
		{`$string($reduce([1..5000], function($a, $b) { {"a": $a} }))`, stackOverflow},
		{`$match($pad("", 30, "a"), /(a*)*b/)`, outOfTime},
		{`$contains($pad("", 200000, "a"), /(.*)(.*)(.*)(.*)b/)`, outOfTime},
		{`$pad("x", 1e300)`, outOfMemory},
		{`$pad("x", -1e300, "abc")`, outOfMemory},
		{`[1..100000].[1..100000]`, outOfMemory},
		{`[1..10000]@$a.[1..10000]@$b.{"a": $a, "b": $b}`, outOfMemory},
		{`$fromMillis(1e300)`, threw + ". D3136: The time is out of range: 1e+300"},
		{`$formatNumber(1.5, $pad("0.", 100000000, "0"))`, outOfTime},
		{`$formatNumber(0, "0.0e0")`, `"0.0e0"`},
		{`$toMillis($pad("", 10000, "1"), $pad("", 3000, "[Y]"))`, `"NaN"`},
		{`$toMillis($pad("", 10000, "1"), $pad("", 30000, "[Y]"))`, threw +
			". D3136: The date/time picture string is too complex"},
		{`$length($reduce([1..18], function($a, $b) { $encodeUrl($a & "é" & $a) }, ""))`, outOfMemory},
		{`($a := [1..100000]; $a[$a = $])`, "returned nothing (undefined)."},
		{`($a := [1..20000]; $a[$ in $a])`, outOfTime},
		{`$distinct([1..3000].{"a": $})[0].a`, "1"},
		{`$distinct([1..100000].{"a": $})`, outOfTime},
		{`$zip([1..400000], [1..400000], [1..400000], [1..400000])`, outOfMemory},
		{`$reduce([1..100], function($a, $b) { $merge([$a, {$string($b): $a}]) }, {})` + "~>$string~>$length", outOfTime},
		{`$formatNumber(1, $pad("", 200000, "0,") & "0") = ""`, "false"},
		{`$encodeUrl($pad("", 5000000, "é")) = ""`, "false"},
		{`$replace($pad("", 60000, "a"), /a/, function($m) { "x" })`, outOfMemory},
		{`($s := $pad("", 20000000, "a"); $map([1..30], function($i) { $replace($s, "aa", "b") = "" }))`, outOfTime},
		{`($s := $pad("", 10000000, "ж"); $map([1..30], function($i) { $uppercase($s) = "" }))`, outOfTime},
		{`($k := $pad("", 10000000, "a"); $o := {$k & "b": 1}; $c := $k & "c"; $map([1..3000], function($i) { $lookup($o, $c) }))`, outOfTime},
		{`$trim($pad("", 30000000, "a "))`, outOfMemory},
		{`$toMillis("1", $pad("", 400000, "[Yw]"))`, outOfMemory},
		{`($f := function($a)<x+x+x+x+x+x+x+n>{1}; $f(` + strings.Repeat(`"",`, 500) + `""))`, outOfTime},
	} {
		before := processortest.Time(t)
		require.Equal(t, c[1], eval(t, c[0]), "%.100s", c[0])
		require.Less(t, processortest.Time(t)-before, 20*time.Second, "%.100s", c[0]) // a hang guard
	}
}

// What repeats cheap work ends by its steps, however many those are: a fifth of
// Step Functions' is enough to see it.
func TestRepetitionEndsByItsSteps(t *testing.T) {
	t.Parallel()
	limits := jsonata.StepFunctions
	limits.Steps /= 5
	for _, text := range []string{
		`($f := function($n) { $f($n + 1) }; $f(1))`,
		`($f := function($x) { $f([$x]) }; $f(1))`,
		`$map([1..100000], function($v) { $sum([1..100000]) })`,
		`$sort([1..100000], function($a, $b) { $sum([1..1000]) > 0 })`,
		`$map([1..100000], function($i) { $formatBase(1e308, 3) })`,
		`$map([1..100000], function($i) { $formatInteger(1.7e308, "A") })`,
		`($s := $pad("", 300000, "é"); $map([1..10000], function($i) { $substring($s, 299990, 5) }))`,
		`($a := [1..300000]; $map([1..1000], function($i) { $reverse($a)[0] }))`,
	} {
		require.Equal(t, outOfTime, evalWithin(t, text, limits), text)
	}
}

// What an expression holds counts, not what it makes: text that grows by each
// of the items of a large payload makes a gigabyte, and holds little.
func TestOrdinaryExpressionsOnLargePayloadsStayInTheirBudget(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 3000 {
		items = append(items, fmt.Sprintf(`{"id": %d, "name": "item %d", "tags": ["a", "b"], "text": %q}`, i, i, strings.Repeat("x", 30)))
	}
	payload := `{"input": {"items": [` + strings.Join(items, ",") + `]}}`
	require.Greater(t, len(payload), 250_000)
	env := environment(t)
	env.Variables = map[string]any{"states": decode(t, payload)}
	for _, text := range []string{
		"$reduce($states.input.items, function($a, $b) { $a & $b.text & $string($b) }, '') ~> $length",
		"$count($states.input.items[$number(id) >= 0 and $contains(name, /item [0-9]+/)])",
		"$count($distinct($states.input.items.tags))",
		"$sort($states.input.items, function($a, $b) { $a.id < $b.id })[0].id",
		"$states.input.items^(>name)[0].name",
		"$count($keys($states.input.items{name: id}))",
		"$length($string($states.input))",
		"$merge($states.input.items.{$string(id): text}).`7`",
		"$reduce($states.input.items, function($a, $b) { $append($a, $b.id) }, []) ~> $count",
		"($f := function($i, $sum) { $i = 3000 ? $sum : $f($i + 1, $sum + $states.input.items[$i].id) }; $f(0, 0))",
		"$count($states.input.items.{'a': $uppercase(text), 'b': $split(name, ' '), 'c': $replace(text, 'x', 'yy')})",
		"$states.input ~> |items|{'text': $length(text)}, ['tags']| ~> $string ~> $length",
		"$count($states.input.**)",
		"$map($states.input.items, function($i, $n) { $formatNumber($n, '#,##0.00') & $formatInteger($n, 'w') })[0]",
		"$partition($states.input.items, 7) ~> $count",
		"$parse($string($states.input)).items[-1].id",
	} {
		e, err := jsonata.Compile(text)
		require.NoError(t, err, text)
		_, err = e.Eval(t.Context(), env)
		require.NoError(t, err, text)
	}
}

// The limit of bytes is above what is alive at any time. Live bytes are those of
// the heap after a collection in the middle of an evaluation.
//
//nolint:paralleltest // it measures the process
func TestBytesHeldAreMoreThanThoseAlive(t *testing.T) {
	for _, text := range []string{
		"($a := [1..400000]; $b := $map($a, function($v) { $v + 1 }); $uuid(); $b)",
		"($a := $split($pad('', 500000, 'ab '), ' '); $uuid(); $a)",
		"($a := [1..100000].{'a': $, 'b': [$]}; $uuid(); 1)",
		"($a := $reduce([1..22], function($a, $b) { $a & $a }, 'abcdefgh'); $uuid(); 1)",
		"($a := [1..100000].function($x) { $x }; $uuid(); 1)",
		"($a := [1..50000]@$x.{'a': $x}; $b := $a ~> |$|{'b': 1}|; $uuid(); 1)",
		"($a := [1..100000]{$string(): $}; $uuid(); 1)",
		"($a := $match($pad('', 60000, 'ab '), /(a)(b)/); $uuid(); 1)",
	} {
		e, err := jsonata.Compile(text)
		require.NoError(t, err, text)
		alive := func() uint64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return stats.HeapAlloc
		}
		env := environment(t)
		before, during := alive(), uint64(0)
		env.UUID = func() string {
			during = max(alive(), before+1) - before
			return ""
		}
		_, _ = e.Eval(t.Context(), env)
		require.Positive(t, during, "%s ended before it was measured", text)
		require.Less(t, during, uint64(256<<20), text)
	}
}

// Each of these held memory that the budget had given back, or never counted.
//
//nolint:paralleltest // it measures the process
func TestWhatKeepsMemoryAliveIsHeld(t *testing.T) {
	live := watchLiveBytes()
	for _, text := range []string{
		`$map([1..1000], function($i) { {"b": 1} ~> |([1..2000]; $)|{"x": [1..100000]}| })`,
		`($t := |$|$z := {"x": [1..100000]}|; $map([1..1000], function($i) { ({} ~> $t; 1) }))`,
		`$map([1..1000], function($i) { $match($pad("", 20000000, "a"), /a/, 1).match })`,
		`$map([1..1000], function($i) { $substringBefore($pad("", 20000000, "a"), "aaa") & $split($pad("", 9000000, "a b"), " ", 1)[0] })`,
		`$map([1..1000], function($i) { $partition([1..200001], 200000)[1] })`,
		`($f := function($n, $big) { ($g := $f(?, [1..800000]); $g($n + 1)) }; $f(1, []))`,
		`$reduce([1..30], function($a, $b) { {"": $a, "b": $a} }, null)`,
		`$reduce([1..30], function($a, $b) { {"a": [$a], "b": [$a]} }, null)`,
	} {
		runtime.GC()
		live.Store(0)
		require.Contains(t, eval(t, text), threw, text)
		require.Less(t, live.Load(), int64(256<<20), text)
	}
}

// The budget compared an object of the input with the one before.
func TestFunctionsThatMakeMuchGiveObjectsOfTheInput(t *testing.T) {
	t.Parallel()
	require.Equal(t, `[[{"a":2,"b":1}],[{"a":2,"b":1}],[[[1,2],[3]]],[[[1,2],[3]]]]`, eval(t, `(
		$f := function($v) { ($x := [1..2000]; $v) };
		[[$f($states.input.object)], [$f($states.input.object)], [[$f($states.input.nested)]], [[$f($states.input.nested)]]]
	)`))
}
