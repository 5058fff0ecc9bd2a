package localrun

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A transition that was not taken is named by the field that has it, where another one leads to the same state and
// may have been taken.
func TestTransitionsToTheSameState(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "B",
			"Catch": [{"ErrorEquals": ["X"], "Next": "Bad"}, {"ErrorEquals": ["Y"], "Next": "B"}]},
		"B": {"Type": "Choice", "Choices": [
			{"Variable": "$.s", "StringEquals": "GOOD", "Next": "Good"},
			{"Variable": "$.s", "StringEquals": "LATE", "Next": "Bad"},
			{"Variable": "$.s", "StringEquals": "GONE", "Next": "Bad"}], "Default": "Good"},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err)
	c := newCoverage(m, &sim.Result{Visits: map[string]int{"A": 1, "B": 1, "Good": 1}, Edges: map[sim.Edge]int{
		{From: "A", To: "B"}: 1, {From: "B", To: "Good", Kind: asl.TransitionRule}: 1,
	}})
	require.Equal(t, []string{
		"A -> Bad", "A -> B (Catch/1)", "B -> Bad (Choices/1)", "B -> Bad (Choices/2)", "B -> Good (Default)",
	}, c.TransitionsMissing)
	require.Equal(t, 7, c.Transitions)
	require.Equal(t, 2, c.TransitionsTaken)
}
