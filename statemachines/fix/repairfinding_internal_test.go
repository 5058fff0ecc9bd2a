package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A state stays as it is if no edit is in it: one in front of it, or of the machine, is not.
func TestIsTouched(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "TimeoutSeconds": 60, "States": {"Look": {"Type": "Pass", "Next": "Done"}, "Done": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	c := &checked{machine: m}
	for name, o := range map[string]struct {
		edit    edit.Edit
		touched bool
	}{
		"another value":                {edit.Edit{Op: edit.Replace, At: "/States/Look/Next"}, true},
		"another state in its place":   {edit.Edit{Op: edit.Replace, At: "/States/Look"}, true},
		"a member in front of another": {edit.Edit{Op: edit.Before, At: "/States/Look/Next"}, true},
		"a state in front of it":       {edit.Edit{Op: edit.Before, At: "/States/Look"}, false},
		"a value of another state":     {edit.Edit{Op: edit.Remove, At: "/States/Done/Type"}, false},
		"a value of the machine":       {edit.Edit{Op: edit.Replace, At: "/TimeoutSeconds"}, false},
	} {
		require.Equal(t, o.touched, c.isTouched("Look", []edit.Edit{{Op: edit.Replace, At: "/TimeoutSeconds"}, o.edit}), name)
	}
}

// A finding was hidden by a wrong word, unless it is about the right one, or about values of a state that changes.
func TestIsUncovered(t *testing.T) {
	t.Parallel()
	finding := func(rule, suggestion string, subjects ...string) lint.Finding {
		f := lint.Finding{}
		f.Rule, f.Suggestion, f.Subjects = rule, suggestion, subjects
		return f
	}
	word := finding(typecheck.EnumValue, "SUCCEEDED", "SUCCESS")
	for name, o := range map[string]struct {
		found             lint.Finding
		stays, isOrdinary bool // in a state that stays, and in one that does not
	}{
		"another wrong word":                  {finding(typecheck.EnumValue, "FAILED", "FAILD"), true, true},
		"another wrong word for the same":     {finding(typecheck.EnumValue, "SUCCEEDED", "SUCCEEDED"), true, true},
		"a member that may be absent":         {finding(typecheck.AbsentMember, ""), true, true},
		"what happens to the right word":      {finding(lint.StatusPollsOn, "", "SUCCEEDED"), false, false},
		"what happens to another status":      {finding(lint.StatusPollsOn, "", "STOPPED"), true, true},
		"no bound":                            {finding(lint.UnboundedLoop, ""), true, true},
		"another rule of the state":           {finding(lint.ShortInterval, ""), true, false},
		"a value that does not fit":           {finding(typecheck.ArgumentType, "", "JobName"), false, false},
		"a comparison that no answer gets to": {finding(typecheck.NeverHolds, "", "DONE"), true, true},
		"a comparison of a number":            {finding(typecheck.NeverHolds, ""), false, false},
	} {
		require.Equal(t, o.stays, isUncovered(o.found, word, true), name)
		require.Equal(t, o.isOrdinary, isUncovered(o.found, word, false), name)
	}
}

// A pace breaks the machine if a run at it ends without a wait, and none does at the new one.
func TestBreaksOnPace(t *testing.T) {
	t.Parallel()
	stays := trial.Kind{Task: "Look", Sort: trial.Never, Value: "RUNNING"}
	other := trial.Kind{Task: "Ask", Sort: trial.Never, Value: "RUNNING"}
	hot, slow := trial.Outcome{Status: trial.Endless}, trial.Outcome{Status: trial.PollsOn}
	for name, o := range map[string]struct {
		atOnce        bool
		kind          trial.Kind
		before, after trial.Outcome
		want          bool
	}{
		"it waits now":            {true, stays, hot, slow, true},
		"it still does not wait":  {true, stays, hot, hot, false},
		"it waited":               {true, stays, slow, slow, false},
		"the calls may take time": {false, stays, hot, slow, false},
		"the job of another loop": {true, other, hot, slow, false},
	} {
		c := &candidate{atOnce: o.atOnce, frame: []trial.Kind{stays}}
		report := &trial.Report{Runs: []trial.Run{{Kinds: []trial.Kind{o.kind}, Before: o.before, After: o.after}}}
		require.Equal(t, o.want, c.breaksOnPace(report), name)
	}
}

// A loop that lint takes for one without a bound has an end if a run of a job that stays ends by itself.
func TestEndOfLoop(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "Ask"},
		"Ask": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:f", "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s", "StringEquals": "OK", "Next": "Good"}], "Default": "Look"},
		"Good": {"Type": "Succeed"}}}`))
	require.NoError(t, err)
	look, ask, choice := m.State("Look"), m.State("Ask"), m.State("Done?")
	loop := func(poll *asl.State, states ...*asl.State) lint.Loop {
		return lint.Loop{Flow: &m.Flow, Poll: poll, States: states, Choices: []*asl.State{choice}, Rows: []lint.Row{
			{Ends: lint.PollsOn, Values: []string{"RUNNING"}}, {Ends: lint.EndsFailure, Values: []string{"FAILED"}},
		}}
	}
	alone := []lint.Loop{loop(look, look, choice)}
	of := func(kind trial.Kind, before trial.Outcome) *trial.Report {
		return &trial.Report{Runs: []trial.Run{{Script: "it", Kinds: []trial.Kind{kind}, Before: before}}}
	}
	run := func(value string, before trial.Outcome) *trial.Report {
		return of(trial.Kind{Task: "Look", Sort: trial.Never, Value: value}, before)
	}
	given := trial.Outcome{Status: "FAILED", Error: "Gave.Up"}
	for name, o := range map[string]struct {
		loops  []lint.Loop
		report *trial.Report
		ends   bool
	}{
		"it gives up":                     {alone, run("RUNNING", given), true},
		"it polls on":                     {alone, run("RUNNING", trial.Outcome{Status: trial.PollsOn}), false},
		"a status that ends the loop":     {alone, run("FAILED", given), false},
		"a status without a row":          {alone, run("ODD", given), false},
		"a job that goes on":              {alone, of(trial.Kind{Task: "Look", Sort: trial.Status, Value: "RUNNING"}, given), false},
		"a job of another poll":           {alone, of(trial.Kind{Task: "Ask", Sort: trial.Never, Value: "RUNNING"}, given), false},
		"another poll in the loop":        {[]lint.Loop{loop(look, look, ask, choice), loop(ask, ask)}, run("RUNNING", given), false},
		"another poll elsewhere":          {[]lint.Loop{loop(look, look, choice), loop(ask, ask)}, run("RUNNING", given), true},
		"a second table of the same poll": {[]lint.Loop{loop(look, look, choice), loop(look, look, choice)}, run("RUNNING", given), true},
		"a loop beside it has no table":   {[]lint.Loop{loop(look, look, choice), loop(nil, look)}, run("RUNNING", given), true},
		"the loop itself has no table":    {[]lint.Loop{loop(nil, look, choice)}, run("RUNNING", given), false},
		"it is no loop any more":          {nil, run("RUNNING", given), false},
	} {
		f := lint.Finding{}
		f.Rule, f.Pointer = lint.UnboundedLoop, choice.Position.Pointer
		c := &checked{machine: m, loops: o.loops}
		require.Equal(t, o.ends, c.endOfLoop(o.report, f) != "", name)
		f.Rule = lint.StatusPollsOn
		require.Empty(t, c.endOfLoop(o.report, f), "%s, of another finding", name)
	}
}
