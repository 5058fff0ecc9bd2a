package compile_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A pattern means the same in both query languages, and as a regular expression.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"Stack with id * does not exist", "Stack with id orders does not exist (Service: CloudFormation, Status Code: 400)"},
		{"Status Code: 5", "null (Service: S3, Status Code: 503, Request ID: X)"},
		{"a*a", "a"},
		{"a*a", "ba-a"},
		{"ab*bc", "abc"},
		{"*a*", "xa"},
		{`\*`, "a*b"},
		{`a\\*b`, `a\xb`},
		{`"'{}$[]`, `x"'{}$[]x`},
		{"a*b*c", "a\nb\nc"},
		{"é*😀", "é..😀"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, cause string) {
		stringMatches, jsonata, err := compile.Glob(pattern, "$states.input.cause")
		if err != nil || !utf8.ValidString(pattern) || !utf8.ValidString(cause) || strings.Contains(jsonata, "%}") {
			return
		}
		want := reference(pattern).MatchString(cause)
		for language, rule := range map[string]map[string]any{
			"JSONPath": {"Variable": "$.cause", "StringMatches": stringMatches, "Next": "Yes"},
			"JSONata":  {"Condition": "{% " + jsonata + " %}", "Next": "Yes"},
		} {
			definition, err := json.Marshal(map[string]any{"QueryLanguage": language, "StartAt": "Match", "States": map[string]any{
				"Match": map[string]any{"Type": "Choice", "Choices": []any{rule}, "Default": "No"},
				"Yes":   map[string]any{"Type": "Succeed"}, "No": map[string]any{"Type": "Fail", "Error": "No"},
			}})
			require.NoError(t, err)
			m, err := asl.Parse(definition)
			require.NoError(t, err)
			input, err := json.Marshal(map[string]any{"cause": cause})
			require.NoError(t, err)
			result, err := sim.Run(t.Context(), m, input, sim.Options{})
			require.NoError(t, err)
			require.Equal(t, want, result.Status == sim.StatusSucceeded, "%s of %q in %q: %s", language, pattern, cause, result.Cause)
		}
	})
}

// reference is a pattern as a regular expression.
func reference(pattern string) *regexp.Regexp {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			b.WriteString("(?s:.*)")
			continue
		case '\\':
			i++
		}
		end := i + 1
		for end < len(pattern) && !utf8.RuneStart(pattern[end]) {
			end++
		}
		b.WriteString(regexp.QuoteMeta(pattern[i:end]))
		i = end - 1
	}
	return regexp.MustCompile(b.String())
}
