package fix

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A new loop may leave at a failure on the way to an end, and end where the old one polled to its bound.
func TestJudgeEnds(t *testing.T) {
	t.Parallel()
	kind := func(sort trial.Sort, value string) trial.Kind {
		return trial.Kind{Task: "Look", Sort: sort, Value: value}
	}
	cancelled, succeeded, running := kind(trial.Status, "CANCELLED"), kind(trial.Status, "SUCCEEDED"), kind(trial.Status, "RUNNING")
	never, throttled := kind(trial.Never, "RUNNING"), kind(trial.Fails, "Athena.AthenaException")
	ends := func(status, err string, polls int, lasts time.Duration) trial.Outcome {
		return trial.Outcome{Status: status, Error: err, Polls: polls, Lasts: lasts}
	}
	good, bad := ends("SUCCEEDED", "", 1, 0), ends("FAILED", "Job.Failed", 1, 0)
	late := ends("SUCCEEDED", "", 2, 0)
	end := trial.Difference{What: trial.End}
	call := func(after string, beside bool) trial.Difference {
		return trial.Difference{What: trial.Calls, After: after, Beside: beside}
	}
	const refused, nothing = "refused", ""
	for name, c := range map[string]struct {
		kinds         []trial.Kind
		before, after trial.Outcome
		handles       bool
		differs       []trial.Difference
		want          string // the kind of the change
	}{
		"it leaves at a failure":                    {[]trial.Kind{cancelled, succeeded}, late, bad, false, []trial.Difference{end}, nothing},
		"it leaves no earlier":                      {[]trial.Kind{cancelled, succeeded}, late, ends("FAILED", "Job.Failed", 2, 0), false, []trial.Difference{end}, "SUCCEEDED"},
		"it leaves, and makes no call behind":       {[]trial.Kind{cancelled, succeeded}, late, bad, false, []trial.Difference{end, call("not made", false)}, nothing},
		"it leaves, and makes a call":               {[]trial.Kind{cancelled, succeeded}, late, bad, false, []trial.Difference{end, call("Tell", false)}, "SUCCEEDED"},
		"it leaves for a call of a handler":         {[]trial.Kind{cancelled, succeeded}, late, bad, true, []trial.Difference{end, call("Tell", false)}, nothing},
		"it leaves, and another flow makes a call":  {[]trial.Kind{cancelled, succeeded}, late, bad, true, []trial.Difference{end, call("Tell", true)}, "SUCCEEDED"},
		"it leaves for a handler, and succeeds":     {[]trial.Kind{cancelled, succeeded}, ends("FAILED", "Job.Failed", 2, 0), good, true, []trial.Difference{end}, nothing},
		"it leaves, and succeeds without a handler": {[]trial.Kind{cancelled, succeeded}, ends("FAILED", "Job.Failed", 2, 0), good, false, []trial.Difference{end}, "SUCCEEDED"},
		"a failure of another Task":                 {[]trial.Kind{{Task: "Other", Sort: trial.Status, Value: "CANCELLED"}, succeeded}, late, bad, false, []trial.Difference{end}, refused},
		"a job that stays at a failure":             {[]trial.Kind{kind(trial.Never, "CANCELLED"), succeeded}, late, bad, false, []trial.Difference{end}, refused},

		"it failed at its bound":                   {[]trial.Kind{succeeded}, ends("FAILED", "Late", 9, time.Hour), bad, false, []trial.Difference{end}, "SUCCEEDED"},
		"a success that polled on":                 {[]trial.Kind{succeeded}, ends(trial.PollsOn, "", 9, 0), good, false, []trial.Difference{end}, "SUCCEEDED"},
		"it failed before its bound":               {[]trial.Kind{succeeded}, ends("FAILED", "Late", 9, time.Minute), bad, false, []trial.Difference{end}, refused},
		"it succeeded as late as its bound":        {[]trial.Kind{succeeded}, ends("SUCCEEDED", "", 9, time.Hour), bad, false, []trial.Difference{end}, refused},
		"a job that stays, and polls on":           {[]trial.Kind{running, never}, good, ends("FAILED", "Late", 9, 0), false, []trial.Difference{end}, "RUNNING"},
		"a job that stays, and is left":            {[]trial.Kind{running, never}, good, bad, false, []trial.Difference{end}, refused},
		"a job that stays by an unknown answer":    {[]trial.Kind{never}, good, ends("FAILED", "Late", 9, 0), false, []trial.Difference{end}, refused},
		"a caught error that fails, later as well": {[]trial.Kind{throttled}, bad, ends("FAILED", "Other", 2, 0), false, []trial.Difference{end}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts := map[string]pollcore.Verdict{"SUCCEEDED": pollcore.Success, "CANCELLED": pollcore.Failure, "RUNNING": pollcore.Retry}
			j := judge{poll: "Look", handles: c.handles, bound: time.Hour, verdicts: verdicts}
			err := j.read(&trial.Run{Kinds: c.kinds, Before: c.before, After: c.after, Differences: c.differs})
			if c.want == refused {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			if c.want == nothing {
				require.Empty(t, j.changes)
				return
			}
			require.Len(t, j.changes, 1)
			require.Equal(t, c.want, j.changes[0].Kind.Value)
		})
	}
}

