package fix

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// leadToJudge leads the values to another Choice to which this one leads: that may tell how the
// job ended.
func (e *statusEdit) leadToJudge() {
	for _, s := range e.loop.Choices {
		rules := nodeAt(e.root, s.Position.Pointer).Get("Choices")
		if rules == nil {
			continue
		}
		for _, next := range e.judgesBehind(s) {
			for i, rule := range rules.Items {
				for _, operand := range operandsOf(rule) {
					e.add(e.rulesBefore(s, i, operand, next)...)
				}
			}
		}
	}
}

// judgesBehind are the other Choice states that a Choice leads to.
func (e *statusEdit) judgesBehind(s *asl.State) []string {
	var names []string
	for _, way := range s.Transitions() {
		if to := stateOf(e.machine, way.To); to != nil && to.Choice != nil && to != s && !slices.Contains(names, way.To) {
			names = append(names, way.To)
		}
	}
	return names
}
