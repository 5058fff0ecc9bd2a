package lint_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// A row with many values goes on below itself, so that the table fits a terminal.
func TestTableOfManyValues(t *testing.T) {
	t.Parallel()
	values := strings.TrimSuffix(strings.Repeat("UPDATE_ROLLBACK_COMPLETE, ", 10), ", ")
	text := lint.Table([][3]string{{"DONE", "Done", "success"}, {values, "Bad", "failure"}})
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.Greater(t, len(lines), 3)
	for _, line := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80)
	}
	require.Equal(t, 10, strings.Count(text, "UPDATE_ROLLBACK_COMPLETE"))
	require.Contains(t, lines[0], "-> Done  success")
	require.Contains(t, lines[1], "-> Bad   failure")
}
