package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// An edit with which a status no longer leads to the start of the job drops that, unless it is about the starts.
func TestLosesRestart(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "OK", "Next": "Good"}], "Default": "Look"},
		"Good": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	loop := func(poll string, restarts ...string) lint.Loop {
		return lint.Loop{
			Flow: &m.Flow, Poll: &asl.State{Name: poll}, Choices: []*asl.State{m.State("Done?")},
			Rows: []lint.Row{{Ends: lint.StartsAgain, Values: restarts}, {Ends: lint.PollsOn, Values: []string{"RUNNING"}}},
		}
	}
	of := func(loops ...lint.Loop) *checked { return &checked{machine: m, loops: loops} }
	f := lint.Finding{}
	f.Rule, f.Pointer = lint.StatusPollsOn, m.State("Done?").Position.Pointer
	unnamed := loop("")
	unnamed.Poll = nil
	before := of(loop("Look", "THROTTLED", "PREEMPTED"))
	for name, c := range map[string]struct {
		after *checked
		want  string
	}{
		"both stay":                   {of(loop("Look", "PREEMPTED", "THROTTLED")), ""},
		"one is led elsewhere":        {of(loop("Look", "THROTTLED")), "PREEMPTED"},
		"behind loops of other polls": {of(unnamed, loop("Other"), loop("Look", "PREEMPTED", "THROTTLED")), ""},
		"and one of them is lost":     {of(unnamed, loop("Other", "THROTTLED", "PREEMPTED"), loop("Look", "PREEMPTED")), "THROTTLED"},
		"the loop has no table now":   {of(unnamed, loop("Other")), ""},
		"no loop is left":             {of(), ""},
	} {
		require.Equal(t, c.want, before.losesRestart(c.after, f), name)
	}
	require.Empty(t, of().losesRestart(before, f), "it was no loop")
	require.Empty(t, of(unnamed).losesRestart(before, f), "it had no table")
	f.Rule = lint.RepeatedStart
	require.Empty(t, before.losesRestart(of(loop("Look")), f))
}
