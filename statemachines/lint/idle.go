package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sayIdle says which Choice of a loop compares what looks like a bound and ends nothing, and notes it in the tables;
// empty if none does. advice is empty if any bound will do.
func (c *checker) sayIdle(b *bounds, open *loop, tables []*reading) (idle, advice string) {
	for _, r := range tables {
		if idle, advice = b.sayReversed(open); idle == "" {
			idle, advice = c.sayNever(b, open, r)
		}
		if idle == "" {
			idle, advice = b.sayLost(open)
		}
		if idle == "" {
			idle = r.sayStill(open)
		}
		if idle != "" {
			r.Bound.Idle = idle
			return idle, advice
		}
	}
	if len(tables) == 0 {
		return "", ""
	}
	idle, advice = b.sayPassed(open)
	tables[0].Bound.Idle = idle
	return idle, advice
}

// sayPassed says which Choice of a loop leaves it where a count is one number, past which the count may step; empty if none
// does.
func (b *bounds) sayPassed(open *loop) (idle, advice string) {
	for _, s := range open.states {
		if s.Choice == nil {
			continue
		}
		for i := range s.Choice.Rules {
			rule := &s.Choice.Rules[i]
			if open.inside[rule.Next] {
				continue
			}
			for _, o := range operandsOfRule(rule) {
				if name := lastName(o.inJSONata()); b.counters[name] && equalsNumber(rule, name) {
					count := o.String()
					if rule.Expression != nil {
						count = o.inJSONata()
					}
					return fmt.Sprintf("%q leaves the loop where %s is one number, which the count may step past", s.Name, count), "compare by size"
				}
			}
		}
	}
	return "", ""
}

// equalsNumber tells whether a rule compares what has a name with a number for equality.
func equalsNumber(rule *asl.ChoiceRule, name string) bool {
	if rule.Expression == nil {
		return conditionEquals(&rule.Condition, name)
	}
	if rule.Expression.Expression == nil {
		return false
	}
	whole, found := rule.Expression.Expression.Part(), false
	forComparisons(&whole, func(p *jsonata.Part) {
		if p.Kind != jsonata.PartBinary || p.Text != "=" {
			return
		}
		for i := range p.Parts {
			_, isNumber := p.Parts[i].Value.(float64)
			f, plain := scope{}.plain(&p.Parts[1-i])
			found = found || isNumber && plain && f.copies && lastName(f.operands[0].inJSONata()) == name
		}
	})
	return found
}

func conditionEquals(c *asl.Condition, name string) bool {
	for _, part := range slices.Concat(c.And, c.Or) {
		if conditionEquals(part, name) {
			return true
		}
	}
	return c.Operator == "NumericEquals" && c.Variable != nil && lastName(c.Variable.String()) == name
}

// sayNever says which Choice of a loop compares the clock with a time that never comes; empty if none does.
func (c *checker) sayNever(b *bounds, open *loop, r *reading) (idle, advice string) {
	if !b.never {
		return "", ""
	}
	bound := Bound{Kind: ByTime}
	if bound.At, bound.By = c.placeIn(b.loop, r, open, &bound); len(bound.At) == 0 {
		return "", ""
	}
	return fmt.Sprintf("the time%s does not come within a year", bound.place()), "compare times of one unit, or set an earlier time"
}
