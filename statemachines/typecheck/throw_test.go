package typecheck_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// An operator on values of the wrong types fails the state. One that may have the right ones, or is not
// evaluated, is left alone.
func TestOperatorsTakeTypes(t *testing.T) {
	t.Parallel()
	const numbers, found = "takes numbers, found ", "compares two numbers or two strings, found "
	for condition, want := range map[string]string{
		"$now() > $number":       found + "a string and a number",
		"$number <= $now()":      found + "a number and a string",
		"$millis() > $text":      found + "a number and a string",
		"$now() > $text":         "",
		"$millis() > $number":    "",
		"$number > null":         `">" compares numbers or strings, found null`,
		"$object >= 5":           `">=" compares numbers or strings, found an object`,
		"$now() - $number > 60":  numbers + "a string",
		"$number + $text > 60":   numbers + "a string",
		"'5' * 2 > 5":            numbers + "a string",
		"$toMillis($now()) > 60": "",
		"$states.context.Execution.StartTime < $number":            found + "a string and a number",
		"$exists($number) and $now() > $number":                    found,
		"$exists($states.input.x) and $now() > $states.input.x":    "",
		"$now() ~> $toMillis() + 5000 > $number":                   `"~>" calls a function, and what follows it is none`,
		"($now() ~> $toMillis()) + 5000 > $number":                 "",
		"($number ~> $abs ~> $string) = 'x'":                       "",
		"$states.input.x > 5":                                      "",
		"$number > 5 ? $now() > $text : $millis() > $number":       "",
		"$number > 5 ? $now() > $number : $millis() > $number":     found,
		"$states.input.x.y > 5 or $states.input.x + 1 > $number":   "",
		"$count($filter($list, function($i){ $i > 1 })) > 0":       "",
		"$count($map($list, function($i){ $i & '' })) > $text":     found + "a number and a string",
		"$reduce($list, function($a, $b){ $a + $b }) > $number":    "",
		"$reduce(['a', 'b'], function($a, $b){ $a & $b }) > $list": `">" compares numbers or strings, found an array`,
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			got := findings(t, fmt.Sprintf(`{"QueryLanguage": "JSONata", "StartAt": "P", "States": {
				"P": {"Type": "Pass", "Assign": {"text": "{%% $uuid() %%}", "number": "{%% $random() %%}", "list": [1, 2], "object": {"a": 1}}, "Next": "S"},
				"S": {"Type": "Choice", "Choices": [{"Condition": %q, "Next": "End"}], "Default": "End"}, "End": {"Type": "Succeed"}}}`, "{% "+condition+" %}"))
			if want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], want)
			require.Contains(t, got[0], "the state fails with States.QueryEvaluationError")
		})
	}
}

// A comparison in JSONPath of two paths of other types than it takes never holds.
func TestPathsOfOtherTypesNeverCompare(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`"Variable": "$number", "NumericGreaterThanPath": "$text"`:           "$text is a string: NumericGreaterThanPath never holds",
		`"Variable": "$text", "NumericLessThanPath": "$number"`:              "$text is a string: NumericLessThanPath never holds",
		`"Variable": "$number", "TimestampLessThanPath": "$text"`:            "$number is a number: TimestampLessThanPath never holds",
		`"Variable": "$text", "TimestampLessThanPath": "$text"`:              "",
		`"Variable": "$number", "NumericLessThanPath": "$number"`:            "",
		`"Variable": "$.x", "NumericLessThanPath": "$number"`:                "",
		`"Not": {"Variable": "$text", "NumericLessThanPath": "$number"}`:     "",
		`"Variable": "$$.State.EnteredTime", "NumericEqualsPath": "$number"`: "$$.State.EnteredTime is a string: NumericEqualsPath never holds",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			got := findings(t, fmt.Sprintf(`{"StartAt": "P", "States": {
				"P": {"Type": "Pass", "Assign": {"text.$": "States.UUID()", "number.$": "States.MathRandom(1, 9)"}, "Next": "S"},
				"S": {"Type": "Choice", "Choices": [{%s, "Next": "End"}], "Default": "End"}, "End": {"Type": "Succeed"}}}`, rule))
			if want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], want)
		})
	}
}
