package asl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestPlaceholdersOutsideOfQuotes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a number", `{"Seconds": ${Wait}}`, []string{"Wait"}},
		{"in the order of the text", `[${B}, ${A.Arn}, ${B}]`, []string{"B", "A.Arn", "B"}},
		{"in quotes", `{"Resource": "${Function}"}`, nil},
		{"behind an escaped quote", `{"Comment": "say \"${Word}", "Seconds": ${Wait}}`, []string{"Wait"}},
		{"behind an escaped backslash", `{"Comment": "\\", "Seconds": ${Wait}}`, []string{"Wait"}},
		{"no placeholder", `{"Comment": "${", "Seconds": ${}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var bare []string
			for _, form := range asl.FindPlaceholders([]byte(tt.text)) {
				if form.Bare {
					bare = append(bare, form.Name)
				}
			}
			require.Equal(t, tt.want, bare)
		})
	}
}

// A placeholder outside of quotes is told by its name, and not as a character
// that JSON does not have.
func TestParseBarePlaceholder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
	}{
		{"the first", "{\"TimeoutSeconds\":\n ${Limit}}", `2:2: the placeholder "${Limit}" stands outside of quotes: the definition is JSON only when it has a value`},
		{"all", `{"A": ${One}, "B": ${Two}}`, "2 problems:\n" + `1:7: the placeholder "${One}"`},
		{"another mistake before it", `{"A" 1, "B": ${Two}}`, "1:6: not valid JSON"},
		{"more than are shown", "[" + strings.Repeat("${X},", 60) + "1]", "and 10 more"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := asl.Parse([]byte(tt.text))
			require.ErrorContains(t, err, tt.want)
			require.ErrorAs(t, err, new(diag.Problems))
		})
	}
}
