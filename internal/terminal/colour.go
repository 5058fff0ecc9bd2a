package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// Style is how a text looks on a terminal with colours: the parameter of the
// control sequence that sets it.
type Style string

// The styles, by what they say of the text.
const (
	Good    Style = "32" // green
	Bad     Style = "31" // red
	Caution Style = "33" // yellow
	Active  Style = "36" // cyan
	Strong  Style = "1"  // bold
	Faint   Style = "2"
)

const (
	sequenceStart = "\x1b["
	sequenceEnd   = "m"
	plain         = sequenceStart + "0" + sequenceEnd
)

// sequences are the control sequences that a Writer with colours passes on. Text
// of others that has one changes its colour and no more.
var sequences = func() [][]byte {
	all := [][]byte{[]byte(plain)}
	for _, s := range []Style{Good, Bad, Caution, Active, Strong, Faint} {
		all = append(all, []byte(s.sequence()))
	}
	return all
}()

func (s Style) sequence() string { return sequenceStart + string(s) + sequenceEnd }

// sequenceAt is the control sequence that the text begins with, nil if none of ours.
func sequenceAt(text []byte) []byte {
	for _, s := range sequences {
		if bytes.HasPrefix(text, s) {
			return s
		}
	}
	return nil
}

// beginsSequence reports whether the text is the beginning of a control sequence.
func beginsSequence(text []byte) bool {
	return slices.ContainsFunc(sequences, func(s []byte) bool { return len(text) < len(s) && bytes.HasPrefix(s, text) })
}

// Colours tells whether what is written has colours.
type Colours bool

// ColoursOf tells whether a command's output has colours.
func ColoursOf(out io.Writer) Colours {
	w, ok := out.(*Writer)
	return Colours(ok && w.colours)
}

// Paint returns the text, quoted, in a style.
func (c Colours) Paint(s Style, text string) Lines {
	if text = Quote(text); !c || s == "" || text == "" {
		return Lines(text)
	}
	return Lines(s.sequence() + text + plain)
}

// ColourMode says when there are colours: it is the value of a flag.
type ColourMode string

// The modes. Auto shows colours on a terminal.
const (
	Auto   ColourMode = "auto"
	Always ColourMode = "always"
	Never  ColourMode = "never"
)

// ColourModes are the words for a mode.
func ColourModes() []string { return []string{string(Auto), string(Always), string(Never)} }

// Set implements pflag.Value.
func (m *ColourMode) Set(text string) error {
	if !slices.Contains(ColourModes(), text) {
		return fmt.Errorf("expected %s, %s or %s", Auto, Always, Never)
	}
	*m = ColourMode(text)
	return nil
}

// String implements pflag.Value.
func (m *ColourMode) String() string { return string(*m) }

// Type implements pflag.Value.
func (*ColourMode) Type() string { return "WHEN" }

// Decide tells whether there are colours on a terminal, or where there is none. The
// variables that are asked for are those of no-color.org and bixense.com/clicolors.
func (m *ColourMode) Decide(getenv func(string) string, isTerminal bool) bool {
	switch forced := getenv("CLICOLOR_FORCE"); {
	case *m == Always:
		return true
	case *m == Never, getenv("NO_COLOR") != "":
		return false
	case forced != "" && forced != "0":
		return true
	default:
		return isTerminal && getenv("CLICOLOR") != "0"
	}
}
