package terminal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"short":               {"a b", []string{"a b"}},
		"as wide as the line": {"12345 7890", []string{"12345 7890"}},
		"long":                {"12345 78901 x", []string{"12345", "  78901 x"}},
		"indented":            {"  12345 78 x", []string{"  12345 78", "    x"}},
		"a long word":         {"a 1234567890123 b", []string{"a", "  1234567890123", "  b"}},
		"wide characters":     {"日本 日本日", []string{"日本", "  日本日"}},
		"nothing":             {"", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, terminal.Wrap(c.text, 10))
		})
	}
	require.Equal(t, 80, terminal.ColumnsOf(&bytes.Buffer{}))
}
