package typecheck

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// reportHidden reports a rule that those before it leave nothing to.
func (x *scene) reportHidden(rule int, all bool) {
	text := "an earlier rule takes every value that rule %d is for: it never applies"
	if all {
		text = "the rules before rule %d take every value: it never applies"
	}
	x.report(UnreachableRule, diag.Danger, x.problem(x.at("Choices", strconv.Itoa(rule)), text, rule+1))
}

// checkHidden reports what earlier rules take of a rule that applies to something else: all texts of
// its pattern, or one of its alternatives. first is the scene before the rules, and left what they
// leave to the rule.
func (x *scene) checkHidden(first *scene, left scope, i int) {
	if !x.reports || x.c.absent {
		return
	}
	rules := x.state.Choice.Rules
	if rule := &rules[i]; isCovered(rules[:i], &rule.Condition) {
		x.reportHidden(i, false)
		return
	}
	alone, behind := first.quiet(), first.quiet()
	behind.scope = left
	alternatives := x.alternativesOf(&rules[i], x.at("Choices", strconv.Itoa(i)))
	if len(alternatives) == 1 { // it is the rule itself
		return
	}
	for _, a := range alternatives {
		of, _ := a.test(alone)
		if rest, _ := a.test(behind); of.isDead() || !rest.isDead() && !isCovered(rules[:i], a.condition) {
			continue
		}
		taker := alone.takerOf(of, i, a.condition)
		if taker != nil && taker.Next != rules[i].Next && !alone.isFor(taker, a.text) {
			x.report(UnreachableRule, diag.Danger, a.problem("an earlier rule takes %q and leads to %q: rule %d never applies to it", a.text, taker.Next, i+1))
		}
	}
}

// takerOf is the rule before another that takes the last of a scope, or of what a condition is for; nil
// if none does.
func (x *scene) takerOf(of scope, before int, c *asl.Condition) *asl.ChoiceRule {
	rules := x.state.Choice.Rules
	for i := range rules[:before] {
		here := *x
		here.scope = of
		if _, of = here.testRule(&rules[i], ""); of.isDead() || isCovered(rules[i:i+1], c) {
			return &rules[i]
		}
	}
	return nil
}

// alternative is a text that a rule compares with, alone or among others.
type alternative struct {
	text      string
	condition *asl.Condition // nil in an expression
	test      func(x *scene) (yes, no scope)
	problem   func(format string, args ...any) diag.Problem
}

// isFor tells whether a rule compares with one text alone: then it is an exception from a list behind it.
func (x *scene) isFor(r *asl.ChoiceRule, text string) bool {
	all := x.alternativesOf(r, "")
	return len(all) == 1 && all[0].text == text
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
	if !isText || c.Operator != asl.StringEquals && c.Operator != asl.StringMatches || asl.HasPlaceholder(text) {
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
