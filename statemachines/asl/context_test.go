package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func TestReadsContext(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"x.$": "$$.State.Name"`:                                     true,
		`"x.$": "$$.State"`:                                          true,
		`"x.$": "$$.State.Name.x"`:                                   true,
		`"x.$": "$$.State.EnteredTime"`:                              false,
		`"x.$": "$$.StateMachine.Name"`:                              false,
		`"x.$": "$$.Execution.Name"`:                                 false,
		`"x.$": "$$"`:                                                true,
		`"x.$": "$$['State']['Name']"`:                               true,
		`"x.$": "$$.*"`:                                              true,
		`"x.$": "$$.Execution['Name']"`:                              false,
		`"x.$": "States.Format('{} {}', $.a, $$.State.Name)"`:        true,
		`"x.$": "$.State.Name"`:                                      false,
		`"x": "{% $states.context.State.Name %}"`:                    true,
		`"x": "{% $string($states.context) %}"`:                      true,
		`"x": "{% $states.context.Execution.Id %}"`:                  false,
		`"x": "{% $states %}"`:                                       true,
		`"x": "{% $lookup($states, 'context') %}"`:                   true,
		`"x": "{% $states.input.State.Name %}"`:                      false,
		`"x": "{% $statesOf.context.State.Name %}"`:                  false,
		`"x": "{% $states.contexts.State.Name & $states.input.a %}"`: false,
	} {
		require.Equal(t, want, asl.ReadsContext(text, "State.Name"), text)
	}
	require.True(t, asl.ReadsContext("$$.Execution.StartTime", "State", "Execution.StartTime"))
}
