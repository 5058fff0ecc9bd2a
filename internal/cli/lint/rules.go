package lint

import (
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

// tableOfRules lists the rules for people.
func tableOfRules() string {
	var b strings.Builder
	of, width := "", 0
	for _, name := range kit.RuleNames() {
		width = max(width, len(name))
	}
	for _, r := range kit.Rules() {
		if r.Of != of {
			of = r.Of
			terminal.Fprintf(&b, "Of a %s:\n", of)
		}
		terminal.Fprintf(&b, "  %-*s  %s\n", width, r.Name, r.About)
	}
	return b.String()
}

func printRules(out io.Writer, format string) error {
	if format == "json" {
		return kit.WriteJSON(out, kit.Rules())
	}
	_, err := io.WriteString(out, tableOfRules())
	return err
}
