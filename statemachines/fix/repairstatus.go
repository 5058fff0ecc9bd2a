package fix

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// nameStatuses are the edits that let a Choice take values as it takes others of their
// meaning.
func (c *checked) nameStatuses(f lint.Finding, l *lint.Loop) []candidate {
	row := rowOf(l, f)
	if row == nil {
		return nil
	}
	base := candidate{about: "status " + strings.Join(row.Values, ", "), class: Sure}
	for _, v := range row.Values {
		base.frame = append(base.frame, trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: v}, trial.Kind{Task: l.Poll.Name, Sort: trial.Never, Value: v})
	}
	var ends lint.End
	switch row.Meaning {
	case lint.MeansFailure:
		ends, base.mended = lint.EndsFailure, failsByItself
	case lint.MeansSuccess:
		ends, base.mended, base.class = lint.EndsSuccess, succeeds, Offered
	case lint.MeansRunning:
		ends, base.mended = lint.PollsOn, goesOn
	default:
		return nil
	}
	if f.Severity == diag.Warning && row.Meaning != lint.MeansRunning {
		base.class = Offered
	}
	e := &statusEdit{checked: c, loop: l, values: row.Values}
	for _, sibling := range siblings(l, row.Meaning, ends) {
		e.copyRules(sibling)
	}
	if row.Meaning == lint.MeansFailure {
		e.addFailure()
	}
	all := make([]candidate, len(e.all))
	for i, edits := range e.all {
		all[i] = base
		all[i].edits = edits
	}
	return all
}

// rowOf is the row of a table that a finding is about; nil if it is about none.
func rowOf(l *lint.Loop, f lint.Finding) *lint.Row {
	i := slices.IndexFunc(l.Rows, func(r lint.Row) bool {
		return r.Rule == f.Rule && len(r.Values) > 0 && strings.Contains(f.Message, r.Values[0])
	})
	if i < 0 {
		return nil
	}
	return &l.Rows[i]
}

func failsByItself(r *trial.Run) bool {
	return r.After.Status == string(sim.StatusFailed) && !strings.HasPrefix(r.After.Error, "States.")
}

func succeeds(r *trial.Run) bool { return r.After.Status == string(sim.StatusSucceeded) }

func goesOn(r *trial.Run) bool {
	return succeeds(r) || r.After.Status == trial.PollsOn || r.After.Status == string(sim.StatusTimedOut) || r.After.Polls > r.Before.Polls
}

// siblings are the values of a meaning that the loop takes as it should, those of the way
// that most take first.
func siblings(l *lint.Loop, meaning lint.Meaning, ends lint.End) []string {
	var rows []lint.Row
	for _, r := range l.Rows {
		if r.Meaning == meaning && r.Ends == ends && r.Rule == "" && len(r.Values) > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b lint.Row) int { return cmp.Compare(len(b.Values), len(a.Values)) })
	var all []string
	for _, r := range rows {
		all = append(all, r.Values...)
	}
	return all
}

// statusEdit makes edits by which Choices take values.
type statusEdit struct {
	*checked

	loop   *lint.Loop
	values []string
	all    [][]edit.Edit
}

// add adds a candidate, once.
func (e *statusEdit) add(edits ...edit.Edit) {
	if len(edits) > 0 {
		e.all = append(e.all, edits)
	}
}

// copyRules lets the Choices take the values where they take a sibling.
func (e *statusEdit) copyRules(sibling string) {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for i, rule := range rules.Items {
			at := s.Position.Pointer + "/Choices/" + strconv.Itoa(i)
			if s.QueryLanguage == asl.JSONata {
				e.widen(rule, at, sibling)
				continue
			}
			e.retarget(s, rules, rule, sibling)
			e.copyRule(rule, at, at, sibling)
			if i > 0 {
				e.copyRule(rule, at, s.Position.Pointer+"/Choices/0", sibling)
			}
		}
	}
}

// retarget leads a rule of the values alone where the sibling's rule leads.
func (e *statusEdit) retarget(s *asl.State, rules, like *jsontree.Node, sibling string) {
	next := like.Get("Next")
	if leaf := comparesWith(like, sibling); leaf == nil || next == nil {
		return
	}
	for i, rule := range rules.Items {
		only := rule.Get("StringEquals")
		if only != nil && len(e.values) == 1 && only.Text == e.values[0] {
			e.add(edit.Edit{Op: edit.Replace, At: fmt.Sprintf("%s/Choices/%d/Next", s.Position.Pointer, i), Value: next.Raw()})
		}
	}
}

