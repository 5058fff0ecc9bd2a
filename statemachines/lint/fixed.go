package lint

import (
	"maps"
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
	values := r.pollingValues()
	if values[0] == "" { // a job that runs makes no lap, and others may
		values = slices.Sorted(maps.Keys(r.routes))
	}
	for _, lap := range r.lapsOf(values, s) {
		fixed = fixed && !slices.ContainsFunc(operands, func(o operand) bool { return traceBack(lap, o).text != o.String() })
	}
	return fixed
}
