package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sayStill says which Choice of a loop compares a number or a time which is the same in each turn of a job that runs:
// it looks like a bound, and never ends the loop; empty if there is none.
func (r *reading) sayStill(open *loop) string {
	if r.bounds == nil {
		return ""
	}
	for _, s := range r.Choices {
		if !open.inside[s.Name] || !slices.Contains(r.inner.states, s) {
			continue
		}
		if operands := r.stillIn(s); operands != nil {
			are := "is"
			if len(operands) > 1 {
				are = "are"
			}
			return fmt.Sprintf("%q compares %s, which %s the same in each turn", s.Name, list(operands), are)
		}
	}
	return ""
}

// stillIn are the operands of a comparison of a Choice that is the same in each turn; nil if there
// is none.
func (r *reading) stillIn(choice *asl.State) []string {
	laps := r.lapsFrom(choice)
	for i := range choice.Choice.Rules {
		for _, compared := range comparisonsIn(&choice.Choice.Rules[i]) {
			if len(laps) > 0 && isStill(laps, compared.formula, r.bounds.loop.states) {
				return compared.names
			}
		}
	}
	return nil
}

// looksAtStill tells whether the loop is bounded only by comparisons that give the same in each turn of a
// job that runs, such as a count that each turn computes anew from the input.
func (r *reading) looksAtStill() bool {
	if r.bounds == nil || r.bounds.foreign {
		return false
	}
	found := false
	for _, s := range r.bounds.loop.states {
		for way, limits := range r.bounds.limits[s] {
			if limits && !r.isStillRule(s, &s.Choice.Rules[way.Rule]) {
				return false
			}
			found = found || limits
		}
	}
	return found
}

// isStillRule tells whether a rule of a Choice is a single comparison whose operands no turn of the loop
// changes, and no state beside the turns sets.
func (r *reading) isStillRule(choice *asl.State, rule *asl.ChoiceRule) bool {
	all, laps := comparisonsIn(rule), r.lapsFrom(choice)
	if t := readRule(rule); len(all) != 1 || len(laps) == 0 || len(t.any) > 0 || len(t.all) > 0 {
		return false
	}
	states := r.bounds.loop.states
	beside := slices.DeleteFunc(slices.Clone(states), func(s *asl.State) bool {
		return slices.ContainsFunc(laps, func(lap []hop) bool { return slices.ContainsFunc(lap, func(h hop) bool { return h.state == s }) })
	})
	return isStill(laps, all[0].formula, states) && !slices.ContainsFunc(all[0].formula.operands, func(o operand) bool {
		return slices.ContainsFunc(beside, func(s *asl.State) bool { return sets(s, o, states) })
	})
}

// lapsFrom are the laps of a job that runs, from a state on.
func (r *reading) lapsFrom(s *asl.State) [][]hop { return r.lapsOf(r.pollingValues(), s) }

// lapsOf are the laps of a job that has one of some statuses, from a state on.
func (r *reading) lapsOf(values []string, s *asl.State) [][]hop {
	var laps [][]hop
	for _, value := range values {
		for _, way := range r.routes[value] {
			if i := slices.IndexFunc(way.hops, func(h hop) bool { return h.state == s }); i >= 0 && way.ends == PollsOn {
				laps = append(laps, slices.Concat(way.hops[i:], way.hops[:i]))
			}
		}
	}
	return laps
}

// compared is a comparison by size.
type compared struct {
	formula formula
	names   []string // as the definition has them
}

// comparisonsIn are the comparisons of numbers and times in a rule that look at something.
func comparisonsIn(r *asl.ChoiceRule) []compared {
	var all []compared
	switch {
	case r.Expression == nil:
		all = appendConditions(all, &r.Condition)
	case r.Expression.Expression != nil:
		whole := r.Expression.Expression.Part()
		forComparisons(&whole, func(p *jsonata.Part) {
			if p.Kind != jsonata.PartBinary || !slices.Contains([]string{"<", "<=", ">", ">="}, p.Text) {
				return
			}
			found := compared{formula: scope{}.expression(p, nil)}
			for _, o := range found.formula.operands {
				found.names = append(found.names, o.inJSONata())
			}
			all = append(all, found)
		})
	}
	return slices.DeleteFunc(all, func(c compared) bool { return len(c.names) == 0 })
}

func appendConditions(all []compared, c *asl.Condition) []compared {
	if c.Not != nil {
		all = appendConditions(all, c.Not)
	}
	for _, part := range slices.Concat(c.And, c.Or) {
		all = appendConditions(all, part)
	}
	if operator := string(c.Operator); !strings.HasPrefix(operator, "Numeric") && !strings.HasPrefix(operator, "Timestamp") {
		return all
	}
	var found compared
	for _, path := range []*jsonpath.Path{c.Variable, c.ValuePath} {
		if path != nil {
			found.formula = found.formula.with(scope{}.path(path))
			found.names = append(found.names, path.String())
		}
	}
	return append(all, found)
}

// isStill tells whether a formula gives the same in each of some laps, and no state of the loop sets
// what it is made of on another way, such as that to the next job.
func isStill(laps [][]hop, f formula, states []*asl.State) bool {
	return !moving().MatchString(f.text) && !slices.ContainsFunc(f.operands, func(o operand) bool { return !staysSame(laps, o, states, nil) })
}

// staysSame tells whether no lap changes an operand, or computes it anew of more than what no lap
// changes. The operands in path depend on it.
func staysSame(laps [][]hop, o operand, states []*asl.State, path []string) bool {
	if slices.Contains(path, o.String()) {
		return false
	}
	path = append(slices.Clip(path), o.String())
	kept := true
	for _, lap := range laps {
		t := traceBack(lap, o)
		if t.text == o.String() {
			continue
		}
		kept = false
		if t.moves || moving().MatchString(t.text) || slices.ContainsFunc(t.from, func(from operand) bool { return !staysSame(laps, from, states, path) }) {
			return false
		}
	}
	return !kept || !slices.ContainsFunc(states, func(s *asl.State) bool { return sets(s, o, states) })
}

// sets tells whether a state gives an operand another value on a way that stays in the loop. The
// output of an error is none.
func sets(s *asl.State, o operand, states []*asl.State) bool {
	return slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool {
		if !slices.ContainsFunc(states, func(to *asl.State) bool { return to.Name == way.To }) {
			return false
		}
		f := hop{s, way}.origin(o)
		return f.text != "error" && (!f.copies || f.operands[0].String() != o.String())
	})
}

// moving matches a formula that may give something else each time.
var moving = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)result of |error|EnteredTime|RetryCount|millis|now|random|uuid|` +
		`\$\$\.(State|Task|Map)\b|context\.(State|Task|Map)\b|^context$|^\$\$$`)
})
