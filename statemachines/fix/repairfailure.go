package fix

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// leadToFail are the edits that lead the values to a Fail state of their own; nil if no rule
// shows how to compare them.
func (e *statusEdit) leadToFail() []edit.Edit {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil || len(e.loop.Waits) == 0 {
			continue
		}
		for i, rule := range rules.Items {
			name := e.newName(e.loop.Poll.Name + " failed")
			operand, added := e.rulesFor(s.QueryLanguage, rule, name)
			if added == nil {
				continue
			}
			var edits []edit.Edit
			for _, one := range added {
				edits = append(edits, edit.Edit{Op: edit.Before, At: fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, i), Value: one})
			}
			fail := e.newFail(e.loop, s.QueryLanguage, operand)
			return append(edits, edit.Edit{Op: edit.Before, At: e.loop.Waits[0].Position.Pointer, Name: name, Value: fail})
		}
	}
	return nil
}

// isMisspelt tells whether a rule names one of the values by a wrong word: once that is right, the rule shows where failures go.
func (e *statusEdit) isMisspelt() bool {
	return slices.ContainsFunc(e.findings, func(f lint.Finding) bool {
		return f.Rule == typecheck.EnumValue && slices.Contains(e.values, f.Suggestion)
	})
}

// rulesFor are rules that take the values as another one takes a status, and how that one
// reads it; nil if it takes none.
func (e *statusEdit) rulesFor(language asl.QueryLanguage, rule *jsontree.Node, next string) (operand string, rules []json.RawMessage) {
	if language == asl.JSONPath {
		variable := rule.Get("Variable")
		if variable == nil || rule.Get("StringEquals") == nil {
			return "", nil
		}
		for _, v := range e.values {
			rules = append(rules, value("Variable", variable.Text, "StringEquals", v, "Next", next))
		}
		return variable.Text, rules
	}
	condition := rule.Get("Condition")
	if condition == nil || condition.Kind != jsontree.String {
		return "", nil
	}
	for _, m := range comparedOperand().FindAllStringSubmatch(condition.Text, -1) {
		if !slices.ContainsFunc(e.loop.Rows, func(r lint.Row) bool { return !r.Compared && slices.Contains(r.Values, m[3]) }) {
			continue
		}
		return m[1], []json.RawMessage{value("Condition", "{% "+conditionFor(m[1], m[2], e.values)+" %}", "Next", next)}
	}
	return "", nil
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
	return cmp.Or(asl.ParseResource(l.Poll.Task.Resource).ErrorPrefix(), strings.ToUpper(service[:1])+service[1:]) + "." + name + how
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
