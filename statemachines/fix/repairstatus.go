package fix

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// mendsRow is what the edits for a row have in common, and how its statuses end with them; no end
// for a row that no edit mends.
func (c *checked) mendsRow(row *lint.Row, f lint.Finding, l *lint.Loop) (base candidate, ends lint.End) {
	base.class = Sure
	switch row.Meaning {
	case lint.MeansFailure:
		ends, base.mended = lint.EndsFailure, failsByItself
	case lint.MeansSuccess:
		ends, base.mended = lint.EndsSuccess, succeeds
		if f.Rule == lint.StatusMisread {
			base.class = Offered // a failure on purpose, it may be
		}
	case lint.MeansRunning, lint.MeansEnding:
		ends, base.mended, base.goesOn = lint.PollsOn, goesOn, true
		if f.Rule == lint.StatusMisread && row.Ends != lint.EndsFailure {
			base.class, base.also = Offered, waitsForOne
		}
	default:
		return base, ""
	}
	if f.Severity == diag.Warning && !isGoing(row.Meaning) {
		base.class = Offered
	}
	if row.Partial {
		base.class, base.also = Offered, "only you know whether a part is enough: if it is, lead it where a success goes"
	}
	if row.Meaning == lint.MeansFailure && l.Flow != &c.machine.Flow {
		base.class, base.also = Offered, "the failure stops the other items or branches"
	}
	return base, ends
}

// waitsForOne is of a status of a running job with which the execution goes on.
const waitsForOne = "only you know whether the machine waits for that status alone"

// isGated tells whether a rule takes an end of the job only while something else holds, too.
func isGated(row *lint.Row) bool {
	return row.Rule == lint.StatusPollsOn && row.Ends == lint.EndsUnknown && row.Seconds == nil
}

// nameStatuses are the edits that let a Choice take values as it takes others of their
// meaning.
func (c *checked) nameStatuses(f lint.Finding, l *lint.Loop) []candidate {
	row := rowOf(l, f)
	if row == nil {
		return nil
	}
	base, ends := c.mendsRow(row, f, l)
	if ends == "" {
		return nil
	}
	e := &statusEdit{checked: c, loop: l, values: row.Values}
	if row.Restarts {
		e.leadUsedUp(f)
		return e.candidates(row, f, base)
	}
	e.correctWords()
	if isGated(row) {
		base.class, base.also = Offered, joinTexts(base.also, "only you know what the other condition of the rule is for")
	} else {
		e.narrowRules()
	}
	like := siblings(l, row.Meaning, ends)
	if row.Meaning == lint.MeansFailure && slices.ContainsFunc(like, func(r lint.Row) bool { return !slices.Equal(r.Routes, like[0].Routes) }) {
		base.class = Offered // one failure is retried, say, and another ends the execution
	}
	for _, r := range like {
		for _, sibling := range r.Values {
			e.copyRules(sibling)
		}
	}
	e.retargetLike(like)
	if isGoing(row.Meaning) {
		e.leadBack(row, like)
		base.running = []string{}
		for _, r := range like {
			base.running = append(base.running, r.Values...)
		}
	}
	if row.Meaning == lint.MeansFailure {
		e.leadLike(like)
		e.leadToJudge()
		e.leadWithFailures()
		e.leadWithUnwanted()
		e.leadToFail()
	}
	return e.candidates(row, f, base)
}

// candidates are the edits that were found for a row.
func (e *statusEdit) candidates(row *lint.Row, f lint.Finding, base candidate) []candidate {
	c, l := e.checked, e.loop
	all := make([]candidate, len(e.all))
	for i, change := range e.all {
		change.failure = row.Meaning == lint.MeansFailure
		all[i] = base
		all[i].edits, all[i].every = change.edits, change.drops
		if dead := e.deadBehind(change); dead != "" {
			all[i].also = joinTexts(all[i].also, dead)
		}
		all[i].about = "status " + change.values[0]
		if len(change.values) > 1 {
			all[i].about = "statuses " + strings.Join(change.values, ", ")
		}
		if row.Restarts {
			all[i].about += " once the job is not started again"
		}
		if change.wrong != "" && !c.isNever(change.wrong) {
			all[i].class = Offered // the service may say it, some day
		}
		if doubt := joinTexts(change.also, e.doubt(row, f, change.wrong)); doubt != "" {
			all[i].class, all[i].also = Offered, joinTexts(all[i].also, doubt)
		}
		everywhere := all[i].class == Sure || len(change.edits) > 1
		written := change.wrong != "" && everywhere && !isGoing(row.Meaning) // the rules say where the word leads
		all[i].mended = func(r *trial.Run) bool { return base.mended(r) || change.excuses(r) || written && isEnded(r) }
		all[i].of, all[i].wrong = kindsOf(l, change.values...), change.wrong
		all[i].frame = slices.Concat(all[i].of, kindsOf(l, wordsOf(change.wrong)...))
	}
	return all
}