// comparesWith is the comparison with a text in a rule that is one, or an Or of them; nil if
// there is none.
func comparesWith(rule *jsontree.Node, text string) *jsontree.Node {
	if equals := rule.Get("StringEquals"); equals != nil && equals.Text == text {
		return rule
	}
	if or := rule.Get("Or"); or != nil {
		for _, item := range or.Items {
			if equals := item.Get("StringEquals"); equals != nil && equals.Text == text {
				return item
			}
		}
	}
	return nil
}

// copyRule puts a rule for the values in front of another, or a member into its Or.
func (e *statusEdit) copyRule(rule *jsontree.Node, at, before, sibling string) {
	leaf := comparesWith(rule, sibling)
	if leaf == nil {
		return
	}
	with := func(node *jsontree.Node, text string) []byte {
		return []byte(strings.Replace(string(node.Raw()), string(leaf.Get("StringEquals").Raw()), string(jsontree.Quote(text)), 1))
	}
	if or := rule.Get("Or"); or != nil && before == at {
		var edits []edit.Edit
		place := fmt.Sprintf("%s/Or/%d", at, slices.Index(or.Items, leaf))
		for _, v := range e.values {
			edits = append(edits, edit.Edit{Op: edit.Before, At: place, Value: with(leaf, v)})
		}
		e.add(edits...)
		return
	}
	if rule.Get("Or") != nil {
		return
	}
	var edits []edit.Edit
	for _, v := range e.values {
		edits = append(edits, edit.Edit{Op: edit.Before, At: before, Value: with(rule, v)})
	}
	e.add(edits...)
}

// A text in a list of an expression, and one that something is compared with.
var (
	plainOperand = `(\$?[\w.$\[\]]+(?:\[\d+\])?)`
	equalsText   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(plainOperand + `\s*=\s*(['"])([^'"]*)['"]`) })
)

// widen lets a condition in JSONata that takes the sibling take the values, too.
func (e *statusEdit) widen(rule *jsontree.Node, at, sibling string) {
	condition := rule.Get("Condition")
	if condition == nil || condition.Kind != jsontree.String {
		return
	}
	for _, quote := range []string{"'", `"`} {
		word := quote + sibling + quote
		added := ""
		for _, v := range e.values {
			added += ", " + quote + v + quote
		}
		i := strings.Index(condition.Text, word)
		if i < 0 {
			continue
		}
		text := ""
		if inList(condition.Text[:i]) {
			text = condition.Text[:i+len(word)] + added + condition.Text[i+len(word):]
		} else {
			for _, m := range equalsText().FindAllStringSubmatchIndex(condition.Text, -1) {
				if condition.Text[m[6]:m[7]] == sibling {
					text = condition.Text[:m[0]] + condition.Text[m[2]:m[3]] + " in [" + word + added + "]" + condition.Text[m[1]:]
				}
			}
		}
		if text != "" {
			e.add(edit.Edit{Op: edit.Replace, At: at + "/Condition", Value: jsontree.Quote(text)})
		}
	}
}

// inList tells whether the end of a text stands in brackets.
func inList(text string) bool {
	return strings.LastIndex(text, "[") > strings.LastIndex(text, "]") && strings.Contains(text[strings.LastIndex(text, "["):], "'") ||
		strings.HasSuffix(strings.TrimRight(text, " "), "[")
}

// addFailure leads the values to a Fail state of their own.
func (e *statusEdit) addFailure() {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil || len(e.loop.Waits) == 0 {
			continue
		}
		for i, rule := range rules.Items {
			at := fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, i)
			operand := rule.Get("Variable")
			if s.QueryLanguage == asl.JSONata || operand == nil || rule.Get("StringEquals") == nil {
				continue
			}
			name := e.newName(e.loop.Poll.Name + " failed")
			var edits []edit.Edit
			for _, v := range e.values {
				edits = append(edits, edit.Edit{Op: edit.Before, At: at, Value: value("Variable", operand.Text, "StringEquals", v, "Next", name)})
			}
			fail := newFail(e.loop, asl.JSONPath, operand.Text)
			e.add(append(edits, edit.Edit{Op: edit.Before, At: e.loop.Waits[0].Position.Pointer, Name: name, Value: fail})...)
			return
		}
	}
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
	r := asl.ParseResource(l.Poll.Task.Resource)
	_, action := r.SDK()
	_ = action
	operation := l.Operation
	service, name, _ := strings.Cut(operation, ":")
	for _, verb := range []string{"Get", "Describe", "List", "BatchGet"} {
		if rest, ok := strings.CutPrefix(name, verb); ok && rest != "" {
			name = rest
			break
		}
	}
	return cmp.Or(r.ErrorPrefix(), strings.ToUpper(service[:1])+service[1:]) + "." + name + how
}
