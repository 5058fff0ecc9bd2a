package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// readsOther tells whether a rule of a Choice looks at what is otherValue where the Choice is entered.
func readsOther(s *asl.State, env typecheck.Env) bool {
	return s.Choice != nil && slices.ContainsFunc(s.Choice.Rules, func(rule asl.ChoiceRule) bool {
		return slices.ContainsFunc(operandsOfRule(&rule), func(o operand) bool {
			words, known := valueOf(env, o).Literals()
			return known && slices.Equal(words, []string{otherValue})
		})
	})
}
