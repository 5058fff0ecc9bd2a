package cli

import (
	"os"

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

// styleOf is the style of a verdict, a status or a severity; none for another word.
func styleOf(word string) terminal.Style { return styles[word] }

// addColor gives a command and those below it the flag --color, and lets their
// output have colours as it says.
func addColor(root *cobra.Command, outputs ...*terminal.Writer) {
	mode := terminal.Auto
	root.PersistentFlags().Var(&mode, "color", "colors: auto (on a terminal), always or never")
	completeWords(root, "color", terminal.ColourModes()...)
	root.PersistentPreRun = func(*cobra.Command, []string) {
		for _, w := range outputs {
			w.DecideColours(mode, os.Getenv)
		}
	}
}
