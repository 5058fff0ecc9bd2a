package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// isFollowed tells whether the types can follow the expressions by which a state decides, or that it
// hands on.
func isFollowed(s *asl.State) bool {
	var all []*asl.Scalar
	if s.Choice != nil {
		for i := range s.Choice.Rules {
			all = append(all, s.Choice.Rules[i].Expression)
		}
	}
	return !slices.ContainsFunc(all, func(e *asl.Scalar) bool { return e != nil && e.Expression != nil && !followsExpression(e.Expression) }) &&
		!slices.ContainsFunc([]*asl.Template{s.Assign, s.Output}, func(t *asl.Template) bool { return t != nil && !followsTemplate(t) })
}

// groupsByValue tells whether an expression by which a state decides, or that it hands on, makes a group that has a member
// for each value of something: who reads a member asks for a value, which the types do not notice.
func groupsByValue(s *asl.State) bool {
	if s.Choice != nil && slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool {
		return r.Expression != nil && r.Expression.Expression != nil && hasOpenGroup(r.Expression.Expression.Part())
	}) {
		return true
	}
	return slices.ContainsFunc([]*asl.Template{s.Assign, s.Output}, func(t *asl.Template) bool { return t != nil && groupsInTemplate(t) })
}

func groupsInTemplate(t *asl.Template) bool {
	return t.Expression != nil && hasOpenGroup(t.Expression.Part()) || slices.ContainsFunc(t.Array, groupsInTemplate) ||
		slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return groupsInTemplate(m.Value) })
}

// hasOpenGroup tells whether a part of an expression makes a group with a name that is not written there.
func hasOpenGroup(p jsonata.Part) bool {
	for i := 1; p.Kind == jsonata.PartGroup && i < len(p.Parts); i += 2 {
		if p.Parts[i].Kind != jsonata.PartLiteral {
			return true
		}
	}
	return p.Lambda != nil && hasOpenGroup(p.Lambda.Body) || slices.ContainsFunc(p.Parts, hasOpenGroup) || slices.ContainsFunc(p.Filters, hasOpenGroup)
}

func followsTemplate(t *asl.Template) bool {
	return (t.Expression == nil || followsExpression(t.Expression)) &&
		!slices.ContainsFunc(t.Array, func(item *asl.Template) bool { return !followsTemplate(item) }) &&
		!slices.ContainsFunc(t.Object, func(m asl.TemplateMember) bool { return !followsTemplate(m.Value) })
}

func followsExpression(e *jsonata.Expression) bool {
	whole := e.Part()
	return followsPart(&whole, false)
}

// followsPart tells whether the types can follow a part of an expression; a function only where it is
// called.
func followsPart(p *jsonata.Part, called bool) bool {
	if p.Kind == jsonata.PartOther {
		return false
	}
	if p.Kind == jsonata.PartLambda {
		return called && followsPart(&p.Lambda.Body, false)
	}
	if p.Kind == jsonata.PartApply && !makesFunction(&p.Parts[0]) {
		return false
	}
	calls := p.Kind == jsonata.PartBind || p.Kind == jsonata.PartApply || p.Kind == jsonata.PartCall && typecheck.AppliesToItems(p.Text)
	return !slices.ContainsFunc(p.Parts, func(part jsonata.Part) bool { return !followsPart(&part, calls) }) &&
		!slices.ContainsFunc(p.Filters, func(part jsonata.Part) bool { return !followsPart(&part, false) })
}

// makesFunction tells whether a part of an expression is a function that the expression makes there.
func makesFunction(p *jsonata.Part) bool {
	for p.Kind == jsonata.PartBlock && len(p.Parts) == 1 && len(p.Filters) == 0 {
		p = &p.Parts[0]
	}
	return p.Kind == jsonata.PartLambda || p.Kind == jsonata.PartTransform
}
