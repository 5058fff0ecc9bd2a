package fix

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// leadToFail leads the values to a Fail state of their own: by the rules that are for them alone, or by new ones
// in front of a rule that shows how to compare them.
func (e *statusEdit) leadToFail() {
	if len(e.loop.Waits) == 0 || e.isMisspelt() {
		return
	}
	name := e.newName(e.loop.Poll.Name + " failed")
	add := func(language asl.QueryLanguage, operand string, edits []edit.Edit) {
		fail := e.newFail(e.loop, language, operand)
		e.add(append(edits, edit.Edit{Op: edit.Before, At: e.loop.Waits[0].Position.Pointer, Name: name, Value: fail})...)
	}
	if edits, s, operand := e.retargetAll(name); edits != nil {
		add(s.QueryLanguage, operand, edits)
	}
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for i, rule := range rules.Items {
			if operand := e.statusIn(s.QueryLanguage, rule); operand != "" {
				add(s.QueryLanguage, operand, e.rulesBefore(s, i, operand, name))
				return
			}
		}
	}
	for _, s := range e.loop.Choices { // no rule names a status: by a pattern, it may be
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for _, operand := range statusOperands(rules) {
			add(s.QueryLanguage, operand, e.rulesBefore(s, firstReader(rules, operand), operand, name))
		}
	}
}

// retargetAll leads the rules that are for some of the values alone to a state, and the other values by rules in front of
// the first of them. It says in which Choice that is, and what that compares; it has no edits if there is no such rule.
func (e *statusEdit) retargetAll(next string) (edits []edit.Edit, s *asl.State, operand string) {
	var named []string
	at := 0
	for _, choice := range e.loop.Choices {
		rules := nodeAt(e.root, choice.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for i, rule := range rules.Items {
			words := wordsIn(rule)
			if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(e.values, word) }) {
				continue
			}
			to := rule.Get("Next")
			read := operandsOf(rule)
			if to == nil || len(read) != 1 {
				return nil, nil, "" // nothing shows how to compare them
			}
			if s == nil {
				s, at, operand = choice, i, read[0]
			}
			named = append(named, words...)
			if to.Text != next {
				edits = append(edits, edit.Edit{Op: edit.Replace, At: to.Pointer(), Value: jsontree.Quote(next)})
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(e.values), func(v string) bool { return slices.Contains(named, v) })
	if edits == nil || len(others) == 0 {
		return edits, s, operand
	}
	added := (&statusEdit{checked: e.checked, loop: e.loop, values: others}).rulesBefore(s, at, operand, next)
	return append(added, edits...), s, operand
}

// isMisspelt tells whether a rule names one of the values by a wrong word: once that is right, the rule shows where failures go.
func (e *statusEdit) isMisspelt() bool {
	return slices.ContainsFunc(e.findings, func(f lint.Finding) bool {
		return f.Rule == typecheck.EnumValue && slices.Contains(e.values, f.Suggestion)
	})
}

// statusIn is what a rule compares with a status; empty if it compares none.
func (e *statusEdit) statusIn(language asl.QueryLanguage, rule *jsontree.Node) string {
	if language == asl.JSONPath {
		if variable := rule.Get("Variable"); variable != nil && rule.Get("StringEquals") != nil {
			return variable.Text
		}
		return ""
	}
	condition := rule.Get("Condition")
	if condition == nil || condition.Kind != jsontree.String {
		return ""
	}
	for _, m := range comparedOperand().FindAllStringSubmatch(condition.Text, -1) {
		if slices.ContainsFunc(e.loop.Rows, func(r lint.Row) bool { return !r.Compared && slices.Contains(r.Values, m[3]) }) {
			return m[1]
		}
	}
	return ""
}

// comparedOperand is what is compared with a text, or with the first of a list.
var comparedOperand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(plainOperand + `\s*(?:=|\bin\b)\s*\[?\s*(['"])([^'"]*)['"]`)
})

// conditionFor holds if an operand is one of the values.
func conditionFor(operand, quote string, values []string) string {
	if len(values) == 1 {
		return operand + " = " + quote + values[0] + quote
	}
	return operand + " in [" + quote + strings.Join(values, quote+", "+quote) + quote + "]"
}

// newName is a name that no state of the machine has.
func (c *checked) newName(name string) string {
	free := name
	for n := 2; stateOf(c.machine, free) != nil; n++ {
		free = name + " " + strconv.Itoa(n)
	}
	return free
}

// errorName is the error of a new Fail state: "Athena.QueryExecutionFailed".
func errorName(l *lint.Loop, how string) string {
	service, name, _ := strings.Cut(l.Operation, ":")
	for _, verb := range []string{"Get", "Describe", "List", "BatchGet"} {
		if rest, ok := strings.CutPrefix(name, verb); ok && rest != "" {
			name = rest
			break
		}
	}
	r := asl.ParseResource(l.Poll.Task.Resource)
	own, _, _ := strings.Cut(r.ThrottleName(), ".") // "StepFunctions" of "states": errors of that prefix are the engine's
	return cmp.Or(r.ErrorPrefix(), own, strings.ToUpper(service[:1])+service[1:]) + "." + name + how
}

// newFail is a Fail state that says what a member of the answer said.
func (c *checked) newFail(l *lint.Loop, language asl.QueryLanguage, operand string) []byte {
	name := errorName(l, "Failed")
	if language == asl.JSONata {
		members := []any{"Type", "Fail", "Error", name, "Cause", "{% 'the job ended ' & " + operand + " %}"}
		if c.machine.QueryLanguage != asl.JSONata {
			members = slices.Insert(members, 2, any("QueryLanguage"), any(string(asl.JSONata)))
		}
		return value(members...)
	}
	return value("Type", "Fail", "Error", name, "CausePath", "States.Format('the job ended {}', "+operand+")")
}
