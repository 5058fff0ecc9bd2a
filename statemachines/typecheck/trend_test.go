package typecheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// nested are the parts around an expression X, which may be nested.
var nested = map[string]string{
	"a condition":          "(X ? true : false)",
	"a condition under":    "($a ? X : false)",
	"and":                  "(X and $exists($d))",
	"or":                   "($exists($d) or X)",
	"not":                  "$not(X)",
	"not and equality":     "($not(X and $exists($d)) = false)",
	"inequality":           "(X != false)",
	"inequality from left": "(false != X)",
	"boolean":              "$boolean(X or $a)",
	"merge":                "$merge([{'a': X}]).a",
	"bound":                "($b := X; $b)",
}

// choice is a Choice with one condition, behind a Pass that assigns its variables.
func choice(t *testing.T, condition string) (*typecheck.Checker, *asl.State) {
	t.Helper()
	m, err := asl.Parse([]byte(`{"QueryLanguage": "JSONata", "StartAt": "Init", "States": {
		"Init": {"Type": "Pass", "Assign": {"none": {}, "a": "{% $states.input.a %}", "d": "{% $states.input.d %}"}, "Next": "Late?"},
		"Late?": {"Type": "Choice", "Choices": [{"Condition": "{% ` + condition + ` %}", "Next": "Late"}], "Default": "Late"},
		"Late": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	c, err := typecheck.New(m, typecheck.Options{})
	require.NoError(t, err)
	return c, m.State("Late?")
}

// The work for a trend grows with how deep a condition is nested, and not with a power of it.
func TestTrendOfNestedConditions(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts those of all tests
	for name, around := range nested {
		work := func(depth int) float64 {
			condition := "$millis() > 5"
			for range depth {
				condition = strings.Replace(around, "X", condition, 1)
			}
			c, s := choice(t, condition)
			return testing.AllocsPerRun(1, func() { c.Trend(s, 0, c.Input(s)) })
		}
		require.LessOrEqual(t, work(200), 6*work(50)+100, name)
	}
}

// A deadline that is missing or null never comes, and what each function makes of a time.
func TestTrendOfConditions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		condition string
		want      typecheck.Trend
	}{
		{"$millis() > $states.input.deadline", typecheck.Grows},
		{"$millis() < $states.input.deadline", typecheck.Falls},
		{"$exists($d) and $millis() > $d", typecheck.Grows},
		{"$a and $millis() > $d", typecheck.Grows},
		{"$a or $millis() > $d", typecheck.Grows},
		{"$not($a and $millis() > $d)", typecheck.Falls},
		{"$millis() > $none.deadline", typecheck.Stays},
		{"$none.deadline < $now()", typecheck.Stays},
		{"$millis() > null", typecheck.Stays},
		{"$millis() - $none.start > 60", typecheck.Stays},
		{"$now() = null", typecheck.Stays},
		{"$substring($now(), 0, 19) > $d", typecheck.Grows},
		{"$substring($now(), 11) > $d", typecheck.Moves},
		{"$substring($now(), -4) > $d", typecheck.Moves},
		{"$now('[H01]') > $d", typecheck.Moves},
		{"$fromMillis($millis()) > $d", typecheck.Grows},
		{"$fromMillis($millis(), '[H01]') > $d", typecheck.Moves},
		{"$toMillis($now()) > $d", typecheck.Grows},
		{"$toMillis($now(), '[Y]') > $d", typecheck.Moves},
		{"$string($now()) > $d", typecheck.Grows},
		{"$string($millis()) > $d", typecheck.Moves},
		{"$floor($millis() / 1000) > $d", typecheck.Grows},
		{"$boolean($millis())", typecheck.Moves},
		{"$boolean($millis() > $d)", typecheck.Grows},
		{"$not($millis())", typecheck.Moves},
	}
	for _, test := range tests {
		c, s := choice(t, test.condition)
		require.Equal(t, test.want, c.Trend(s, 0, c.Input(s)), test.condition)
	}
}

// A time alone does not decide a condition with a part that is not known.
func TestLateConditions(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]int{
		"$millis() > $d":                             1,
		"$a and $millis() > $d":                      2,
		"($a and $millis() > $d) = true":             2,
		"$not($boolean($a and $millis() > $d))":      2,
		"$a or $millis() > $d":                       1,
		"($a or $millis() > $d) ? true : false":      1,
		"($a and $millis() > $d) ? true : false":     2,
		"($a and $millis() > $d) and $millis() > $d": 2,
	} {
		c, s := choice(t, condition)
		require.Len(t, c.Step(s, c.Input(s).At(typecheck.Late), typecheck.Unknown()), want, condition)
	}
}
