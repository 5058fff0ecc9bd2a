package kit

import (
	"os"
	"regexp"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// styles are how the words look that say how something stands or ended.
var styles = map[string]terminal.Style{
	"SUCCEEDED": terminal.Good, "success": terminal.Good,
	"FAILED": terminal.Bad, "ERROR": terminal.Bad, "DANGER": terminal.Bad, "failure": terminal.Bad,
	"TIMED_OUT": terminal.Caution, "ABORTED": terminal.Caution, "INTERRUPTED": terminal.Caution, "WARNING": terminal.Caution,
	"RUNNING": terminal.Active, "retry": terminal.Active,
	"NOTE": terminal.Faint,
}

// StyleOf is the style of a verdict, a status or a severity; none for another word.
func StyleOf(word string) terminal.Style { return styles[word] }

// verdictWords are the words of styles that stand in tables and reports.
var verdictWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(SUCCEEDED|FAILED|TIMED_OUT|ABORTED|RUNNING|ERROR|DANGER|WARNING|NOTE)\b`)
})

// PaintVerdicts is a text of several lines, which the program has quoted, with its
// verdicts in their colours.
func PaintVerdicts(c terminal.Colours, text string) terminal.Lines {
	if c {
		text = verdictWords().ReplaceAllStringFunc(text, func(word string) string { return string(c.Paint(StyleOf(word), word)) })
	}
	return terminal.Lines(text)
}

// addColor gives a command and those below it the flag --color, and lets their
// output have colours as it says.
func addColor(root *cobra.Command, outputs ...*terminal.Writer) {
	mode := terminal.Auto
	root.PersistentFlags().Var(&mode, "color", "colors: auto (on a terminal), always or never")
	CompleteWords(root, "color", terminal.ColourModes()...)
	root.PersistentPreRun = func(*cobra.Command, []string) {
		for _, w := range outputs {
			w.DecideColours(mode, os.Getenv)
		}
	}
}
