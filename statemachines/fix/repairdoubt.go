package fix

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// doubt says what only the user knows of statuses that no rule names, and that poll on: the job may never get a success
// that another kind of job has, and one that is not done may not have begun. It is empty for a corrected word.
func (e *statusEdit) doubt(row *lint.Row, f lint.Finding, wrong string) string {
	if wrong != "" || f.Rule != lint.StatusPollsOn || slices.ContainsFunc(e.loop.Choices, func(s *asl.State) bool {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		return rules != nil && slices.ContainsFunc(rules.Items, func(rule *jsontree.Node) bool { return comparesSome(rule, row.Values) })
	}) {
		return ""
	}
	switch {
	case row.Meaning == lint.MeansSuccess:
		return "only you know whether your job ends with " + row.Values[0]
	case slices.ContainsFunc(row.Values, lint.IsNotBegun):
		return "only you know whether the job may have this status before it begins"
	default:
		return ""
	}
}

// comparesSome tells whether a rule compares something with one of some texts.
func comparesSome(rule *jsontree.Node, texts []string) bool {
	if condition := rule.Get("Condition"); condition != nil {
		return slices.ContainsFunc(quotedWords().FindAllStringSubmatch(condition.Text, -1), func(found []string) bool { return slices.Contains(texts, found[1]) })
	}
	return slices.ContainsFunc(leaves(rule), func(leaf *jsontree.Node) bool {
		equals := leaf.Get("StringEquals")
		return equals != nil && slices.Contains(texts, equals.Text)
	})
}
