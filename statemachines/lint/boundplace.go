package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// placeOf finds where a bound stands: the Choices that look at it, and what they look at, of the
// loop that polls, or else of those around it.
func (c *checker) placeOf(l *loop, r *reading, bound *Bound) (states, operands []string) {
	if states, operands = c.placeIn(l, r, r.inner, bound); len(states) > 0 {
		return states, operands
	}
	return c.placeIn(l, r, l, bound)
}

// placeIn finds the place among the states of a loop, in the rules that stay in it or lead where
// the bound does: others count something else, such as the starts of a job.
func (c *checker) placeIn(l *loop, r *reading, among *loop, bound *Bound) (states, operands []string) {
	b := c.boundsOf(l)
	for _, s := range among.states {
		if s.Choice == nil || !slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return b.limits[s][way] }) ||
			leadsElsewhere(s, among, bound.Route) {
			continue
		}
		for i := range s.Choice.Rules {
			next := s.Choice.Rules[i].Next
			if r.isFixed(s, i) || bound.Route != "" && next != bound.Route && !among.inside[next] {
				continue // it is about something else than the laps of a job that runs
			}
			for _, part := range partsOf(&s.Choice.Rules[i]) {
				if found := c.operandsOfBound(b, bound.Kind, part); found != nil {
					states, operands = append(states, s.Name), append(operands, found...)
				}
			}
		}
	}
	return compact(states), compact(operands)
}

// leadsElsewhere tells whether a Choice of a loop leaves it, and not for where its bound leads.
func leadsElsewhere(s *asl.State, among *loop, route string) bool {
	leaves := slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return !among.inside[way.To] })
	return route != "" && leaves && !slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return way.To == route })
}

// operandsOfBound are what a comparison looks at, if it is one of a bound; nil if it is not.
func (c *checker) operandsOfBound(b *bounds, kind BoundKind, part boundPart) []string {
	switch {
	case kind == ByTime && (part.timed || slices.ContainsFunc(part.operands, c.isTime)):
		return append([]string{}, part.operands...)
	case kind == ByCount || kind == ByOther:
		counts := slices.DeleteFunc(slices.Clone(part.operands), func(name string) bool {
			return !b.counters[lastName(name)] && !b.flags[lastName(name)]
		})
		switch {
		case len(counts) == 0:
			return nil
		case kind == ByOther: // and what the count is compared with
			return part.operands
		default:
			return counts
		}
	}
	return nil
}

// isTime tells whether an expression that gives a name its value reads the clock.
func (c *checker) isTime(operand string) bool {
	return slices.ContainsFunc(c.definitionsOf(operand), ReadsTime)
}

// definitionsOf are the expressions of the machine that give a name its value.
func (c *checker) definitionsOf(operand string) []string {
	var all []string
	for s := range c.machine.All {
		for _, t := range templatesOf(s) {
			forExpressions("", t, func(called, text string) {
				if called != "" && called == lastName(operand) {
					all = append(all, text)
				}
			})
		}
	}
	return compact(all)
}

// ReadsTime tells whether an expression reads the clock, or a time.
func ReadsTime(text string) bool { return clock().MatchString(quoted().ReplaceAllString(text, "''")) }

// compact is a list, each item once, in its order.
func compact[T comparable](list []T) []T {
	var out []T
	for _, item := range list {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// place says where the bound stands; empty if that is not known.
func (b *Bound) place() string {
	if len(b.At) == 0 {
		return ""
	}
	if len(b.By) == 0 || len(b.By) > 2 {
		return " in " + quoteAll(b.At)
	}
	return fmt.Sprintf(" by %s in %s", list(b.By), quoteAll(b.At))
}
