package sim_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A run can begin in the middle: with the data and variables of a state, and what is left
// of the time.
func TestBegin(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "A", "TimeoutSeconds": 100, "States": {
		"A": {"Type": "Pass", "Assign": {"n": 1}, "Next": "B"},
		"B": {"Type": "Wait", "Seconds": 60, "Next": "C"},
		"C": {"Type": "Pass", "Parameters": {"n.$": "$n", "x.$": "$.x", "in.$": "$$.Execution.Input"}, "End": true}}}`))
	require.NoError(t, err)
	start := sim.DefaultStart()
	begin := &sim.Beginning{State: "B", Input: []byte(`{"x": 2}`), Variables: map[string]json.RawMessage{"n": []byte("7")}}
	run := func(after time.Duration) *sim.Result {
		r, err := sim.Run(t.Context(), m, []byte(`{"in": 1}`), sim.Options{Clock: sim.NewVirtualClock(start.Add(after)), StartTime: start, Begin: begin})
		require.NoError(t, err)
		return r
	}
	require.JSONEq(t, `{"n": 7, "x": 2, "in": {"in": 1}}`, string(run(30*time.Second).Output))
	require.Equal(t, sim.StatusTimedOut, run(50*time.Second).Status)
	begin.State = "D"
	_, err = sim.Run(t.Context(), m, nil, sim.Options{Begin: begin})
	require.ErrorContains(t, err, `no state "D"`)
}
