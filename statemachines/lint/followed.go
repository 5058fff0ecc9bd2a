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
