package tojsonata

// definition is a function that an exact translation defines before it uses
// it. In all of them an array is an array, null is null, and nothing is an
// error, which they pass on.
type definition struct {
	name string
	text string
	uses []string // other definitions, which stand before it
}

// definitions come in the order in which they can stand.
var definitions = []definition{
	// wrap makes an array of a single value, cons adds one to an array.
	{name: "wrap", text: `function($v){ $type($v) = 'array' ? [[$v]] : [$v] }`},
	{
		name: "cons", uses: []string{"wrap"},
		text: `function($a, $v){ $exists($a) and $exists($v) ? $append($a, $wrap($v)) }`,
	},
	{name: "put", text: `function($o, $k, $v){ $exists($o) and $exists($v) ? $merge([$o, {$k: $v}]) }`},
	// filled is an object without the members that are null.
	{name: "filled", text: `function($v){ $type($v) = 'object' ? $merge([{}, $sift($v, function($m){ $m != null })]) : $v }`},
	// truthy takes any value, negate also an error.
	{name: "truthy", text: `function($v){ $not($v = null or $v = false or $v = '' or $v = [] or $v = {}) }`},
	{name: "negate", uses: []string{"truthy"}, text: `function($v){ $exists($v) ? $not($truthy($v)) }`},
	// member and index read a part, own a member that every object of JavaScript
	// seems to have.
	{name: "known", text: `function($v){ $exists($v) ? $v : null }`},
	{
		name: "member", uses: []string{"known"},
		text: `function($v, $k){ $exists($v) ? $known($type($v) = 'object' ? $lookup($v, $k)) }`,
	},
	{
		name: "own", uses: []string{"known"},
		text: `function($v, $k){ $exists($v) ? $known($type($v) = 'object' and $k in $keys($v) ? $lookup($v, $k)) }`,
	},
	{name: "index", uses: []string{"known"}, text: `function($v, $i){ $exists($v) ? $known($type($v) = 'array' ? $v[$i]) }`},
	// time makes the text of a timestamp epoch seconds, times those of an array.
	{
		name: "time",
		text: `function($v){ $type($v) = 'string' ? ($contains($v, ` + timestampPattern + `) ? $toMillis($v) / 1000 : null) : $v }`,
	},
	{
		name: "times", uses: []string{"time", "wrap"},
		text: `function($v){ $type($v) = 'array' ? $reduce($v, function($a, $e){ $append($a, $wrap($time($e))) }, []) : $v }`,
	},
	// on goes on with a value that is not null, pipe with any.
	{name: "on", text: `function($v, $f){ $exists($v) ? ($v = null ? null : $f($v)) }`},
	{name: "pipe", text: `function($v, $f){ $exists($v) ? $f($v) }`},
	// fold makes an array of the elements of one; of another value it is null.
	{
		name: "fold",
		text: `function($v, $f){ $exists($v) ? ($type($v) = 'array' ? $reduce($v, $f, []) : null) }`,
	},
	{
		name: "project", uses: []string{"fold", "wrap"},
		text: `function($v, $f){ $fold($v, function($a, $e){ ($w := $f($e); $exists($a) and $exists($w) ? ($w = null ? $a : $append($a, $wrap($w)))) }) }`,
	},
	{
		name: "flatten", uses: []string{"fold"},
		text: `function($v){ $fold($v, function($a, $e){ $append($a, $type($e) = 'array' ? $e : [$e]) }) }`,
	},
	{
		name: "select", uses: []string{"fold", "wrap", "truthy"},
		text: `function($v, $f){ $fold($v, function($a, $e){ ($w := $f($e); $exists($a) and $exists($w) ? ($truthy($w) ? $append($a, $wrap($e)) : $a)) }) }`,
	},
	{
		name: "slice", uses: []string{"wrap"},
		text: `function($v, $from, $to, $step){ $exists($v) ? ($type($v) = 'array' ? (` +
			`$n := $count($v); $low := $step < 0 ? -1 : 0; $high := $step < 0 ? $n - 1 : $n; ` +
			`$bound := function($i, $else){ $i = null ? $else : $max([$low, $min([$high, $i < 0 ? $i + $n : $i])]) }; ` +
			`$first := $bound($from, $step < 0 ? $high : $low); $last := $bound($to, $step < 0 ? $low : $high); ` +
			`$reduce([0..$ceil(($last - $first) / $step) - 1], function($a, $k){ $append($a, $wrap($v[$first + $k * $step])) }, [])) : null) }`,
	},
	// names and contents are the members of an object, in the order of their
	// names; wildcard is also null for another value.
	{name: "names", text: `function($v){ $type($v) = 'object' ? $sort([$keys($v)]) }`},
	{
		name: "contents", uses: []string{"names", "wrap"},
		text: `function($v){ $type($v) = 'object' ? $reduce($names($v), function($a, $k){ $append($a, $wrap($lookup($v, $k))) }, []) }`,
	},
	{
		name: "wildcard", uses: []string{"contents"},
		text: `function($v){ $exists($v) ? ($type($v) = 'object' ? $contents($v) : null) }`,
	},
	{name: "equal", text: `function($a, $b){ $exists($a) and $exists($b) ? $a = $b }`},
	{name: "differ", text: `function($a, $b){ $exists($a) and $exists($b) ? $a != $b }`},
	{
		name: "order",
		text: `function($a, $b, $f){ $exists($a) and $exists($b) ? ($type($a) = 'number' and $type($b) = 'number' ? $f($a, $b) : null) }`,
	},
	// all is true for an array of elements of one type, ordered for one of
	// numbers or of strings, keyed where a function gives such.
	{
		name: "all",
		text: `function($v, $t){ $type($v) = 'array' and $reduce($v, function($b, $e){ $b and $type($e) = $t }, true) }`,
	},
	{
		name: "ordered", uses: []string{"all"},
		text: `function($v){ $all($v, 'number') or $all($v, 'string') }`,
	},
	{
		name: "keyed", uses: []string{"ordered", "cons"},
		text: `function($v, $f){ $type($v) = 'array' and $ordered($reduce($v, function($a, $e){ $cons($a, $f($e)) }, [])) }`,
	},
	// best is the first element that none is better than.
	{
		name: "best", uses: []string{"wrap"},
		text: `function($v, $better){ $count($v) = 0 ? null : $reduce([0..$count($v) - 1], ` +
			`function($b, $k){ $k > 0 and $better($v[$k], $b[0]) ? $wrap($v[$k]) : $b }, $wrap($v[0]))[0] }`,
	},
}

