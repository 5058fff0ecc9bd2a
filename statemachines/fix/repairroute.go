package fix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// retargetLike leads the rules for the values where the rules for like statuses lead.
func (e *statusEdit) retargetLike(rows []lint.Row) {
	var tried []string
	for _, r := range rows {
		if len(r.Routes) != 1 || slices.Contains(tried, r.Routes[0]) {
			continue
		}
		tried = append(tried, r.Routes[0])
		if edits, _, _ := e.retargetAll(r.Routes[0]); edits != nil {
			e.add(edits...)
		}
	}
}

// leadLike tries, for the values, the targets of rules that name a like status, in rules for the values alone and in other
// Choices: an earlier Choice may take the values, and one that starts the job again is no end.
func (e *statusEdit) leadLike(rows []lint.Row) {
	var tried []string
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for _, rule := range rules.Items {
			next := rule.Get("Next")
			if next == nil || slices.Contains(tried, next.Text) || !slices.ContainsFunc(rows, func(r lint.Row) bool { return namesOne(rule, r.Values) }) {
				continue
			}
			tried = append(tried, next.Text)
			if edits, _, _ := e.retargetAll(next.Text); edits != nil {
				e.add(edits...)
			}
			for _, other := range e.loop.Choices {
				if other != s && other.Name != next.Text {
					e.leadTo(other, next.Text)
				}
			}
		}
	}
}

// namesOne tells whether a rule compares with texts only, one of the values among them.
func namesOne(rule *jsontree.Node, values []string) bool {
	return slices.ContainsFunc(wordsIn(rule), func(word string) bool { return slices.Contains(values, word) })
}

// leadTo leads the values from a Choice to a state, by rules of their own.
func (e *statusEdit) leadTo(s *asl.State, next string) {
	rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
	if rules == nil {
		return
	}
	for _, operand := range statusOperands(rules) {
		e.add(e.rulesBefore(s, firstReader(rules, operand), operand, next)...)
	}
}

// leadWithFailures leads the values where the loop leads other failures, by rules of their own: it may
// tell those by a pattern, by what they are not, or by Default.
func (e *statusEdit) leadWithFailures() {
	for _, next := range failureRoutes(e.loop) {
		for _, s := range e.loop.Choices {
			e.leadTo(s, next)
		}
	}
}

// leadBack leads the values of a row where other statuses of a job that runs go, by rules of their own.
func (e *statusEdit) leadBack(row *lint.Row, running []lint.Row) {
	var tried []string
	made := len(e.all)
	for _, s := range e.loop.Choices { // where the next Choice of the turn counts, say
		if slices.ContainsFunc(e.loop.States, func(in *asl.State) bool { return in.Name == s.Choice.Default }) {
			e.leadTo(s, s.Choice.Default)
		}
	}
	for _, r := range running {
		if len(r.Routes) != 1 || slices.Contains(tried, r.Routes[0]) {
			continue
		}
		tried = append(tried, r.Routes[0])
		for _, s := range e.loop.Choices {
			e.leadTo(s, r.Routes[0])
		}
	}
	for i := range e.all[made:] {
		if row.Rule != lint.StatusMisread && row.Ends != lint.EndsFailure { // of a misread one, all edits say so
			e.all[made+i].also = waitsForOne
		}
	}
}

// leadWithUnwanted leads the values where the loop leads a success that another member of its answer makes a
// failure, if Tasks clean up or tell of it there: else they would be left out.
func (e *statusEdit) leadWithUnwanted() {
	for _, r := range e.loop.Rows {
		for _, fork := range r.Forks {
			s := e.loop.Flow.State(fork.Route)
			if r.Meaning != lint.MeansSuccess || fork.Ends != lint.EndsFailure || fork.Route == e.loop.Bound.Route || s == nil || s.Type == asl.TypeFail {
				continue
			}
			made := len(e.all)
			for _, choice := range e.loop.Choices {
				e.leadTo(choice, fork.Route)
			}
			for i := range e.all[made:] {
				e.all[made+i].also = fmt.Sprintf("%q is where %s goes if another member of the answer is not as expected", fork.Route, r.Values[0])
			}
		}
	}
}

