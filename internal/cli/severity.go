package cli

import (
	"fmt"
	"slices"
	"strings"

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

// atLeast returns the findings that are as severe as that, or more.
func atLeast(found []finding, least diag.Severity) []finding {
	return slices.DeleteFunc(found, func(f finding) bool { return f.problem.Severity > least })
}

// summarize says in a line how many findings there are.
func summarize(found []finding, files int) string {
	var counts [diag.Note + 1]int
	for _, f := range found {
		counts[f.problem.Severity]++
	}
	var parts []string
	for severity, n := range counts {
		if n > 0 {
			parts = append(parts, plural(n, severityNames()[severity]))
		}
	}
	text := fmt.Sprintf("%s in %s", plural(len(found), "finding"), plural(files, "file"))
	if len(parts) > 1 {
		text += ": " + strings.Join(parts, ", ")
	} else if len(parts) == 1 {
		text = fmt.Sprintf("%s in %s", parts[0], plural(files, "file"))
	}
	return text
}
