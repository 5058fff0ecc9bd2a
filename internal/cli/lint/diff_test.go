package lint

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestDiffNeedsGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, complaints bytes.Buffer
	require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"lint", "--diff", "main", "../../../docs/example"}, &out, &complaints))
	require.Empty(t, out.String())
	require.Contains(t, complaints.String(), "jobpoller: --diff main: git is not installed, or not in PATH: install it\n")
}

// Of several findings at one place, those about something else are new, and of equal ones as many
// as there are more.
func TestNewFindings(t *testing.T) {
	t.Parallel()
	never := func(Finding) bool { return false }
	find := func(pointer string, subjects ...string) Finding {
		return Finding{file: "a.json", Rule: "enum-value", Problem: diag.Problem{Pointer: pointer}, subjects: subjects}
	}
	before := []Finding{find("/States/A/Choices/0", "x"), find("/States/A/Choices/1", "y"), find("/States/B", "z")}
	now := []Finding{find("/States/A/Choices/0", "new"), find("/States/A/Choices/1", "x"), find("/States/A/Choices/2", "y"), find("/States/1", "x")}
	fresh, use := newSince("main", now, before, never)
	require.Equal(t, []Finding{now[0], now[3]}, fresh)
	require.Equal(t, "; 2 findings of main stay, 1 is gone", use.String())

	fresh, use = newSince("main", before[:1], before, never)
	require.Empty(t, fresh)
	require.Equal(t, "; 1 finding of main stays, 2 are gone", use.String())

	// Other words about the same are no finding, and another status is one.
	full, more := find("/States/B", "CANCELLED"), find("/States/B", "FAILED", "CANCELLED")
	fuller := full
	fuller.Problem.Message = "polled until the history is full, at 25,000 events"
	fresh, _ = newSince("main", []Finding{fuller, more}, []Finding{full, full}, never)
	require.Equal(t, []Finding{more}, fresh)
	_, use = newSince("main", before[:1], before, never)
	require.Equal(t, "; 1 finding of main stays, 2 are gone", use.String())
}

// Lines are compared without the widths of columns, and none is lost.
func TestComparedLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, after, want []string }{
		{[]string{"a  b", "c"}, []string{"a      b", "c"}, nil},
		{nil, nil, nil},
		{nil, []string{"a"}, []string{"+ a"}},
		{[]string{"a"}, nil, []string{"- a"}},
		{[]string{"a", "b  1", "c"}, []string{"a", "b   2", "c"}, []string{"  a", "- b  1", "+ b   2", "  c"}},
		{[]string{"a", "c"}, []string{"a", "b", "c"}, []string{"  a", "+ b", "  c"}},
		{[]string{"a", "b", "c"}, []string{"c", "a"}, []string{"- a", "- b", "  c", "+ a"}},
	} {
		require.Equal(t, tt.want, compareLines(tt.before, tt.after))
	}
}
