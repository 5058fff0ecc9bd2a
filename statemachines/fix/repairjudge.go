package fix

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// leadToJudge leads the values to another Choice to which this one leads: that may tell how the
// job ended.
func (e *statusEdit) leadToJudge() {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for _, next := range e.judgesBehind(s) {
			for i, rule := range rules.Items {
				for _, operand := range operandsOf(rule) {
					e.add(e.rulesBefore(s, i, operand, next)...)
				}
			}
		}
	}
}

// judgesBehind are the other Choice states that a Choice leads to.
func (e *statusEdit) judgesBehind(s *asl.State) []string {
	var names []string
	for _, way := range s.Transitions() {
		if to := stateOf(e.machine, way.To); to != nil && to.Choice != nil && to != s && !slices.Contains(names, way.To) {
			names = append(names, way.To)
		}
	}
	return names
}

// rulesBefore put rules that lead an operand with one of the values to a state in front of a rule.
func (e *statusEdit) rulesBefore(s *asl.State, i int, operand, next string) []edit.Edit {
	at := fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, i)
	if s.QueryLanguage == asl.JSONata {
		return []edit.Edit{{Op: edit.Before, At: at, Value: value("Condition", "{% "+conditionFor(operand, "'", e.values)+" %}", "Next", next)}}
	}
	var edits []edit.Edit
	for _, v := range e.values {
		edits = append(edits, edit.Edit{Op: edit.Before, At: at, Value: value("Variable", operand, "StringEquals", v, "Next", next)})
	}
	return edits
}

// comparedWith is what is compared, with whatever.
var comparedWith = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\$[\w.$]+(?:\[\d+\][\w.]*)*)\s*(?:!?=|\bin\b)`) })

// operandsOf are what a rule compares with texts.
func operandsOf(rule *jsontree.Node) []string {
	var all []string
	add := func(operand string) {
		if !slices.Contains(all, operand) {
			all = append(all, operand)
		}
	}
	if condition := rule.Get("Condition"); condition != nil {
		for _, m := range comparedWith().FindAllStringSubmatch(condition.Text, -1) {
			add(m[1])
		}
		return all
	}
	for _, leaf := range leaves(rule) {
		if variable := leaf.Get("Variable"); variable != nil && (leaf.Get("StringEquals") != nil || leaf.Get("StringMatches") != nil) {
			add(variable.Text)
		}
	}
	return all
}
