package fix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// isOfSecond tells whether a finding is about values of a second member.
func isOfSecond(l *lint.Loop, f lint.Finding) bool {
	row := rowOf(l, f)
	return row != nil && row.Seconds != nil
}

// tellSecond are the edits for values of a second member that lead the wrong way: of a
// failure that polls on, a rule of its own; of a job that runs, a look at the status first.
func (c *checked) tellSecond(row *lint.Row, l *lint.Loop) []candidate {
	e := &unclearEdit{
		checked: c, loop: l, status: row.Values[0], first: javasdk.MemberPath(l.Status), second: javasdk.MemberPath(row.Member), failures: row.Seconds,
	}
	base := candidate{about: fmt.Sprintf("status %s with %s %s", strings.Join(row.Values, ", "), row.Member, strings.Join(row.Seconds, ", ")), class: Sure}
	for _, how := range row.Seconds {
		base.frame = append(base.frame, trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: e.second + " " + how})
		if !isGoing(row.Meaning) { // the catalogue calls the end so
			base.frame = append(base.frame, trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: how})
		}
	}
	var forms [][]edit.Edit
	switch {
	case isGoing(row.Meaning):
		base.mended, base.goesOn = goesOn, true
		i := slices.IndexFunc(l.Rows, func(r lint.Row) bool { return r.Meaning == lint.MeansUnclear })
		if i < 0 {
			return nil
		}
		e.status = l.Rows[i].Values[0]
		forms = e.lookFirst()
		if e.unguarded {
			base.frame = append(base.frame,
				trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: e.second + " absent"}, trial.Kind{Task: l.Poll.Name, Sort: trial.Bare})
			base.also = "without the member, such a status polls on, too"
		}
	case (row.Rule == lint.StatusPollsOn || row.Rule == lint.StatusUnclear) && row.SecondsMean == lint.MeansFailure && len(l.Waits) > 0:
		base.mended = failsByItself
		forms = append(e.besideLike(), e.edits()...)
	}
	var all []candidate
	for _, edits := range forms {
		base.edits = edits
		all = append(all, base)
	}
	return all
}

// besideLike lets rules take the values as they take other values of the second member.
func (e *unclearEdit) besideLike() [][]edit.Edit {
	like := &statusEdit{checked: e.checked, loop: e.loop, values: e.failures}
	var tried []string
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for _, rule := range rules.Items {
			for _, word := range e.secondWords(s.QueryLanguage, rule) {
				if !slices.Contains(tried, word) && !slices.Contains(e.failures, word) {
					tried = append(tried, word)
					like.copyRules(word)
				}
			}
		}
	}
	var all [][]edit.Edit
	for _, change := range like.all {
		all = append(all, change.edits)
	}
	return all
}

// secondWords are the texts that a rule compares the second member with.
func (e *unclearEdit) secondWords(language asl.QueryLanguage, rule *jsontree.Node) []string {
	isSecond := func(operand string) bool { return strings.HasSuffix(operand, "."+e.second) }
	var all []string
	if language == asl.JSONata {
		condition := rule.Get("Condition")
		if condition != nil && slices.ContainsFunc(operandsOf(rule), isSecond) {
			for _, m := range quotedWords().FindAllStringSubmatch(condition.Text, -1) {
				all = append(all, m[1])
			}
		}
		return all
	}
	for _, leaf := range leaves(rule) {
		if equals := leaf.Get("StringEquals"); equals != nil && isSecond(leaf.Get("Variable").Text) {
			all = append(all, equals.Text)
		}
	}
	return all
}

// lookFirst lets rules that look at the second member alone look at the status, too.
func (e *unclearEdit) lookFirst() [][]edit.Edit {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		_, operand := e.place(s, rules)
		var edits []edit.Edit
		for i, rule := range rules.Items {
			if operand == "" || !e.readsSecondAlone(s.QueryLanguage, rule, operand) {
				continue
			}
			e.unguarded = e.unguarded || s.QueryLanguage == asl.JSONPath && !bytes.Contains(rule.Raw(), []byte("IsPresent"))
			at := s.Position.Pointer + "/Choices/" + strconv.Itoa(i)
			if rule.Get("And") != nil {
				edits = append(edits, edit.Edit{Op: edit.Before, At: at + "/And/0", Value: value("Variable", operand, "StringEquals", e.status)})
			} else {
				edits = append(edits, edit.Edit{Op: edit.Replace, At: at, Value: e.guard(s.QueryLanguage, rule, operand)})
			}
		}
		if edits != nil {
			return [][]edit.Edit{edits}
		}
	}
	return nil
}

// readsSecondAlone tells whether a rule that leaves the loop compares nothing but the second
// member with one of its values that lead the wrong way.
func (e *unclearEdit) readsSecondAlone(language asl.QueryLanguage, rule *jsontree.Node, operand string) bool {
	if language == asl.JSONata {
		condition := rule.Get("Condition")
		if condition == nil {
			return false
		}
		read := slices.DeleteFunc(operandOf().FindAllString(quotedWords().ReplaceAllString(condition.Text, ""), -1), func(word string) bool {
			return !strings.HasPrefix(word, "$")
		})
		if !slices.Equal(slices.Compact(read), []string{e.other(operand)}) {
			return false
		}
		return slices.ContainsFunc(quotedWords().FindAllStringSubmatch(condition.Text, -1), func(m []string) bool {
			return slices.Contains(e.failures, m[1])
		})
	}
	found := false
	for _, leaf := range leaves(rule) {
		if leaf.Get("Variable").Text != e.other(operand) {
			return false
		}
		equals := leaf.Get("StringEquals")
		found = found || equals != nil && slices.Contains(e.failures, equals.Text)
	}
	return found
}

// guard is a rule that applies only with the status.
func (e *unclearEdit) guard(language asl.QueryLanguage, rule *jsontree.Node, operand string) []byte {
	var test, others []any
	for _, m := range rule.Members {
		switch m.Name {
		case "Condition":
			inner := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(m.Value.Text, "{%"), "%}"))
			others = append(others, m.Name, fmt.Sprintf("{%% %s = '%s' and (%s) %%}", operand, e.status, inner))
		case "Next", "Assign", "Output", "Comment":
			others = append(others, m.Name, m.Value.Raw())
		default:
			test = append(test, m.Name, m.Value.Raw())
		}
	}
	if language == asl.JSONata {
		return value(others...)
	}
	status := value("Variable", operand, "StringEquals", e.status)
	all := bytes.Join([][]byte{status, value(test...)}, []byte(", "))
	return value(append([]any{"And", json.RawMessage("[" + string(all) + "]")}, others...)...)
}
