package typecheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// reportHidden reports a rule that those before it leave nothing to. alone is the scene before the rules,
// of the scope that the rule is for, and all tells that the others take every value there is.
func (x *scene) reportHidden(alone *scene, rule int, of scope, all bool) {
	n := rule + 1
	var text string
	taker := alone.takerOf(of, rule, &x.state.Choice.Rules[rule].Condition, false)
	switch {
	case all:
		text = fmt.Sprintf("the rules before rule %d take every value: it never applies; remove it, or put it before them", n)
	case taker >= 0:
		text = fmt.Sprintf("rule %d takes every value that rule %d is for: it never applies; put rule %d before rule %d, or remove it", taker+1, n, n, taker+1)
	default:
		text = fmt.Sprintf("earlier rules take every value that rule %d is for: it never applies; put it before them, or remove it", n)
	}
	x.report(UnreachableRule, diag.Danger, x.problem(x.at("Choices", strconv.Itoa(rule)), "%s", text))
}

// checkHidden reports what earlier rules take of a rule that applies to something else: all texts of
// its pattern, or one of its alternatives. first is the scene before the rules, and left what they
// leave to the rule. An earlier rule that names the same text is an exception on purpose.
func (x *scene) checkHidden(first *scene, left scope, i int) {
	if !x.reports || x.c.absent || x.c.demands != nil { // whose findings nobody reads
		return
	}
	alone, behind := first.quiet(), first.quiet()
	behind.scope = left
	rules := x.state.Choice.Rules
	if rule := &rules[i]; isCovered(rules[:i], &rule.Condition) {
		of, _ := alone.testRule(rule, "")
		x.reportHidden(alone, i, of, false)
		return
	}
	if slices.ContainsFunc(rules[:i], asksPresence) { // of what is not there, the types leave open what a comparison does
		if of, _ := alone.testRule(&rules[i], ""); !of.isDead() && alone.takerOf(of, i, nil, true) >= 0 {
			x.reportHidden(alone, i, of, false)
			return
		}
	}
	alternatives := x.alternativesOf(&rules[i], x.at("Choices", strconv.Itoa(i)))
	if len(alternatives) == 1 { // it is the rule itself
		return
	}
	for _, a := range alternatives {
		of, _ := a.test(alone)
		if rest, _ := a.test(behind); of.isDead() || !rest.isDead() && !isCovered(rules[:i], a.condition) {
			continue
		}
		taker := alone.takerOf(of, i, a.condition, true)
		if taker < 0 || rules[taker].Next == rules[i].Next || alone.names(&rules[taker], &a, of) {
			continue
		}
		x.reportText(UnreachableRule, a.problem("rule %d takes %q first and leads to %q; put rule %d before it, or remove the text",
			taker+1, a.text, rules[taker].Next, i+1), a.text)
	}
}

// asksPresence tells whether a rule asks whether a value is there.
func asksPresence(rule asl.ChoiceRule) bool {
	if rule.Expression != nil {
		return rule.Expression.Expression != nil && strings.Contains(rule.Expression.Expression.String(), "$exists(")
	}
	var asks func(c *asl.Condition) bool
	asks = func(c *asl.Condition) bool {
		return c.Operator == asl.IsPresent || c.Not != nil && asks(c.Not) || slices.ContainsFunc(slices.Concat(c.And, c.Or), asks)
	}
	return asks(&rule.Condition)
}

// takerOf is the index of the rule before another that takes a scope, or what a condition is for, alone
// or the last of it together with those before; -1 if none does.
func (x *scene) takerOf(of scope, before int, c *asl.Condition, together bool) int {
	rules := x.state.Choice.Rules
	left := of
	for i := range rules[:before] {
		here := *x
		here.scope = left
		_, rest := here.testRule(&rules[i], "")
		if rest.isDead() || isCovered(rules[i:i+1], c) {
			return i
		}
		if together {
			left = rest
		}
	}
	return -1
}

// names tells whether one of the texts that a rule compares with is that of an alternative, and takes
// its scope. What a pattern, a Not or another test takes beside, the rule does not name.
func (x *scene) names(r *asl.ChoiceRule, a *alternative, of scope) bool {
	here := *x
	here.scope = of
	return slices.ContainsFunc(x.alternativesOf(r, ""), func(own alternative) bool {
		if own.text != a.text {
			return false
		}
		_, rest := own.test(&here)
		return rest.isDead() || own.condition != nil && isCovered([]asl.ChoiceRule{{Condition: *own.condition}}, a.condition)
	})
}

// alternative is a text that a rule compares with, alone or among others.
type alternative struct {
	text      string
	condition *asl.Condition // nil in an expression
	test      func(x *scene) (yes, no scope)
	problem   func(format string, args ...any) diag.Problem
}

// alternativesOf are the texts that a rule compares with.
func (x *scene) alternativesOf(r *asl.ChoiceRule, at string) []alternative {
	switch {
	case r.Expression == nil:
		return x.inCondition(&r.Condition, at)
	case r.Expression.Expression == nil:
		return nil
	}
	here := *x
	here.text = at + "/Condition"
	return here.inExpression(x.c.part(r.Expression.Expression))
}

// inCondition are the alternatives of a condition.
func (x *scene) inCondition(c *asl.Condition, at string) []alternative {
	var all []alternative
	for i, part := range c.And {
		all = append(all, x.inCondition(part, x.below(at, "And", strconv.Itoa(i)))...)
	}
	for i, part := range c.Or {
		all = append(all, x.inCondition(part, x.below(at, "Or", strconv.Itoa(i)))...)
	}
	text, isText := c.Value.(string)
	if !isText || c.Operator != asl.StringEquals && c.Operator != asl.StringMatches || x.c.machine.HasPlaceholder(text) {
		return all
	}
	return append(all, alternative{
		text, c, func(x *scene) (scope, scope) { return x.test(c, "") },
		func(format string, args ...any) diag.Problem {
			return x.problem(at+pointer(string(c.Operator)), format, args...)
		},
	})
}

// inExpression are the alternatives of an expression.
func (x *scene) inExpression(p *jsonata.Part) []alternative {
	switch {
	case len(p.Filters) > 0:
		return nil
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return x.inExpression(&p.Parts[0])
	case p.Kind != jsonata.PartBinary:
		return nil
	}
	var all []alternative
	switch p.Text {
	case "and", "or":
		for i := range p.Parts {
			all = append(all, x.inExpression(&p.Parts[i])...)
		}
	case "=":
		for i := range p.Parts {
			all = append(all, x.ofLiteral(&p.Parts[i], p)...)
		}
	case "in":
		list := p.Parts[1]
		if list.Kind != jsonata.PartArray || len(list.Filters) > 0 {
			return nil
		}
		for i := range list.Parts {
			one, only := *p, list
			only.Parts = list.Parts[i : i+1]
			one.Parts = []jsonata.Part{p.Parts[0], only}
			all = append(all, x.ofLiteral(&list.Parts[i], &one)...)
		}
	}
	return all
}

// ofLiteral is the alternative of a comparison with a part of it that is a text.
func (x *scene) ofLiteral(literal, comparison *jsonata.Part) []alternative {
	text, isText := literal.Value.(string)
	if !isText || literal.Kind != jsonata.PartLiteral {
		return nil
	}
	return []alternative{{
		text, nil, func(x *scene) (scope, scope) { return x.truth(comparison) },
		func(format string, args ...any) diag.Problem { return x.problemIn(literal, format, args...) },
	}}
}
