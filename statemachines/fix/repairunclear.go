package fix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// tellUnclear are the edits that look at the member that says how a job ended whose status
// alone does not: a failure goes where failures of the loop go, or to a new Fail.
func (c *checked) tellUnclear(f lint.Finding, l *lint.Loop, o RepairOptions) []candidate {
	row := rowOf(l, f)
	if row == nil || row.Member == "" || len(row.Values) != 1 || len(l.Waits) == 0 {
		return nil
	}
	polls, running := lint.Polled(c.loops)
	responses, _, err := simulate.Responses(c.machine, simulate.Options{Models: o.Models, Polls: polls, Running: running})
	if err != nil || responses[l.Poll.Name] == nil {
		return nil
	}
	e := &unclearEdit{checked: c, loop: l, status: row.Values[0], first: javasdk.MemberPath(l.Status), second: javasdk.MemberPath(row.Member)}
	base := candidate{about: fmt.Sprintf("status %s with %s", e.status, row.Member), class: Sure, mended: failsByItself}
	if base.frame = e.readAnswers(responses[l.Poll.Name]); base.frame == nil {
		return nil
	}
	base.about += " " + strings.Join(e.failures, ", ")
	var all []candidate
	for _, edits := range e.edits() {
		base.edits = edits
		all = append(all, base)
	}
	return all
}

// unclearEdit makes edits by which a Choice looks at a second member.
type unclearEdit struct {
	*checked

	loop              *lint.Loop
	status            string
	first, second     string   // paths of the status and of what tells more
	success, failures []string // what the second says
	unguarded         bool     // a rule fails where there is no second
}

// readAnswers reads what the second member says of a success and of a failure, and returns
// the answers that the repair is about: those, and what nobody knows.
func (e *unclearEdit) readAnswers(r *simulate.Response) []trial.Kind {
	at := func(path string) int {
		return slices.IndexFunc(r.Members, func(m simulate.Member) bool { return m.String() == path })
	}
	first, second := at(e.first), at(e.second)
	if first < 0 || second < 0 {
		return nil
	}
	var frame []trial.Kind
	var succeeded any
	for _, s := range r.Statuses {
		status, _ := r.Members[first].Of(s.Answer)
		how, there := r.Members[second].Of(s.Answer)
		if status != e.status || !there {
			continue
		}
		switch s.Verdict {
		case pollcore.Success:
			e.success, succeeded = append(e.success, how), s.Answer
		case pollcore.Failure:
			e.failures = append(e.failures, how)
			frame = append(frame, trial.Kind{Task: e.loop.Poll.Name, Sort: trial.Status, Value: s.Name})
		case pollcore.Retry:
		}
	}
	if len(e.success) != 1 || e.failures == nil {
		return nil
	}
	for _, how := range slices.Concat(e.failures, []string{trial.UnknownValue}) {
		answer := r.Describe(r.Members[second].Put(succeeded, how))
		frame = append(frame, trial.Kind{Task: e.loop.Poll.Name, Sort: trial.Status, Value: answer})
	}
	return frame
}

// edits are a rule that leads where failures go, and one that leads to a new Fail.
func (e *unclearEdit) edits() [][]edit.Edit {
	var all [][]edit.Edit
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		at, operand := e.place(s, rules)
		if operand == "" {
			continue
		}
		place := edit.Edit{Op: edit.Before, At: s.Position.Pointer + "/Choices/" + strconv.Itoa(at)}
		if at == len(rules.Items) {
			place = edit.Edit{Op: edit.Append, At: s.Position.Pointer + "/Choices"}
		}
		targets := append(e.secondRoutes(rules, operand), failureRoutes(e.loop)...)
		for i, target := range targets {
			if slices.Contains(targets[:i], target) {
				continue
			}
			place.Value = e.rule(s.QueryLanguage, operand, target)
			all = append(all, []edit.Edit{place})
		}
		name := e.newName(e.loop.Poll.Name + " failed")
		place.Value = e.rule(s.QueryLanguage, operand, name)
		fail := edit.Edit{Op: edit.Before, At: e.loop.Waits[0].Position.Pointer, Name: name, Value: e.newFail(e.loop, s.QueryLanguage, e.other(operand))}
		all = append(all, []edit.Edit{place, fail})
	}
	return all
}

