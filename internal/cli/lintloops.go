package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// pollLoop is a poll loop of a file. Its JSON members are a contract: see
// docs/reference/json.md.
type pollLoop struct {
	File        string   `json:"file"`
	States      []string `json:"states"`
	WaitSeconds float64  `json:"waitSeconds"`
	Events      int      `json:"events"`
	Transitions int      `json:"transitions"`
	Turns       int      `json:"turnsInHistory"`
	LastSeconds float64  `json:"secondsInHistory"`
	USDPerDay   float64  `json:"costUSDPerDay"`
}

// printLoops lists the poll loops of the files.
func printLoops(c *cobra.Command, files []string, o lintOptions) error {
	found := []pollLoop{}
	for _, name := range files {
		machine, err := readMachine(name, c.InOrStdin(), o.substitutes)
		if err != nil {
			return err
		}
		for _, t := range lint.PollLoops(machine) {
			found = append(found, pollLoop{
				File: name, States: t.States, WaitSeconds: t.Wait.Seconds(), Events: t.Events, Transitions: t.Transitions,
				Turns: t.Turns(), LastSeconds: t.Lasts().Seconds(), USDPerDay: math.Round(t.DollarsPerDay()*1e4) / 1e4,
			})
		}
	}
	if o.output == "json" {
		return writeJSON(c.OutOrStdout(), found)
	}
	for _, l := range found {
		lasts := "its delay is not in the definition"
		if l.WaitSeconds > 0 {
			lasts = fmt.Sprintf("a turn every %gs: the history lasts %.1f hours, a day costs $%.2f", l.WaitSeconds, l.LastSeconds/3600, l.USDPerDay)
		}
		terminal.Fprintf(c.OutOrStdout(), "%s: %s: %d events and %d transitions a turn, %d turns; %s\n",
			l.File, strings.Join(l.States, " > "), l.Events, l.Transitions, l.Turns, lasts)
	}
	return nil
}