// A branch that fails beside the loop ends it at a time that nobody knows: an earlier end is the new loop's own.
func TestJudgeBesideABranch(t *testing.T) {
	t.Parallel()
	late, bad := trial.Outcome{Status: "FAILED", Error: "Beside", Polls: 3}, trial.Outcome{Status: "FAILED", Error: "Job.Failed", Polls: 1}
	for name, c := range map[string]struct {
		before, after trial.Outcome
		declared      bool
	}{
		"it fails earlier":                   {late, bad, true},
		"it fails as late":                   {trial.Outcome{Status: "FAILED", Error: "Beside", Polls: 1}, bad, false},
		"it succeeded, and fails earlier":    {trial.Outcome{Status: "SUCCEEDED", Polls: 3}, bad, false},
		"it fails earlier, without a branch": {late, bad, false},
	} {
		j := judge{poll: "Look", verdicts: map[string]pollcore.Verdict{"SUCCEEDED": pollcore.Success}, beside: name != "it fails earlier, without a branch"}
		err := j.read(&trial.Run{
			Kinds: []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "SUCCEEDED"}}, Before: c.before, After: c.after, Differences: []trial.Difference{{What: trial.End}},
		})
		require.Equal(t, c.declared, err == nil, name)
		require.Equal(t, c.declared, len(j.changes) == 1, name)
	}
}

// A refusal names the error that the compiled loop has no way to where a Fail state of its own takes the place of that.
func TestWhyRefused(t *testing.T) {
	t.Parallel()
	const own = `with a status, the execution fails with "Bad", and the compiled loop does not lead there: it would end in a new Fail state`
	ends := func(status, err string) trial.Outcome { return trial.Outcome{Status: status, Error: err} }
	for name, c := range map[string]struct {
		before, after trial.Outcome
		want          string
	}{
		"a Fail state of its own":           {ends("FAILED", "Bad"), ends("FAILED", "JobPoller.Failed"), own},
		"one of its own before, too":        {ends("FAILED", "JobPoller.Failed"), ends("FAILED", "JobPoller.Failed"), "with a status, "},
		"a Fail state of the machine":       {ends("FAILED", "Bad"), ends("FAILED", "Worse"), "with a status, "},
		"one of its own, for what succeeds": {ends("SUCCEEDED", ""), ends("FAILED", "JobPoller.Failed"), "with a status, "},
	} {
		err := whyRefused(&trial.Run{Script: "a status", Before: c.before, After: c.after, Differences: []trial.Difference{{What: trial.Error}}})
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, c.want == own, strings.Contains(err.Error(), "new Fail state"), name)
	}
}

// A status that polls on is mended where a run shows that it does, and not where the machine left the loop all along.
func TestCheckPolledOn(t *testing.T) {
	t.Parallel()
	cancelled := trial.Kind{Task: "Look", Sort: trial.Status, Value: "CANCELLED"}
	run := func(script string, kind trial.Kind, before, after trial.Outcome) trial.Run {
		return trial.Run{Script: script, Kinds: []trial.Kind{kind}, Before: before, After: after}
	}
	failed := trial.Outcome{Status: "FAILED", Error: "Job.Failed", Polls: 1, Asked: 1}
	left := run(`status CANCELLED at "Look"`, cancelled, trial.Outcome{Status: "SUCCEEDED", Polls: 1, Asked: 1}, failed)
	other := run(`status LOST at "Look"`, trial.Kind{Task: "Look", Sort: trial.Status, Value: "LOST"}, trial.Outcome{Status: trial.PollsOn, Polls: 9}, failed)
	for name, c := range map[string]struct {
		runs []trial.Run
		want string
	}{
		"it polls on":                       {[]trial.Run{left, run("", cancelled, trial.Outcome{Status: trial.PollsOn, Polls: 1}, failed)}, ""},
		"it polls on without a wait":        {[]trial.Run{run("", cancelled, trial.Outcome{Status: trial.Endless, Polls: 1}, failed)}, ""},
		"it polls on to TimeoutSeconds":     {[]trial.Run{run("", cancelled, trial.Outcome{Status: "TIMED_OUT", Polls: 1}, failed)}, ""},
		"it polls on to its bound":          {[]trial.Run{run("", cancelled, trial.Outcome{Status: "FAILED", Error: "Late", Polls: 9}, failed)}, ""},
		"one of several Tasks polls on":     {[]trial.Run{run("", cancelled, trial.Outcome{Status: "FAILED", Polls: 1, Asked: 3}, failed)}, ""},
		"it leaves the loop":                {[]trial.Run{left}, `no trial run polls on as lint says: with status CANCELLED at "Look", the machine succeeds at poll 1 today: look where that leads, and edit it by hand`},
		"it leaves, and another status not": {[]trial.Run{other, left}, "no trial run polls on as lint says"},
		"no run is about it":                {[]trial.Run{other}, ""},
	} {
		err := (&candidate{frame: []trial.Kind{cancelled}}).checkPolledOn(&trial.Report{Runs: c.runs})
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}
