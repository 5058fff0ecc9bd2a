package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// mayLeave tells whether a rule with a count may end the loop, or not.
func (b *bounds) mayLeave(s *asl.State, ways []typecheck.Way) bool {
	return slices.ContainsFunc(ways, func(way typecheck.Way) bool { return b.limits[s][way.Transition] && !b.loop.inside[way.To] })
}

// exitBehind is where a Choice leads a job when the rules with a count let it stay no longer, of the ways that are
// left; empty if that is not known.
func (b *bounds) exitBehind(s *asl.State, ways []typecheck.Way) string {
	exit := ""
	for way := range b.limits[s] {
		open := slices.ContainsFunc(ways, func(w typecheck.Way) bool { return w.Transition == way })
		if !b.limits[s][way] || !b.loop.inside[way.To] || open {
			continue
		}
		to := takenInstead(s, conjunctsOf(&s.Choice.Rules[way.Rule]), ways)
		if to == "" || exit != "" && exit != to {
			return ""
		}
		exit = to
	}
	return exit
}

// takenInstead is the way that a Choice takes of some where the other parts of a rule still hold; empty if that is not known.
func takenInstead(s *asl.State, held []conjunct, ways []typecheck.Way) string {
	for _, way := range ways {
		if way.Kind != asl.TransitionRule {
			return way.To
		}
		parts := conjunctsOf(&s.Choice.Rules[way.Rule])
		if !slices.ContainsFunc(parts, func(part conjunct) bool { return !slices.Contains(held, part) }) {
			return way.To
		}
		if !slices.ContainsFunc(parts, func(part conjunct) bool { return slices.ContainsFunc(held, part.excludes) }) {
			return ""
		}
	}
	return ""
}

// conjunct is one of the parts of a rule that all have to hold.
type conjunct struct {
	text         string // of parts that say the same, the same
	of, expected string // what it compares for equality, and with which text; empty for another part
}

// excludes tells whether two parts never hold together.
func (p conjunct) excludes(o conjunct) bool {
	return p.of != "" && p.of == o.of && p.expected != o.expected
}

// conjunctsOf are the parts of a rule that all have to hold.
func conjunctsOf(rule *asl.ChoiceRule) []conjunct {
	if rule.Expression == nil {
		return appendConjuncts(nil, &rule.Condition)
	}
	if rule.Expression.Expression == nil {
		return []conjunct{{text: fmt.Sprint(rule.Expression.Literal)}}
	}
	whole := rule.Expression.Expression.Part()
	return appendParts(nil, &whole)
}

func appendConjuncts(all []conjunct, c *asl.Condition) []conjunct {
	for _, part := range c.And {
		all = appendConjuncts(all, part)
	}
	if c.And != nil {
		return all
	}
	one := conjunct{text: textOfCondition(c)}
	if text, ok := c.Value.(string); ok && c.Operator == asl.StringEquals {
		one.of, one.expected = c.Variable.String(), text
	}
	return append(all, one)
}

// textOfCondition is the same for conditions that say the same.
func textOfCondition(c *asl.Condition) string {
	texts := []string{fmt.Sprintf("%q %v %#v %v", c.Operator, c.Variable, c.Value, c.ValuePath)}
	for _, part := range c.Or {
		texts = append(texts, "or", textOfCondition(part))
	}
	for _, part := range c.And {
		texts = append(texts, "and", textOfCondition(part))
	}
	if c.Not != nil {
		texts = append(texts, "not", textOfCondition(c.Not))
	}
	return "(" + strings.Join(texts, " ") + ")"
}

func appendParts(all []conjunct, p *jsonata.Part) []conjunct {
	switch {
	case len(p.Filters) > 0:
	case p.Kind == jsonata.PartBlock && len(p.Parts) == 1:
		return appendParts(all, &p.Parts[0])
	case p.Kind == jsonata.PartBinary && p.Text == "and":
		return appendParts(appendParts(all, &p.Parts[0]), &p.Parts[1])
	case p.Kind == jsonata.PartBinary && p.Text == "=":
		if text, ok := p.Parts[1].Value.(string); ok && p.Parts[1].Kind == jsonata.PartLiteral {
			return append(all, conjunct{textOfPart(p), textOfPart(&p.Parts[0]), text})
		}
	}
	return append(all, conjunct{text: textOfPart(p)})
}

// textOfPart is the same for parts of expressions that say the same. One that it cannot read is like no other.
func textOfPart(p *jsonata.Part) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(%d %q %#v", p.Kind, p.Text, p.Value)
	if p.Kind == jsonata.PartOther || p.Kind == jsonata.PartRegex || p.Kind == jsonata.PartLambda {
		fmt.Fprintf(&b, " %p", p)
	}
	for i := range p.Parts {
		b.WriteString(textOfPart(&p.Parts[i]))
	}
	b.WriteString("|")
	for i := range p.Filters {
		b.WriteString(textOfPart(&p.Filters[i]))
	}
	return b.String() + ")"
}
