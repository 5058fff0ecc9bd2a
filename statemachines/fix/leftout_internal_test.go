package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// Ends of a run.
var (
	goodEnd   = trial.Outcome{Status: "SUCCEEDED", Polls: 1, Asked: 1}
	badEnd    = trial.Outcome{Status: "FAILED", Error: "Bad", Polls: 1, Asked: 1}
	brokenEnd = trial.Outcome{Status: "FAILED", Error: "States.Runtime", Polls: 1, Asked: 1}
	laterEnd  = trial.Outcome{Status: "FAILED", Error: "Bad", Polls: 2, Asked: 2}
)

// An edit that leaves out a call between two equal ends drops a step of the user's own.
func TestLeavesOutCall(t *testing.T) {
	t.Parallel()
	left := trial.Difference{What: trial.Calls, Task: "Clean"}
	for name, o := range map[string]struct {
		before, after trial.Outcome
		difference    trial.Difference
		want          bool
	}{
		"two failures":               {badEnd, badEnd, left, true},
		"two successes":              {goodEnd, goodEnd, left, true},
		"a success that fails now":   {goodEnd, badEnd, left, false},
		"a failure that succeeds":    {badEnd, goodEnd, left, false},
		"an error of the engine":     {brokenEnd, badEnd, left, false},
		"an error that succeeds":     {brokenEnd, goodEnd, left, false},
		"a failure that comes later": {laterEnd, badEnd, left, false},
		"a call that is added":       {badEnd, badEnd, trial.Difference{What: trial.Calls}, false},
		"a call of another branch":   {badEnd, badEnd, trial.Difference{What: trial.Calls, Task: "Clean", Beside: true}, false},
		"another cause":              {badEnd, badEnd, trial.Difference{What: trial.Cause}, false},
	} {
		run := trial.Run{Before: o.before, After: o.after, Differences: []trial.Difference{o.difference}}
		require.Equal(t, o.want, leavesOutCall(&run, ""), name)
		require.False(t, leavesOutCall(&run, "Clean"), "%s of the Task that is retried less often", name)
	}
}

// No end that is right excuses a call that is left out.
func TestTellRunsRefusesACallThatIsLeftOut(t *testing.T) {
	t.Parallel()
	failed := trial.Kind{Task: "Look", Sort: trial.Status, Value: "FAILED"}
	tried := &candidate{about: "status FAILED", frame: []trial.Kind{failed}, mended: func(*trial.Run) bool { return true }}
	run := func(d trial.Difference) *trial.Report {
		return &trial.Report{Runs: []trial.Run{{
			Script: "status FAILED", Kinds: []trial.Kind{failed}, Before: badEnd, After: badEnd, Differences: []trial.Difference{d},
		}}}
	}
	_, err := (&checked{}).tellRuns(tried, run(trial.Difference{What: trial.Calls, Task: "Clean", Before: "Clean", After: "not made"}))
	require.ErrorContains(t, err, "the smallest edit changes more: with status FAILED")
	_, err = (&checked{}).tellRuns(tried, run(trial.Difference{What: trial.Cause}))
	require.NoError(t, err)
}

// An edit that does not mend leaves the end as it is, or leads to another one.
func TestNotMended(t *testing.T) {
	t.Parallel()
	run := func(after trial.Outcome) *trial.Run {
		return &trial.Run{Script: "status FAILED", Before: goodEnd, After: after}
	}
	require.ErrorContains(t, notMended(run(goodEnd)), "with status FAILED, the machine still succeeds")
	require.ErrorContains(t, notMended(run(badEnd)), "with status FAILED, the machine succeeds today, and fails Bad with the edit")
}

// A line tells of each kind of end that statuses of its frame had before.
func TestRowsOfOtherEnds(t *testing.T) {
	t.Parallel()
	status := func(value string) trial.Kind { return trial.Kind{Task: "Look", Sort: trial.Status, Value: value} }
	all := &candidate{about: "status X", frame: []trial.Kind{status("FAILED"), status("CANCELLED"), status("STOPPED")}}
	run := func(before trial.Outcome, kinds ...trial.Kind) trial.Run {
		return trial.Run{Kinds: kinds, Before: before, After: badEnd}
	}
	first := run(laterEnd, status("FAILED"))
	require.Equal(t, "; status CANCELLED: succeeds -> fails Bad", all.rowsOfOtherEnds("", []trial.Run{
		first, run(goodEnd, status("CANCELLED")), run(goodEnd, status("STOPPED")),
	}))
	bare := trial.Kind{Task: "Look", Sort: trial.Bare}
	require.Empty(t, all.rowsOfOtherEnds("", []trial.Run{first, run(goodEnd, status("CANCELLED"), bare)}), "by another member")
	require.Empty(t, all.rowsOfOtherEnds("", []trial.Run{first, run(brokenEnd, status("CANCELLED"))}), "it polled on, or broke, too")
	made := *all
	made.does = "is made again"
	require.Empty(t, made.rowsOfOtherEnds("", []trial.Run{first, run(goodEnd, status("CANCELLED"))}))
}

// A call that only a failure led to, in an execution that succeeded, is named where it is left out.
func TestCallsLeftOut(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Done?", "States": {
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "OK", "Next": "Load"}], "Default": "Tell"},
		"Load": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "Save"},
		"Save": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "End": true},
		"Tell": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "End": true}}}`))
	require.NoError(t, err)
	poll := m.State("Done?")
	c := &checked{machine: m, loops: []lint.Loop{{
		Flow: &m.Flow, Poll: poll, Choices: []*asl.State{poll}, Rows: []lint.Row{{Meaning: lint.MeansSuccess, Routes: []string{"Load"}}},
	}}}
	f := lint.Finding{}
	f.Pointer = poll.Position.Pointer
	report := &trial.Report{}
	for _, task := range []string{"Load", "Save", "Tell"} {
		report.Runs = append(report.Runs, trial.Run{Before: goodEnd, After: badEnd, Differences: []trial.Difference{{What: trial.Calls, Task: task}}})
	}
	require.Equal(t, `; "Tell" is not called any more`, c.callsLeftOut(report, f))
	report.Runs[2].Before = badEnd
	require.Empty(t, c.callsLeftOut(report, f))
}