// secondRoutes are where rules lead that take another value of the second member, and that
// the loop fails by.
func (e *unclearEdit) secondRoutes(rules *jsontree.Node, operand string) []string {
	var all []string
	for _, rule := range rules.Items {
		for _, leaf := range leaves(rule) {
			next := rule.Get("Next")
			if leaf.Get("Variable").Text == e.other(operand) && leaf.Get("StringEquals") != nil && next != nil && failsAlone(e.loop.Flow, next.Text) {
				all = append(all, next.Text)
			}
		}
	}
	return all
}

// operandOf is what an expression may compare.
var operandOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(plainOperand) })

// place is where the rule goes, and how the Choice reads the status: in front of the rule
// that takes the status, or behind all.
func (e *unclearEdit) place(s *asl.State, rules *jsontree.Node) (at int, operand string) {
	at = len(rules.Items)
	for i, rule := range slices.Backward(rules.Items) {
		if s.QueryLanguage == asl.JSONata {
			condition := rule.Get("Condition")
			if condition == nil {
				continue
			}
			for _, m := range operandOf().FindAllStringSubmatch(condition.Text, -1) {
				if e.other(m[1]) == "" {
					continue
				}
				operand = m[1]
				if strings.Contains(condition.Text, "'"+e.status+"'") {
					at = i
				}
			}
			continue
		}
		for _, leaf := range leaves(rule) {
			if e.other(leaf.Get("Variable").Text) == "" {
				continue
			}
			operand = leaf.Get("Variable").Text
			if equals := leaf.Get("StringEquals"); equals != nil && equals.Text == e.status {
				at = i
			}
		}
	}
	return at, operand
}

// leaves are the comparisons of a rule in JSONPath.
func leaves(rule *jsontree.Node) []*jsontree.Node {
	if rule.Get("Variable") != nil {
		return []*jsontree.Node{rule}
	}
	var all []*jsontree.Node
	for _, m := range rule.Members {
		switch m.Name {
		case "And", "Or":
			for _, item := range m.Value.Items {
				all = append(all, leaves(item)...)
			}
		case "Not":
			all = append(all, leaves(m.Value)...)
		}
	}
	return all
}

// other is how the second member is read where the status is read by the operand; empty if
// that reads something else.
func (e *unclearEdit) other(operand string) string {
	first, second := strings.Split(e.first, "."), strings.Split(e.second, ".")
	n := 0
	for n < len(first)-1 && n < len(second)-1 && first[n] == second[n] {
		n++
	}
	before, ok := strings.CutSuffix(operand, "."+strings.Join(first[n:], "."))
	if !ok {
		return ""
	}
	return before + "." + strings.Join(second[n:], ".")
}

// rule takes the status with a second member that is there and says no success. In JSONata a
// member that is not there is no failure.
func (e *unclearEdit) rule(language asl.QueryLanguage, operand, next string) []byte {
	other := e.other(operand)
	if language == asl.JSONata {
		condition := fmt.Sprintf("{%% %s = '%s' and %s in ['%s'] %%}", operand, e.status, other, strings.Join(e.failures, "', '"))
		return value("Condition", condition, "Next", next)
	}
	var how []byte
	switch {
	case e.success != nil:
		how = value("Not", value("Variable", other, "StringEquals", e.success[0]))
	case len(e.failures) == 1:
		how = value("Variable", other, "StringEquals", e.failures[0])
	default:
		var words [][]byte
		for _, word := range e.failures {
			words = append(words, value("Variable", other, "StringEquals", word))
		}
		how = value("Or", json.RawMessage("["+string(bytes.Join(words, []byte(", ")))+"]"))
	}
	all := bytes.Join([][]byte{
		value("Variable", operand, "StringEquals", e.status),
		value("Variable", other, "IsPresent", true),
		how,
	}, []byte(", "))
	return value("And", json.RawMessage("["+string(all)+"]"), "Next", next)
}
