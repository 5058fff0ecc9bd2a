package lint

import (
	"encoding/json"
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
				name := lastName(o.inJSONata())
				numbers := equalNumbers(rule, name)
				if !b.counters[name] || len(numbers) == 0 {
					continue
				}
				count, advice := o.String(), "use NumericGreaterThanEquals, or NumericLessThanEquals if the count falls"
				if rule.Expression != nil {
					count, advice = o.inJSONata(), "use >=, or <= if the count falls"
				}
				number := join(numbers, "or")
				return fmt.Sprintf("%q leaves the loop where %s equals %s, and the count may pass %[3]s without being %[3]s", s.Name, count, number), advice
			}
		}
	}
	return "", ""
}

// equalNumbers are the numbers that a rule compares what has a name with for equality.
func equalNumbers(rule *asl.ChoiceRule, name string) (numbers []string) {
	if rule.Expression == nil {
		return conditionNumbers(&rule.Condition, name)
	}
	if rule.Expression.Expression == nil {
		return nil
	}
	whole := rule.Expression.Expression.Part()
	forComparisons(&whole, func(p *jsonata.Part) {
		if p.Kind != jsonata.PartBinary || p.Text != "=" {
			return
		}
		for i := range p.Parts {
			n, isNumber := p.Parts[i].Value.(float64)
			f, plain := scope{}.plain(&p.Parts[1-i])
			if isNumber && plain && f.copies && lastName(f.operands[0].inJSONata()) == name {
				numbers = append(numbers, sayNumber(n))
			}
		}
	})
	return numbers
}

func conditionNumbers(c *asl.Condition, name string) (numbers []string) {
	for _, part := range slices.Concat(c.And, c.Or) {
		numbers = append(numbers, conditionNumbers(part, name)...)
	}
	if c.Operator != asl.NumericEquals || c.Variable == nil || lastName(c.Variable.String()) != name {
		return numbers
	}
	if n, isNumber := c.Value.(json.Number); isNumber {
		return append(numbers, n.String())
	}
	if c.ValuePath != nil {
		numbers = append(numbers, c.ValuePath.String())
	}
	return numbers
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
