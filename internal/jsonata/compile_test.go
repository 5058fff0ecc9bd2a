package jsonata_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, code string
		offset     int
	}{
		{"", "S0207", 0},
		{"1 +", "S0207", 3},
		{"a b", "S0201", 2},
		{"($a; $b", "S0203", 7},
		{"[1, 2", "S0203", 5},
		{"[1; 2]", "S0202", 2},
		{"{'a' 1}", "S0202", 5},
		{"$a ?? $b", "S0204", 3},
		{"$a ?: $b", "S0204", 3},
		{"2 ** 3", "S0201", 2},
		{"[1!2]", "S0204", 2},
		{"function(x) { 1 }", "S0208", 9},
		{"[1]{'a': 1}[0]", "S0209", 11},
		{"1 + * / ;", "S0211", 8},
		{"a := 1", "S0212", 2},
		{"a@b", "S0214", 2},
		{"a#1", "S0214", 2},
		{"'abc", "S0101", 0},
		{"é & 'ab", "S0101", 5},
		{`'\`, "S0101", 1},
		{"1e999", "S0102", 0},
		{`"\q"`, "S0103", 1},
		{`"\u12"`, "S0104", 1},
		{"a.`b", "S0105", 2},
		{"1 /* 2", "S0106", 2},
		{"$match(a, //)", "S0301", 10},
		{"$match(a, /b)", "S0302", 10},
		{`/(?<n>a)\kn>/`, "S0302", 0},
		{`/(?<n>a)\k<n/`, "S0302", 0},
		{"/" + strings.Repeat("(?<", 1_000_000) + strings.Repeat(")", 1_000_000) + "/", "S0302", 0},
		{"/" + strings.Repeat("a{", 20_000) + strings.Repeat("b", 3_000_000) + strings.Repeat("}", 20_000) + "/", "S0302", 0},
		{"λ($a)<n<n>>{$a}(5)", "S0401", 6},
		{strings.Repeat("(", 1_000_000), "S0201", 2_000},
		{"1" + strings.Repeat("+1", 1_000_000), "S0201", 4_000},
		{"a" + strings.Repeat(".a", 1_000_000), "S0201", 4_000},
		{strings.Repeat(" ", 7_000_000), "S0201", 0},
	} {
		_, err := jsonata.Compile(c.text)
		syntax, ok := errors.AsType[*diag.SyntaxError](err)
		require.True(t, ok, "%.50s: %v", c.text, err)
		require.Equal(t, c.code, syntax.Code, "%.50s: %v", c.text, err)
		require.InDelta(t, c.offset, syntax.Offset, 10, "%.50s: %v", c.text, err)
		if len(c.text) < 50 {
			require.Equal(t, c.offset, syntax.Offset, "%s: %v", c.text, err)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	e, err := jsonata.Compile(" \n$a + 1 ")
	require.NoError(t, err)
	require.Equal(t, "$a + 1", e.String())
}

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"$states.input.Items[0].x = $limit", "states.input.Items@0 limit@27"},
		{"$states", "states@0"},
		{"$states . `result`.'a b'", "states.result.a b@0"},
		{"$states.context.State.Name & $states.errorOutput", "states.context.State.Name@0 states.errorOutput@29"},
		{"$states.(input)", "states@0"},
		{"$states.*", "states@0"},
		{"$states.result ~> $f", "states.result@0 f@18"},
		{"1 ? 2 : $states.input[0].q", "states.input@8"},
		{"$a := $b", "b@6"},
		{"$a := $a", "a@6"},
		{"($a := 1; $a + $b)", "b@15"},
		{"(($a := 1); $a)", "a@12"},
		{"($a := $a; $a)", "a@7"},
		{"($f := function() { $y }; $y := 1; $f())", ""},
		{"($f := function() { $y }; $f())", "y@20"},
		{"($f := function() { ($y; $y := 1) }; $f())", "y@21"},
		{"($f := function($n) { $n < 1 ? 1 : $f($n - 1) }; $f(3))", ""},
		{"$map($a, function($v, $i) { $v + $i + $k })", "a@5 k@38"},
		{"λ($n)<n:n>{$n * $m}(4)", "m@17"},
		{"a.b#$i.(c@$d.$d.$i.$e)", "e@19"},
		{"|$states.input|{'a': $z}, $q|", "states.input@1 z@21 q@26"},
		{"($x ~> |$|$y := 1|; $y)", "x@1 y@20"},
		{"$a^(>$b, <c){$c: $d}", "a@0 b@5 c@13 d@17"},
		{"$sum([$a..$b])[$c] and $not($d)", "a@6 b@10 c@15 d@28"},
		{"$eval('1') & $now()", "eval@0"},
		{"$parse($uuid()) in $flatten", "flatten@19"},
		{"$ & $$ & a.%.*.**.and", ""},
		{"$f(?, $x) /* $comment */ & '$text' & $contains(a, /$b/)", "f@0 x@6"},
		{"and.or[in = -$x]", "x@13"},
	} {
		e, err := jsonata.Compile(c[0])
		require.NoError(t, err, c[0])
		var got []string
		for _, r := range e.Variables() {
			got = append(got, fmt.Sprintf("%s@%d", strings.Join(append([]string{r.Name}, r.Path...), "."), r.Offset))
		}
		require.Equal(t, c[1], strings.Join(got, " "), c[0])
	}
}