// deadBehind says which later rule names a value, too, that a new rule in front of it takes; empty
// for none.
func (e *statusEdit) deadBehind(change statusChange) string {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		for i := range s.Choice.Rules {
			or := rules.Items[i].Get("Or")
			if or == nil || !slices.ContainsFunc(change.edits, func(made edit.Edit) bool {
				place, inChoice := strings.CutPrefix(made.At, s.Position.Pointer+"/Choices/")
				at, err := strconv.Atoi(place)
				return made.Op == edit.Before && inChoice && err == nil && at <= i
			}) {
				continue
			}
			for _, v := range change.values {
				if comparesWith(rules.Items[i], v) != nil {
					return fmt.Sprintf("a later rule of %q names %s, too, and no longer takes it", s.Name, v)
				}
			}
		}
	}
	return ""
}

// kindsOf are the kinds of answers with values of the status.
func kindsOf(l *lint.Loop, values ...string) []trial.Kind {
	var all []trial.Kind
	for _, v := range values {
		all = append(all, trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: v}, trial.Kind{Task: l.Poll.Name, Sort: trial.Never, Value: v})
		if slices.ContainsFunc(l.Rows, func(r lint.Row) bool { return r.Member != "" }) { // answers are named by several members
			all = append(all, trial.Kind{Task: l.Poll.Name, Sort: trial.Status, Value: javasdk.MemberPath(l.Status) + " " + v})
		}
	}
	return all
}

// correctStatus are the edits of findings about statuses that put one in the place of a word
// that no status is.
func (c *checked) correctStatus(f lint.Finding, l *lint.Loop) []candidate {
	var all []candidate
	for _, other := range c.findings {
		if strings.HasPrefix(other.Rule, "status-") {
			all = append(all, slices.DeleteFunc(c.nameStatuses(other, l), func(one candidate) bool {
				return len(one.edits) != 1 || one.edits[0].At != f.Pointer
			})...)
		}
	}
	return all
}

// rowOf is the row of a table that a finding is about; nil if it is about none.
func rowOf(l *lint.Loop, f lint.Finding) *lint.Row {
	i := slices.IndexFunc(l.Rows, func(r lint.Row) bool {
		return r.Rule == f.Rule && len(r.Values) > 0 && slices.Contains(f.Subjects, r.Values[0])
	})
	if i < 0 {
		return nil
	}
	return &l.Rows[i]
}

func failsByItself(r *trial.Run) bool {
	return r.After.Status == string(sim.StatusFailed) && !isReserved(r.After.Error)
}

// isEnded tells whether a run ends by itself, and not in an error of the engine.
func isEnded(r *trial.Run) bool { return succeeds(r) || failsByItself(r) }

func succeeds(r *trial.Run) bool { return r.After.Status == string(sim.StatusSucceeded) }

// goesOn tells whether the loop polls again where it ended before: a success at the same poll would be of a job that still runs.
func goesOn(r *trial.Run) bool {
	a, b := r.After, r.Before
	return a.Status == trial.PollsOn || a.Status == string(sim.StatusTimedOut) || a.Polls > b.Polls || a.Asked > b.Asked
}

// isGoing tells whether a job of a meaning has not ended yet.
func isGoing(m lint.Meaning) bool { return m == lint.MeansRunning || m == lint.MeansEnding }