const (
	// timestampPattern has the timestamps that $toMillis reads.
	timestampPattern = `/^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])` +
		`T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])$/`
	// numberPattern has the JSON numbers that $number reads: it fails on what is
	// too large for a float. The largest of these is below 1e300.
	numberPattern = `/^-?(0|[1-9][0-9]{0,199})([.][0-9]+)?([eE](-[0-9]+|[+]?0*[0-9]{1,2}))?$/`
)

// functionDefinitions are the functions of JMESPath. An argument of a type that
// the function does not take gives nothing; an expression comes as a function.
// merge and not_null, which take any number of arguments, have code of their
// own.
var functionDefinitions = map[string]definition{
	"abs":   {text: `function($v){ $type($v) = 'number' ? $abs($v) }`},
	"ceil":  {text: `function($v){ $type($v) = 'number' ? $ceil($v) }`},
	"floor": {text: `function($v){ $type($v) = 'number' ? $floor($v) }`},
	"avg":   {uses: []string{"all"}, text: `function($v){ $all($v, 'number') ? ($count($v) = 0 ? null : $average($v)) }`},
	"sum":   {uses: []string{"all"}, text: `function($v){ $all($v, 'number') ? $sum($v) }`},
	"contains": {text: `function($v, $x){ $exists($x) ? ($type($v) = 'string' ? ($type($x) = 'string' ? $contains($v, $x) : false) : ` +
		`$type($v) = 'array' ? $reduce($v, function($b, $e){ $b or $e = $x }, false)) }`},
	"starts_with": {text: `function($v, $x){ $type($v) = 'string' and $type($x) = 'string' ? $substring($v, 0, $length($x)) = $x }`},
	"ends_with": {text: `function($v, $x){ $type($v) = 'string' and $type($x) = 'string' ? ` +
		`$length($x) <= $length($v) and $substring($v, $length($v) - $length($x)) = $x }`},
	"join": {uses: []string{"all"}, text: `function($v, $l){ $type($v) = 'string' and $all($l, 'string') ? $join($l, $v) }`},
	"keys": {uses: []string{"names"}, text: `$names`},
	"length": {text: `function($v){ $type($v) = 'string' ? $length($v) : $type($v) = 'array' ? $count($v) : ` +
		`$type($v) = 'object' ? $count($keys($v)) }`},
	"map":    {uses: []string{"cons"}, text: `function($f, $v){ $type($v) = 'array' ? $reduce($v, function($a, $e){ $cons($a, $f($e)) }, []) }`},
	"max":    {uses: []string{"ordered", "best"}, text: `function($v){ $ordered($v) ? $best($v, function($a, $b){ $a > $b }) }`},
	"min":    {uses: []string{"ordered", "best"}, text: `function($v){ $ordered($v) ? $best($v, function($a, $b){ $a < $b }) }`},
	"max_by": {uses: []string{"keyed", "best"}, text: `function($v, $f){ $keyed($v, $f) ? $best($v, function($a, $b){ $f($a) > $f($b) }) }`},
	"min_by": {uses: []string{"keyed", "best"}, text: `function($v, $f){ $keyed($v, $f) ? $best($v, function($a, $b){ $f($a) < $f($b) }) }`},
	"reverse": {text: `function($v){ $type($v) = 'string' ? $reduce([0..$length($v) - 1], function($a, $k){ $substring($v, $k, 1) & $a }, '') : ` +
		`$type($v) = 'array' ? $reverse($v) }`},
	"sort": {uses: []string{"ordered"}, text: `function($v){ $ordered($v) ? $sort($v) }`},
	// Where a call of $sort is what a function gives, the reference engine calls
	// it later, and fails.
	"sort_by":  {uses: []string{"keyed"}, text: `function($v, $f){ $keyed($v, $f) ? ($v := $sort($v, function($a, $b){ $f($a) > $f($b) }); $v) }`},
	"to_array": {uses: []string{"wrap"}, text: `function($v){ $exists($v) ? ($type($v) = 'array' ? $v : $wrap($v)) }`},
	"to_number": {text: `function($v){ $exists($v) ? ($type($v) = 'number' ? $v : ` +
		`$type($v) = 'string' and $contains($v, ` + numberPattern + `) ? $number($v) : null) }`},
	"type":   {text: `$type`},
	"values": {uses: []string{"contents"}, text: `$contents`},
}
