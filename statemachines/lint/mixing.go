package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// mixes tells whether one comparison in a rule that a Choice may take looks at a bound and at a status, such as
// ($s in ['FAILED']) = ($n > 30). Then the status decides on which side of the bound the rule holds.
func (b *bounds) mixes(s *asl.State, env typecheck.Env, ways []typecheck.Way) bool {
	return slices.ContainsFunc(ways, func(way typecheck.Way) bool {
		if way.Kind != asl.TransitionRule || !b.limits[s][way.Transition] {
			return false
		}
		e := s.Choice.Rules[way.Rule].Expression
		if e == nil || e.Expression == nil {
			return false
		}
		whole := e.Expression.Part()
		return mixesIn(&whole, func(leaf *jsonata.Part) bool { return b.mixesLeaf(scope{state: s}, leaf, env) })
	})
}

// mixesLeaf tells whether a comparison looks at a bound and at a status, or at a flag that has the result of one
// that does.
func (b *bounds) mixesLeaf(here scope, leaf *jsonata.Part, env typecheck.Env) bool {
	bound, status := readsClock(leaf), false
	for _, o := range here.expression(leaf, nil).operands {
		name, value := lastName(o.inJSONata()), readOperand(env, o)
		if b.mixed[name] {
			return true
		}
		if b.counters[name] || b.flags[name] {
			bound = true
			continue
		}
		_, isText := value.Literals()
		constant, _ := value.Constant()
		_, isFlag := constant.(bool)
		status = status || isText || isFlag
	}
	return bound && status
}

// mixesIn tells whether a test takes a comparison of an expression. What the operators of truth join are
// comparisons of their own.
func mixesIn(p *jsonata.Part, test func(leaf *jsonata.Part) bool) bool {
	for _, part := range joinedBy(p) {
		if mixesIn(&part, test) {
			return true
		}
	}
	return joinedBy(p) == nil && test(p)
}

// joinedBy are the parts of an expression that is true or false by the truth of each alone; nil if it is no such
// expression. C ? a : b is one if a or b is true or false by itself.
func joinedBy(p *jsonata.Part) []jsonata.Part {
	isLiteral := func(part jsonata.Part) bool { return part.Kind == jsonata.PartLiteral }
	isTruth := func(part jsonata.Part) bool { _, ok := part.Value.(bool); return isLiteral(part) && ok }
	others := slices.DeleteFunc(slices.Clone(p.Parts), isTruth)
	switch {
	case len(p.Filters) > 0:
		return nil
	case p.Kind == jsonata.PartBinary && (p.Text == "and" || p.Text == "or"),
		p.Kind == jsonata.PartCall && (p.Text == "not" || p.Text == "boolean"), p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return p.Parts
	case p.Kind == jsonata.PartBinary && (p.Text == "=" || p.Text == "!=") && len(others) == 1:
		return others
	case p.Kind == jsonata.PartCondition && len(others) <= 2 && len(others) > 0: //nolint:mnd // C, and a or b
		return others
	default:
		return nil
	}
}

// findMixed are the names that some states give the result of a comparison of a count and a text.
func (b *bounds) findMixed(states []*asl.State) counters {
	found := counters{}
	for _, s := range states {
		mixes := func(leaf *jsonata.Part) bool {
			counts := slices.ContainsFunc(scope{state: s}.expression(leaf, nil).operands, func(o operand) bool { return b.counters[lastName(o.inJSONata())] })
			return counts && hasText(leaf)
		}
		for _, t := range templatesOf(s) {
			forParts("", t, func(called string, p *jsonata.Part) {
				found[called] = found[called] || b.flags[called] && !b.counters[called] && mixesIn(p, mixes)
			})
		}
	}
	return found
}

// forParts does something with each expression in a template and each member of an object in one, and with its name.
func forParts(called string, t *asl.Template, do func(called string, p *jsonata.Part)) {
	if t.Expression != nil {
		whole := t.Expression.Part()
		forPairs(called, &whole, do)
	}
	for _, m := range t.Object {
		forParts(m.Name, m.Value, do)
	}
	for _, item := range t.Array {
		forParts(called, item, do)
	}
}

func forPairs(called string, p *jsonata.Part, do func(called string, p *jsonata.Part)) {
	if p.Kind != jsonata.PartObject {
		do(called, p)
		return
	}
	for i := 0; i+1 < len(p.Parts); i += 2 {
		if name, ok := p.Parts[i].Value.(string); ok {
			forPairs(name, &p.Parts[i+1], do)
		}
	}
}

// hasText tells whether a text stands in a part of an expression.
func hasText(p *jsonata.Part) bool {
	if _, ok := p.Value.(string); ok {
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.Parts, p.Filters), func(part jsonata.Part) bool { return hasText(&part) })
}
