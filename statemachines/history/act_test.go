package history_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// A loop that polled for hours after the end was 0s late: lateness counts until the
// machine acts on the end, not until the first poll that sees it.
func TestLatenessCountsUntilTheMachineActs(t *testing.T) {
	t.Parallel()
	const (
		get  = "arn:aws:states:::aws-sdk:athena:getQueryExecution"
		head = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"}, 
			"Get": {"Type": "Task", "Resource": "` + get + `", "Parameters": {"QueryExecutionId": "q"}, "ResultPath": "$.s", "Next": "Done?"}, `
		state = `"Variable": "$.s.QueryExecution.Status.State", "StringEquals": `
		ended = 25 * time.Second // after the start
	)
	for name, c := range map[string]struct {
		choices           string // of Done?
		statuses          []string
		seen, acted       int // polls
		seenLate, actLate time.Duration
		running           bool
	}{
		"acts at once":       {`{` + state + `"SUCCEEDED", "Next": "End"}, {` + state + `"FROZEN", "Next": "Tell"}`, []string{"RUNNING", "RUNNING", "SUCCEEDED"}, 2, 2, 5 * time.Second, 5 * time.Second, false},
		"does not know it":   {`{` + state + `"SUCCEEDED", "Next": "End"}, {` + state + `"FROZEN", "Next": "Tell"}`, []string{"RUNNING", "RUNNING", "CANCELLED"}, 2, 8, 5 * time.Second, 65 * time.Second, true},
		"never saw it run":   {`{` + state + `"SUCCEEDED", "Next": "End"}, {` + state + `"FROZEN", "Next": "Tell"}`, []string{"CANCELLED"}, 0, 8, 0, 65 * time.Second, true},
		"acts, and polls on": {`{` + state + `"CANCELLED", "Next": "Tell"}, {` + state + `"SUCCEEDED", "Next": "End"}`, []string{"RUNNING", "RUNNING", "CANCELLED"}, 2, 2, 5 * time.Second, 5 * time.Second, true},
		"another run":        {`{` + state + `"NONE", "Next": "End"}, {` + state + `"FROZEN", "Next": "Tell"}`, []string{"RUNNING", "RUNNING", "SUCCEEDED", "SUCCEEDED", "RUNNING"}, 2, 3, 5 * time.Second, 15 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(head + `"Done?": {"Type": "Choice", "Choices": [` + c.choices + `], "Default": "Wait"},
				"End": {"Type": "Succeed"}, "Tell": {"Type": "Pass", "Next": "Wait"}}, "TimeoutSeconds": 95}`))
			require.NoError(t, err)
			n := 0
			r, err := sim.Run(t.Context(), m, []byte(`{}`), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
				status := map[string]any{"State": c.statuses[min(n, len(c.statuses)-1)]}
				if n++; status["State"] != "RUNNING" {
					status["CompletionDateTime"] = sim.DefaultStart().Add(ended).Format(time.RFC3339)
				}
				return sim.Reply{Output: map[string]any{"QueryExecution": map[string]any{"Status": status}}}, nil
			}})
			require.NoError(t, err)
			require.Equal(t, c.running, r.Status == sim.StatusTimedOut)
			e := history.FromRun(m, r)
			jobs := e.FindJobs(e.FindVisits())
			require.Len(t, jobs, 1)
			require.Equal(t, c.seen, jobs[0].EndPoll())
			require.Equal(t, c.acted, jobs[0].ActPoll())
			late, exact, known := jobs[0].DetectionDelay()
			require.True(t, exact && known)
			require.Equal(t, c.seenLate, late)
			late, exact, known = jobs[0].Lateness()
			require.True(t, exact && known)
			require.Equal(t, c.actLate, late)
		})
	}
}
