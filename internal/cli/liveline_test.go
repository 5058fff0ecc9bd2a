package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A line that is redrawn stays in its line, whatever a service says.
func TestFitLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "⠋ waits", 8, "⠋ waits"},
		{"the last column stays free", "⠋ waits", 7, "⠋ wait"},
		{"no room", "⠋ waits", 0, ""},
		{"lines", "a\r\n\tb", 80, `a\r\n b`},
		{"escapes", "a\x1b[2Jb", 80, `a\u001b[2Jb`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, fitLine(tt.text, tt.width))
		})
	}
}