// siblings are the rows of a meaning whose values the loop takes as it should, those of the
// way that most take first.
func siblings(l *lint.Loop, meaning lint.Meaning, ends lint.End) []lint.Row {
	rows := slices.DeleteFunc(slices.Clone(l.Rows), func(r lint.Row) bool {
		same := r.Meaning == meaning || meaning == lint.MeansFailure && mayFail(&r) || isGoing(meaning) && isGoing(r.Meaning)
		again := meaning == lint.MeansFailure && (r.Ends == lint.GoesOn || r.Ends == lint.StartsAgain || r.Ends == lint.NextJob && r.Last == lint.EndsFailure)
		return !same || r.Ends != ends && !again || (r.Rule != "" || r.FailsAt != "") && !r.Lacks || len(r.Values) == 0
	})
	slices.SortStableFunc(rows, func(a, b lint.Row) int { return cmp.Compare(len(b.Values), len(a.Values)) })
	return rows
}

// statusEdit makes edits by which Choices take values.
type statusEdit struct {
	*checked

	loop   *lint.Loop
	values []string
	all    []statusChange
}

// statusChange are edits by which Choices take values.
type statusChange struct {
	values  []string
	edits   []edit.Edit
	wrong   string // a word that no rule compares with any more
	failure bool   // the values are failures
	drops   bool   // the rules for the values go
	also    string // what only the user knows
}

// excuses tells of a run that need not end as it should: one with the wrong word, and one that
// breaks today, polls to its bound, or takes a failure for a success, and lacks what is read behind the loop.
func (c *statusChange) excuses(r *trial.Run) bool {
	toBound := r.Before.Status == string(sim.StatusFailed) && r.Before.Polls > r.After.Polls
	tooWell := c.failure && r.Before.Status == string(sim.StatusSucceeded)
	return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
		return k.Sort == trial.Bare && (isExcused(r) || toBound || tooWell) && r.After.IsBroken() || c.wrong != "" && k.Value == c.wrong
	})
}

// add adds a change for all values.
func (e *statusEdit) add(edits ...edit.Edit) {
	e.all = append(e.all, statusChange{values: e.values, edits: edits})
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
				if condition := rule.Get("Condition"); i > 0 && condition != nil && condition.Kind == jsontree.String {
					e.addInFront(rule, s.Position.Pointer+"/Choices", sibling)
				}
				continue
			}
			e.retarget(s, rules, rule, sibling)
			if comparesWith(rule, sibling) == nil {
				e.copyInside(rule, sibling)
				continue
			}
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
		added := ", " + quote + strings.Join(e.values, quote+", "+quote) + quote
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
		} else {
			e.addBehind(rule, at, quote)
		}
	}
}

// addBehind adds a rule for the values behind one that takes a sibling by a function, which
// may fail where there is no status.
func (e *statusEdit) addBehind(rule *jsontree.Node, at, quote string) {
	for _, operand := range operandOf().FindAllString(rule.Get("Condition").Text, -1) {
		if strings.HasSuffix(operand, "."+javasdk.MemberPath(e.loop.Status)) {
			e.add(edit.Edit{Op: edit.Behind, At: at, Value: e.ruleLike(rule, operand, quote)})
			return
		}
	}
}

// addInFront adds a rule for the values in front of all, that leads where one leads that takes
// a sibling: an earlier rule may take them.
func (e *statusEdit) addInFront(rule *jsontree.Node, choices, sibling string) {
	for _, m := range comparedOperand().FindAllStringSubmatch(rule.Get("Condition").Text, -1) {
		if strings.Contains(rule.Get("Condition").Text, m[2]+sibling+m[2]) {
			e.add(edit.Edit{Op: edit.Before, At: choices + "/0", Value: e.ruleLike(rule, m[1], m[2])})
			return
		}
	}
}

// ruleLike is a rule that takes the values, and leads where another one leads.
func (e *statusEdit) ruleLike(rule *jsontree.Node, operand, quote string) []byte {
	var members []any
	for _, m := range rule.Members {
		if m.Name == "Condition" {
			members = append(members, m.Name, "{% "+conditionFor(operand, quote, e.values)+" %}")
		} else {
			members = append(members, m.Name, m.Value.Raw())
		}
	}
	return value(members...)
}

// inList tells whether the end of a text stands in brackets.
func inList(text string) bool {
	return strings.LastIndex(text, "[") > strings.LastIndex(text, "]") && strings.Contains(text[strings.LastIndex(text, "["):], "'") ||
		strings.HasSuffix(strings.TrimRight(text, " "), "[")
}
