package terminal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want int
		cut  string // to three columns
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 4, "abc"},
		{"実行中", 6, "実"},
		{"a実行", 5, "a実"},
		{"e\u0301e\u0301e\u0301e\u20dd", 4, "e\u0301e\u0301e\u0301"},
		{"🚀🚀", 4, "🚀"},
		{"✅⏳⭐🀄", 8, "✅"},
		{"→│☀⚙", 4, "→│☀"},
	} {
		require.Equal(t, c.want, terminal.Width(c.text), c.text)
		require.Equal(t, c.cut, terminal.Cut(c.text, 3), c.text)
	}
	require.Empty(t, terminal.Cut("abc", 0))
	require.Empty(t, terminal.Cut("abc", -1))
}
