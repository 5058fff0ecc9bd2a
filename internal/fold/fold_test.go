package fold_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/fold"
)

func TestLoops(t *testing.T) {
	t.Parallel()
	for sequence, want := range map[string][]fold.Turns{
		"":              nil,
		"a b":           {{1, 1}, {1, 1}},
		"a a a":         {{1, 3}},
		"s w g w g w d": {{1, 1}, {2, 2}, {1, 1}, {1, 1}},
		"a a b a a b":   {{3, 2}},
		"a b a b c":     {{2, 2}, {1, 1}},
	} {
		require.Equal(t, want, fold.Loops(strings.Fields(sequence)), sequence)
	}
}

// What is folded is all of the sequence.
func TestLoopsLeaveNothingOut(t *testing.T) {
	t.Parallel()
	sequence := strings.Repeat("start ", 2) + strings.Repeat("wait get done ", 1000) + "end"
	n := 0
	for _, part := range fold.Loops(strings.Fields(sequence)) {
		n += part.Size * part.Times
	}
	require.Len(t, strings.Fields(sequence), n)
}
