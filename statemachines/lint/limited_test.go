package lint_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// limited is a loop that TimeoutSeconds, or another branch, ends.
type limited struct {
	limit, wait int
	before      int // seconds of a Wait in front of the loop; 0 for none
	waits       bool
	branch      bool
}

// text is the definition of the loop.
func (c limited) text() string {
	enter := "Get"
	if c.waits {
		enter = "Wait"
	}
	start, before := enter, ""
	if c.before > 0 {
		start, before = "Settle", fmt.Sprintf(`"Settle": {"Type": "Wait", "Seconds": %d, "Next": %q},`, c.before, enter)
	}
	loop := fmt.Sprintf(`"StartAt": %q, "States": {%s
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:sfn:describeExecution", "Parameters": {"ExecutionArn": "e"}, "ResultPath": "$.d",
			"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.d.Status", "StringEquals": "SUCCEEDED", "Next": "Ok"},
			{"Variable": "$.d.Status", "StringEquals": "RUNNING", "Next": "Wait"}], "Default": "Ko"},
		"Wait": {"Type": "Wait", "Seconds": %d, "Next": "Get"}, "Ok": {"Type": "Succeed"}, "Ko": {"Type": "Fail"}}`, start, before, c.wait)
	if !c.branch {
		return fmt.Sprintf(`{"TimeoutSeconds": %d, %s}`, c.limit, loop)
	}
	return fmt.Sprintf(`{"StartAt": "Race", "States": {"Race": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "Sand", "States": {"Sand": {"Type": "Wait", "Seconds": %d, "Next": "Ring"}, "Ring": {"Type": "Fail", "Error": "Ring"}}}, {%s}]}}}`, c.limit, loop)
}

// Until its TimeoutSeconds or another branch ends it, a loop takes as many polls and transitions as in a
// run of the machine, whether it polls or waits first, and whatever it waits for before.
func TestPollsUntilALimitAreThoseOfARun(t *testing.T) {
	t.Parallel()
	var all []limited
	for i, limit := range []int{61, 100, 119, 120, 121, 180, 599, 600, 3600, 5000} {
		for n, wait := range []int{7, 45, 60} {
			for k, before := range []int{0, 7, 50} {
				draw := i + n + k
				all = append(all, limited{limit, wait, before, draw%2 == 0, draw%3 == 0})
			}
		}
	}
	for _, c := range race.OneIn(6, all) {
		m, err := asl.Parse([]byte(c.text()))
		require.NoError(t, err, c.text())
		ran, err := sim.Run(t.Context(), m, []byte("{}"), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
			return sim.Reply{Output: map[string]any{"Status": "RUNNING"}}, nil
		}})
		require.NoError(t, err)
		bound := lint.Loops(m, lint.Options{})[0].Bound
		require.Equal(t, map[bool]lint.BoundKind{false: lint.ByTimeout, true: lint.ByBranch}[c.branch], bound.Kind, "%+v", c)
		require.Equal(t, ran.Calls["Get"], bound.Polls, "%+v", c)
		require.Equal(t, ran.Visits["Get"]+ran.Visits["Done?"]+ran.Visits["Wait"], bound.Transitions, "%+v", c)
		require.InDelta(t, ran.Stop.Sub(ran.Start), bound.After, float64(time.Second), "%+v", c)
	}
}
