package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// What AWS takes though it looks wrong, its own samples among it.
func TestWhatAWSTakesRuns(t *testing.T) {
	t.Parallel()
	own := run(t, `{"StartAt": "P", "States": {
		"P": {"Type": "Parallel", "Branches": [{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "States.RanOutOfTime"}}}],
			"Catch": [{"ErrorEquals": ["States.RanOutOfTime"], "ResultPath": null, "Next": "Z"}], "End": true},
		"Z": {"Type": "Succeed"}}}`, `{}`, nil, sim.Options{})
	require.Equal(t, sim.StatusSucceeded, own.Status, "an error name of one's own that begins with States.")

	retried := run(t, task(`, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 0, "MaxAttempts": 2000}]`), `{}`, failsWith("E", ""), sim.Options{})
	require.Equal(t, sim.StatusFailed, retried.Status)
	require.Zero(t, retried.Duration(), "an interval of 0 stays 0, however often it doubles")

	blank := run(t, `{"StartAt": "S", "States": {"S": {"Type": "Pass", "Parameters": {"name.$": "$$.State.Name "}, "End": true}}}`, `{}`, nil, sim.Options{})
	require.JSONEq(t, `{"name": "S"}`, string(blank.Output))

	sum := run(t, `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 5, "Next": "S"},
		"S": {"Type": "Pass", "Parameters": {"sum.$": "$.x.sum()"}, "End": true}}}`, `{"x": [1, 2]}`, nil, sim.Options{})
	require.Equal(t, "States.Runtime", sum.Error, "a path function fails when it is reached")
	require.Equal(t, 5*time.Second, sum.Duration())
}
