package kit

import (
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// The rules about a definition: that it is right, that nothing in it is suspicious, such as a
// variable that nothing assigns, and what AWS says of it.
const (
	DefinitionRule = "definition"
	SuspiciousRule = lint.Suspicious
	AWSRule        = "aws"
)

// FixedRules are those that are always checked, each with the reason.
func FixedRules() map[string]string {
	return map[string]string{DefinitionRule: "AWS rejects the definition, whatever lint says", AWSRule: "it is what AWS says, and only --aws asks"}
}

// ListedRule is a rule that can be left out, and what it is a rule of. Its JSON members are a
// contract: see docs/reference/json.md.
type ListedRule struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Of    string `json:"of"` // definition or waiter
}

// Rules are those that can be left out.
func Rules() []ListedRule {
	all := []ListedRule{{
		SuspiciousRule, "it deploys and then fails, such as a variable that nothing assigns or a Choice without Default", "definition",
	}}
	for _, r := range append(lint.Rules(), ignore.Rules()...) {
		all = append(all, ListedRule{r.Name, r.About, "definition"})
	}
	for _, r := range waiterlint.Rules() {
		all = append(all, ListedRule{r.Name, r.About, "waiter"})
	}
	return all
}

// RuleNames are the names of Rules.
func RuleNames() []string {
	all := Rules()
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.Name
	}
	return names
}

// Ignores reads what the comments of a definition ignore.
func Ignores(d *source.Definition) *ignore.Set {
	return ignore.Read(d, IgnoreOptions())
}

// IgnoreOptions are the rules that comments may name.
func IgnoreOptions() ignore.Options {
	return ignore.Options{Known: RuleNames(), Fixed: FixedRules()}
}
