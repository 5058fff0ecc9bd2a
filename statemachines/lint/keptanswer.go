package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// closeProgress closes the ways that a loop takes only while its job gets on: those of rules that hold where an answer is
// another one than the loop has kept of the answer before. A job that never ends need not change for ever.
func (b *bounds) closeProgress() {
	for s, passes := range b.passes {
		for _, way := range s.Transitions() {
			if way.Kind == asl.TransitionRule && b.loop.inside[way.To] && !passes[way] && b.loop.asksProgress(s, way) {
				passes[way] = true
			}
		}
	}
}

// asksProgress tells whether a rule of a Choice compares a value with that of the turn before, which the way behind the rule keeps.
func (l *loop) asksProgress(s *asl.State, way asl.Transition) bool {
	pairs := differing(&s.Choice.Rules[way.Rule])
	if len(pairs) == 0 {
		return false
	}
	cycles, all := l.cycles(s)
	cycles = slices.DeleteFunc(cycles, func(round []hop) bool { return round[0].way != way })
	return all && len(cycles) > 0 && slices.ContainsFunc(pairs, func(pair [2]operand) bool {
		return keeps(cycles, pair[0], pair[1]) || keeps(cycles, pair[1], pair[0])
	})
}

// keeps tells whether each way around a loop gives kept the value that of had before, and gives of a new one.
func keeps(cycles [][]hop, kept, of operand) bool {
	return !slices.ContainsFunc(cycles, func(round []hop) bool {
		return traceBack(round, kept).text != of.String() || traceBack(round, of).text == of.String()
	})
}

// differing are the pairs of operands that have to differ where a rule holds.
func differing(r *asl.ChoiceRule) [][2]operand {
	if r.Expression == nil {
		return differingIn(&r.Condition, false)
	}
	if r.Expression.Expression == nil {
		return nil
	}
	part := r.Expression.Expression.Part()
	return differingParts(&part)
}

// differingIn are the pairs that differ where a condition of JSONPath holds; with not, where it does not hold.
func differingIn(c *asl.Condition, not bool) (pairs [][2]operand) {
	switch {
	case c.Not != nil:
		return differingIn(c.Not, !not)
	case c.Variable == nil || c.ValuePath == nil:
		for _, part := range c.And {
			if !not {
				pairs = append(pairs, differingIn(part, false)...)
			}
		}
		return pairs
	}
	equal := []asl.Operator{asl.StringEquals, asl.NumericEquals, asl.TimestampEquals, asl.BooleanEquals}
	unequal := []asl.Operator{
		asl.StringLessThan, asl.StringGreaterThan, asl.NumericLessThan, asl.NumericGreaterThan, asl.TimestampLessThan, asl.TimestampGreaterThan,
	}
	if of := operandsOfCondition(c); len(of) == 2 && (not && slices.Contains(equal, c.Operator) || !not && slices.Contains(unequal, c.Operator)) {
		return [][2]operand{{of[0], of[1]}}
	}
	return nil
}

// differingParts are those of an expression.
func differingParts(p *jsonata.Part) (pairs [][2]operand) {
	if p.Kind != jsonata.PartBinary {
		return nil
	}
	switch p.Text {
	case "and":
		return slices.Concat(differingParts(&p.Parts[0]), differingParts(&p.Parts[1]))
	case "!=", ">", "<":
		left, right := (scope{}).expression(&p.Parts[0], nil), (scope{}).expression(&p.Parts[1], nil)
		if left.copies && right.copies {
			return [][2]operand{{left.operands[0], right.operands[0]}}
		}
	}
	return nil
}
