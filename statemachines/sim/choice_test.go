package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

func TestChoiceOperators(t *testing.T) {
	t.Parallel()
	tests := []struct {
		operator, value, expected string
		want                      bool
	}{
		{"StringEquals", `"a"`, `"a"`, true},
		{"StringEquals", `"a"`, `"b"`, false},
		{"StringEquals", `1`, `"1"`, false},
		{"StringEquals", `null`, `""`, false},
		{"StringLessThan", `"a"`, `"b"`, true},
		{"StringLessThan", `"b"`, `"b"`, false},
		{"StringLessThanEquals", `"b"`, `"b"`, true},
		{"StringGreaterThan", `"b"`, `"a"`, true},
		{"StringGreaterThan", `"a"`, `"a"`, false},
		{"StringGreaterThanEquals", `"a"`, `"a"`, true},
		{"NumericEquals", `1.0`, `1`, true},
		{"NumericEquals", `9007199254740993`, `9007199254740992`, false},
		{"NumericEquals", `"1"`, `1`, false},
		{"NumericLessThan", `-1.5`, `-1`, true},
		{"NumericLessThan", `1`, `1`, false},
		{"NumericLessThanEquals", `1e2`, `100`, true},
		{"NumericGreaterThan", `1e400`, `5`, true},
		{"NumericGreaterThan", `5`, `5`, false},
		{"NumericGreaterThanEquals", `5`, `5`, true},
		{"BooleanEquals", `true`, `true`, true},
		{"BooleanEquals", `false`, `false`, true},
		{"BooleanEquals", `"true"`, `true`, false},
		{"BooleanEquals", `null`, `false`, false},
		{"TimestampEquals", `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00Z"`, true},
		{"TimestampEquals", `"2026-01-01"`, `"2026-01-01T00:00:00Z"`, false},
		{"TimestampLessThan", `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00.001Z"`, true},
		{"TimestampLessThanEquals", `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00Z"`, true},
		{"TimestampGreaterThan", `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00Z"`, false},
		{"TimestampGreaterThanEquals", `"2026-01-01T00:00:00Z"`, `"2026-01-01T00:00:00Z"`, true},
		{"TimestampGreaterThan", `1`, `"2026-01-01T00:00:00Z"`, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s %s %s", tt.value, tt.operator, tt.expected), func(t *testing.T) {
			t.Parallel()
			input := `{"v": ` + tt.value + `, "e": ` + tt.expected + `}`
			require.Equal(t, tt.want, decide(t, `{"Variable": "$.v", "`+tt.operator+`": `+tt.expected+`}`, input))
			require.Equal(t, tt.want, decide(t, `{"Variable": "$.v", "`+tt.operator+`Path": "$.e"}`, input), "with the other value by path")
			require.Equal(t, !tt.want, decide(t, `{"Not": {"Variable": "$.v", "`+tt.operator+`": `+tt.expected+`}}`, input), "negated")
		})
	}
}

// A path may lead to a value of another type than the operator takes.
func TestChoicePathOfAnotherType(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"StringEquals", "NumericEquals", "BooleanEquals", "TimestampEquals"} {
		require.False(t, decide(t, `{"Variable": "$.v", "`+operator+`Path": "$.v"}`, `{"v": []}`), operator)
	}
}

func TestChoiceTests(t *testing.T) {
	t.Parallel()
	values := []string{`null`, `1`, `"text"`, `true`, `"2026-01-01T00:00:00Z"`, `[]`, `{}`}
	holds := map[string][]bool{
		"IsNull":      {true, false, false, false, false, false, false},
		"IsNumeric":   {false, true, false, false, false, false, false},
		"IsString":    {false, false, true, false, true, false, false},
		"IsBoolean":   {false, false, false, true, false, false, false},
		"IsTimestamp": {false, false, false, false, true, false, false},
		"IsPresent":   {true, true, true, true, true, true, true},
	}
	for operator, wants := range holds {
		for i, want := range wants {
			input := `{"v": ` + values[i] + `}`
			require.Equal(t, want, decide(t, `{"Variable": "$.v", "`+operator+`": true}`, input), "%s of %s", operator, values[i])
			require.Equal(t, !want, decide(t, `{"Variable": "$.v", "`+operator+`": false}`, input), "%s of %s", operator, values[i])
		}
	}
	require.False(t, decide(t, `{"Variable": "$.none", "IsPresent": true}`, `{}`))
	require.True(t, decide(t, `{"Variable": "$.none[0].x", "IsPresent": false}`, `{}`))
	require.True(t, decide(t, `{"Variable": "$$.Execution.Name", "IsString": true}`, `{}`))
}

func TestChoiceStringMatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, pattern string
		want          bool
	}{
		{"abc", "abc", true},
		{"abc", "ab", false},
		{"abc", "*", true},
		{"", "*", true},
		{"", "", true},
		{"abc", "a*c", true},
		{"abc", "*b*", true},
		{"abc", "a*b", false},
		{"aXbXc", "a*X*c", true},
		{"ab", "ab*b", false},
		{"aab", "a*ab", true},
		{"a*c", `a\\*c`, true},
		{"abc", `a\\*c`, false},
		{`a\\c`, `a\\\\*`, true},
		{"größe", "gr*e", true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, decide(t, `{"Variable": "$.v", "StringMatches": "`+tt.pattern+`"}`, `{"v": "`+tt.text+`"}`), "%s matches %s", tt.text, tt.pattern)
	}
}

func TestChoiceNesting(t *testing.T) {
	t.Parallel()
	const yes, no, broken = `{"Variable": "$.t", "BooleanEquals": true}`, `{"Variable": "$.t", "BooleanEquals": false}`, `{"Variable": "$.none", "IsNull": true}`
	tests := []struct {
		condition string
		want      bool
	}{
		{`{"And": [` + yes + `, ` + yes + `]}`, true},
		{`{"And": [` + yes + `, ` + no + `]}`, false},
		{`{"Or": [` + no + `, ` + yes + `]}`, true},
		{`{"Or": [` + no + `, ` + no + `]}`, false},
		{`{"Not": {"Or": [` + no + `, {"And": [` + yes + `, ` + no + `]}]}}`, true},
		{`{"And": [` + no + `, ` + broken + `]}`, false}, // the second is not looked at
		{`{"Or": [` + yes + `, ` + broken + `]}`, true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, decide(t, tt.condition, `{"t": true}`), tt.condition)
	}
}

// decide tells whether the condition holds.
func decide(t *testing.T, condition, input string) bool {
	t.Helper()
	rule := condition[:len(condition)-1] + `, "Next": "Yes"}`
	r := run(t, `{"StartAt": "C", "States": {"C": {"Type": "Choice", "Choices": [`+rule+`], "Default": "No"},
		"Yes": {"Type": "Pass", "Result": true, "End": true}, "No": {"Type": "Pass", "Result": false, "End": true}}}`, input, nil, sim.Options{})
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	return string(r.Output) == "true"
}
