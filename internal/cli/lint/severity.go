package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// severities are the values of --severity.
var severities = map[string]diag.Severity{
	"error": diag.Error, "danger": diag.Danger, "warning": diag.Warning, "note": diag.Note,
}

// severityNames are those values, the worst first.
func severityNames() []string {
	names := make([]string, len(severities))
	for name, severity := range severities {
		names[severity] = name
	}
	return names
}

// atLeast returns the findings that are as severe as that, or more, and those of definitions
// that nobody has checked, which may have any.
func atLeast(found []Finding, least diag.Severity) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Problem.Severity > least && !f.unchecked })
}

// tellIgnored says how many findings comments ignore.
func tellIgnored(ignored []Finding) string {
	if len(ignored) == 0 {
		return ""
	}
	return fmt.Sprintf("; comments ignore %d", len(ignored))
}

// summarize says in a line how many findings there are, and in how many things.
func summarize(found []Finding, files int, thing string) string {
	var counts [diag.Note + 1]int
	for _, f := range found {
		counts[f.Problem.Severity]++
	}
	var parts []string
	for severity, n := range counts {
		if n > 0 {
			parts = append(parts, kit.Plural(n, severityNames()[severity]))
		}
	}
	text := fmt.Sprintf("%s in %s", kit.Plural(len(found), "finding"), kit.Plural(files, thing))
	if len(parts) > 1 {
		text += ": " + strings.Join(parts, ", ")
	} else if len(parts) == 1 {
		text = fmt.Sprintf("%s in %s", parts[0], kit.Plural(files, thing))
	}
	return text
}
