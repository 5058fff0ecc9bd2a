package lint

import (
	"io"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// The rules about a definition: that it is right, and that nothing in it is
// suspicious, such as a variable that nothing assigns.
const (
	definitionRule = "definition"
	suspiciousRule = "suspicious"
)

// rules are those that can be left out.
func rules() []lint.Rule {
	suspicious := lint.Rule{
		Name:  suspiciousRule,
		About: "it deploys and then fails, such as a variable that nothing assigns or a Choice without Default",
	}
	return append([]lint.Rule{suspicious}, lint.Rules()...)
}

// listedRule is a rule and what it is a rule of. Its JSON members are a
// contract: see docs/reference/json.md.
type listedRule struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Of    string `json:"of"` // definition or waiter
}

func allRules() []listedRule {
	var all []listedRule
	for _, r := range rules() {
		all = append(all, listedRule{r.Name, r.About, "definition"})
	}
	for _, r := range waiterlint.Rules() {
		all = append(all, listedRule{r.Name, r.About, "waiter"})
	}
	return all
}

func ruleNames() []string {
	var names []string
	for _, r := range allRules() {
		names = append(names, r.Name)
	}
	return names
}

// tableOfRules lists the rules for people.
func tableOfRules() string {
	var b strings.Builder
	of, width := "", 0
	for _, name := range ruleNames() {
		width = max(width, len(name))
	}
	for _, r := range allRules() {
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
		return kit.WriteJSON(out, allRules())
	}
	_, err := io.WriteString(out, tableOfRules())
	return err
}
