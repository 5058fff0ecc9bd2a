package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// isFixed tells whether no lap of a job that runs changes what a rule looks at.
func (r *reading) isFixed(s *asl.State, rule int) bool {
	if r.status == nil || r.Retries || s.Choice == nil || rule >= len(s.Choice.Rules) {
		return false
	}
	operands := operandsOfRule(&s.Choice.Rules[rule])
	fixed := len(operands) > 0 && !readRule(&s.Choice.Rules[rule]).has(func(t *test) bool { return t.time })
	for _, value := range r.pollingValues() {
		for _, way := range r.routes[value] {
			i := slices.IndexFunc(way.hops, func(h hop) bool { return h.state == s })
			if way.ends != PollsOn || i < 0 {
				continue
			}
			lap := slices.Concat(way.hops[i:], way.hops[:i])
			fixed = fixed && !slices.ContainsFunc(operands, func(o operand) bool { return traceBack(lap, o).text != o.String() })
		}
	}
	return fixed
}
