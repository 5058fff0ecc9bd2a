package kit

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// StrategyNames are the names of strategies.
func StrategyNames(all []compile.Strategy) []string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return names
}

// StrategyHelp says what each strategy does, a line for each.
func StrategyHelp(all []compile.Strategy) string {
	var b strings.Builder
	for _, s := range all {
		terminal.Fprintf(&b, "  %-12s  %s\n", string(s), s.Summary())
	}
	return b.String()
}
