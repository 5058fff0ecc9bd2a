package terminal_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// The variables are those of no-color.org and bixense.com/clicolors.
func TestDecide(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode        terminal.ColourMode
		env         map[string]string
		onTerminal  bool
		elsewhere   bool
		description string
	}{
		{terminal.Auto, nil, true, false, "a terminal"},
		{terminal.Auto, map[string]string{"NO_COLOR": "1"}, false, false, "none are wanted"},
		{terminal.Auto, map[string]string{"NO_COLOR": ""}, true, false, "an empty variable says nothing"},
		{terminal.Auto, map[string]string{"CLICOLOR": "0"}, false, false, "none are wanted"},
		{terminal.Auto, map[string]string{"CLICOLOR": "1"}, true, false, "a terminal"},
		{terminal.Auto, map[string]string{"CLICOLOR_FORCE": "1"}, true, true, "forced"},
		{terminal.Auto, map[string]string{"CLICOLOR_FORCE": "0"}, true, false, "not forced"},
		{terminal.Auto, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false, false, "NO_COLOR wins"},
		{terminal.Auto, map[string]string{"CLICOLOR_FORCE": "1", "CLICOLOR": "0"}, true, true, "forced"},
		{terminal.Always, map[string]string{"NO_COLOR": "1"}, true, true, "the flag wins"},
		{terminal.Never, map[string]string{"CLICOLOR_FORCE": "1"}, false, false, "the flag wins"},
	}
	for _, tt := range tests {
		getenv := func(name string) string { return tt.env[name] }
		require.Equal(t, tt.onTerminal, tt.mode.Decide(getenv, true), "%s %v: %s", tt.mode, tt.env, tt.description)
		require.Equal(t, tt.elsewhere, tt.mode.Decide(getenv, false), "%s %v: %s", tt.mode, tt.env, tt.description)
	}
}

// painter returns a writer with colours.
func painter(out *bytes.Buffer) *terminal.Writer {
	w := terminal.NewWriter(out)
	w.DecideColours(terminal.Always, func(string) string { return "" })
	return w
}

// A text that is painted cannot end its colour or do more, and a Writer passes on
// nothing but colours, however they are cut into writes.
func TestPaint(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := painter(&out)
	c := terminal.ColoursOf(w)
	require.EqualValues(t, "plain", terminal.Colours(false).Paint(terminal.Bad, "plain"))
	require.EqualValues(t, "plain", c.Paint("", "plain"))
	painted := c.Paint(terminal.Bad, "evil\x1b[0m\n\x1b[2J")
	require.EqualValues(t, "\x1b[31mevil\\u001b[0m\\n\\u001b[2J\x1b[0m", painted)
	text := fmt.Sprintf("%s \x1b[2J\x1b[38;5;1m\x1b[8mhidden", c.Paint(terminal.Good, "ok"))
	want := "\x1b[32mok\x1b[0m \\u001b[2J\\u001b[38;5;1m\\u001b[8mhidden"
	for cut := range text {
		out.Reset()
		for _, part := range []string{text[:cut], text[cut:]} {
			_, err := w.Write([]byte(part))
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
		require.Equal(t, want, out.String(), cut)
	}
	out.Reset()
	_, err := w.Write([]byte("cut \x1b[3"))
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	require.Equal(t, `cut \u001b[3`, out.String())
}
