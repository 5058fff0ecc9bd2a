package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// docs/reference/lint.md has a section for each rule: a definition in which the rule finds
// something, and all that lint finds there. It finds nothing in the one at the top of the
// page. -update writes what it finds.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	const file = "../../docs/reference/lint.md"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	parts := strings.Split(string(page), "\n## ")
	require.Empty(t, findIn(t, parts[0]))
	var sections []string
	for i, part := range parts[1:] {
		name, _, _ := strings.Cut(part, "\n")
		sections = append(sections, name)
		found := findIn(t, part)
		require.Contains(t, found, " "+name+": ", "lint finds no %s in the example", name)
		before, rest, ok := strings.Cut(part, "```text\n")
		require.True(t, ok, "%s: what lint finds is a block of text", name)
		_, after, _ := strings.Cut(rest, "```")
		parts[i+1] = before + "```text\n" + found + "```" + after
	}
	requireFile(t, file, strings.Join(parts, "\n## "))
	rules := []string{"suspicious"}
	for _, r := range lint.Rules() {
		rules = append(rules, r.Name)
	}
	require.Equal(t, rules, sections)
}

// findIn is what lint finds in the definition of a section, a line each.
func findIn(t *testing.T, section string) string {
	t.Helper()
	_, block, found := strings.Cut(section, "```json\n")
	require.True(t, found, section)
	block, _, _ = strings.Cut(block, "```")
	machine, err := asl.Parse([]byte(block))
	require.NoError(t, err, section)
	types, err := typecheck.New(machine, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	var b strings.Builder
	for _, p := range asl.Validate([]byte(block), asl.Standard) {
		require.Equal(t, diag.Warning, p.Severity, p.Message)
		line := p.Line
		p.Line, p.Severity = 0, 0
		fmt.Fprintf(&b, "%d:%d: warning suspicious: %s\n", line, p.Column, p.String())
	}
	return b.String() + listFindings(machine, lint.Options{Types: types})
}