// failureRoutes are where failures of a loop go: those that most known failures take first, and last
// those of any other value, but for that of a job that takes too long.
func failureRoutes(l *lint.Loop) []string {
	known := map[string]int{}
	var all []string
	add := func(to string) {
		if !slices.Contains(all, to) {
			all = append(all, to)
		}
	}
	for _, r := range l.Rows {
		isRight := r.Ends == lint.EndsFailure && (r.Rule == "" && r.FailsAt == "" || r.Lacks)
		if mayFail(&r) && isRight && len(r.Routes) == 1 {
			known[r.Routes[0]] += len(r.Values)
			add(r.Routes[0])
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(known[b], known[a]) })
	for _, to := range otherFailures(l.Flow, l.Rows) {
		if to != l.Bound.Route {
			add(to)
		}
	}
	return all
}

// mayFail tells whether the values of a row are failures, or some waiter says so.
func mayFail(r *lint.Row) bool {
	return r.Meaning == lint.MeansFailure || slices.Contains(r.Either, lint.MeansFailure)
}

// otherFailures are the states by which a value that no row names fails.
func otherFailures(flow *asl.Flow, rows []lint.Row) []string {
	var all []string
	for _, r := range rows {
		if len(r.Values) > 0 {
			continue
		}
		for _, to := range r.Routes {
			if failsAlone(flow, to) {
				all = append(all, to)
			}
		}
	}
	return all
}

// failsAlone tells whether a state of a flow is a Fail, or leads to nothing else.
func failsAlone(flow *asl.Flow, name string) bool {
	s := flow.State(name)
	for n := 0; s != nil && n < len(flow.States); n++ {
		if s.Type == asl.TypeFail {
			return true
		}
		s = flow.State(s.Next)
	}
	return false
}

// itemIndex is the index of an item in an operand.
var itemIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

// statusOperands are what the rules compare with texts, but for those that read several items of one
// list: a rule for one of them would not ask for the others.
func statusOperands(rules *jsontree.Node) []string {
	var all []string
	items := map[string]int{}
	for _, rule := range rules.Items {
		for _, operand := range operandsOf(rule) {
			if !slices.Contains(all, operand) {
				all = append(all, operand)
				items[itemIndex().ReplaceAllString(operand, "[]")]++
			}
		}
	}
	return slices.DeleteFunc(all, func(operand string) bool { return items[itemIndex().ReplaceAllString(operand, "[]")] > 1 })
}

// firstReader is the first of the rules that reads an operand.
func firstReader(rules *jsontree.Node, operand string) int {
	return max(0, slices.IndexFunc(rules.Items, func(rule *jsontree.Node) bool { return slices.Contains(operandsOf(rule), operand) }))
}

// rulesBefore put rules that lead an operand with one of the values to a state in front of a rule.
// Where the Choice looks whether the operand is there, they do so, too.
func (e *statusEdit) rulesBefore(s *asl.State, i int, operand, next string) []edit.Edit {
	at := fmt.Sprintf("%s/Choices/%d", s.Position.Pointer, i)
	rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
	if s.QueryLanguage == asl.JSONata {
		condition := conditionFor(operand, quoteIn(rules.Items[i]), e.values)
		return []edit.Edit{{Op: edit.Before, At: at, Value: value("Condition", "{% "+condition+" %}", "Next", next)}}
	}
	guarded := looksForMember(rules, operand)
	var edits []edit.Edit
	for _, v := range e.values {
		rule := value("Variable", operand, "StringEquals", v, "Next", next)
		if guarded {
			both := fmt.Sprintf("[%s, %s]", value("Variable", operand, "IsPresent", true), value("Variable", operand, "StringEquals", v))
			rule = value("And", json.RawMessage(both), "Next", next)
		}
		edits = append(edits, edit.Edit{Op: edit.Before, At: at, Value: rule})
	}
	return edits
}

