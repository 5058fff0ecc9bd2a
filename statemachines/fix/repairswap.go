package fix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// swapRules puts a rule that never applies in front of those before it that take what the rule is for, past as few as it
// needs: one of them may itself never apply. Lint still finds one of two where both are for the same: then no edit says which
// one is meant.
func (c *checked) swapRules(f lint.Finding, l *lint.Loop) []candidate {
	s := c.stateAt(f)
	at := 0
	if n, err := fmt.Sscanf(strings.TrimPrefix(f.Pointer, s.Position.Pointer), "/Choices/%d", &at); n != 1 || err != nil || at == 0 ||
		f.Pointer != fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, at) {
		return nil
	}
	rules := nodeAt(c.root, s.Position.Pointer).Get("Choices").Items
	words := wordsIn(rules[at])
	if len(words) == 0 {
		return nil
	}
	one := candidate{
		class: Offered, about: "status " + words[0], frame: kindsOf(l, words...), mended: isEnded,
		also: fmt.Sprintf("only you know which of the two rules of %q is right", s.Name),
	}
	if len(words) > 1 {
		one.about = "statuses " + strings.Join(words, ", ")
	}
	if !slices.ContainsFunc(words, func(word string) bool {
		return !c.means(trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: word}, lint.MeansFailure)
	}) {
		one.class, one.mended, one.also = Sure, failsByItself, ""
	}
	var all []candidate
	for _, to := range slices.Backward(rules[:at]) {
		moved := one
		moved.edits = []edit.Edit{{Op: edit.Move, At: rules[at].Pointer(), To: to.Pointer()}}
		all = append(all, moved)
	}
	return all
}
