package jmespath_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// Expressions of a line that doubled what they were given took all memory.
//
//nolint:paralleltest // it measures memory
func TestExpressionsThatDoubleEnd(t *testing.T) {
	double := func(step string) string { return step + strings.Repeat(" | "+step, 60) }
	const values, text = "the expression looks at more than 4000000 values", "the expression makes more than 32 MiB of text"
	tests := []struct{ name, expression, want string }{
		{"flattened lists", double("[@, @][]"), values},
		{"joined text", "A | " + double("join('', [@, @])"), text},
		{"text of nested lists", "B | " + double("[@, @]") + " | to_string(@)", values},
		{"the result", "B | " + double("[@, @]"), values},
		{"the result of nested objects", double("{a: @, b: @}"), text},
		{"lists that are compared", double("[@, @]") + " | @ == @", values},
		{"long text in the result", "Long | " + strings.Repeat("[@, @][] | ", 12) + "@", text},
		{"long text in text", "Long | " + strings.Repeat("[@, @][] | ", 12) + "to_string(@)", text},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e, err := jmespath.Parse(tt.expression)
			require.NoError(t, err)
			p, _ := e.Compile(nil)
			_, err = p.Eval(map[string]any{"A": "x", "B": json.Number("1"), "Long": strings.Repeat("y", 1<<16)})
			runtime.ReadMemStats(&after)
			var failed *jmespath.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, jmespath.TooMuchWork, failed.Code, "%v", err)
			require.ErrorContains(t, err, tt.want)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30))
		})
	}
	// A program can be used again after it.
	e, err := jmespath.Parse("[@, @][]")
	require.NoError(t, err)
	p, _ := e.Compile(nil)
	for range 3 {
		items := make([]any, 1_900_000)
		_, err = p.Eval(items)
		require.NoError(t, err)
	}
}