// quoteIn is the quote that an expression has around its texts.
func quoteIn(rule *jsontree.Node) string {
	if condition := rule.Get("Condition"); condition != nil && strings.Contains(condition.Text, `"`) && !strings.Contains(condition.Text, "'") {
		return `"`
	}
	return "'"
}

// looksForMember tells whether some rule looks whether an operand, or an object that has it, is there.
func looksForMember(rules *jsontree.Node, operand string) bool {
	return slices.ContainsFunc(rules.Items, func(rule *jsontree.Node) bool {
		return slices.ContainsFunc(leaves(rule), func(leaf *jsontree.Node) bool {
			at := leaf.Get("Variable").Text
			return leaf.Get("IsPresent") != nil && (at == operand || strings.HasPrefix(operand, at+"."))
		})
	})
}

// What an expression may compare, and the texts and patterns in it.
var (
	readOperand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[\p{L}_]\w*(?:\.\w+|\[\d+\])*\(?`) })
	quotedText  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'[^']*'|"[^"]*"|/[^/\s]+/`) })
)

// operandsOf are what a rule compares with texts, or asks a function about.
func operandsOf(rule *jsontree.Node) []string {
	var all []string
	add := func(operand string) {
		if !slices.Contains(all, operand) {
			all = append(all, operand)
		}
	}
	if condition := rule.Get("Condition"); condition != nil {
		for _, operand := range readOperand().FindAllString(quotedText().ReplaceAllString(condition.Text, "''"), -1) {
			whole := operand == "$states" || operand == "$states.input" || strings.HasPrefix(operand, "$states.context")
			if !whole && !strings.HasSuffix(operand, "(") {
				add(operand)
			}
		}
		return all
	}
	for _, leaf := range leaves(rule) {
		if leaf.Get("StringEquals") != nil || leaf.Get("StringMatches") != nil {
			add(leaf.Get("Variable").Text)
		}
	}
	return all
}

// copyInside lets a rule that compares a sibling somewhere inside of it take the values as it takes
// that, wherever it does.
func (e *statusEdit) copyInside(rule *jsontree.Node, sibling string) {
	var edits []edit.Edit
	var walk func(n *jsontree.Node, inOr bool)
	walk = func(n *jsontree.Node, inOr bool) {
		if equals := n.Get("StringEquals"); equals != nil && equals.Text == sibling {
			edits = append(edits, e.copyLeaf(n, inOr)...)
			return
		}
		for _, m := range n.Members {
			switch m.Name {
			case "And", "Or":
				for _, item := range m.Value.Items {
					walk(item, m.Name == "Or")
				}
			case "Not":
				walk(m.Value, false)
			}
		}
	}
	walk(rule, false)
	if len(edits) > 0 {
		e.add(edits...)
	}
}

// copyLeaf puts comparisons with the values beside one, in an Or of their own if it is in none.
func (e *statusEdit) copyLeaf(leaf *jsontree.Node, inOr bool) []edit.Edit {
	var copies []string
	for _, v := range e.values {
		copies = append(copies, strings.Replace(string(leaf.Raw()), string(leaf.Get("StringEquals").Raw()), string(jsontree.Quote(v)), 1))
	}
	if !inOr {
		either := "[" + strings.Join(append(copies, string(leaf.Raw())), ", ") + "]"
		return []edit.Edit{{Op: edit.Replace, At: leaf.Pointer(), Value: value("Or", json.RawMessage(either))}}
	}
	var edits []edit.Edit
	for _, text := range copies {
		edits = append(edits, edit.Edit{Op: edit.Before, At: leaf.Pointer(), Value: []byte(text)})
	}
	return edits
}
