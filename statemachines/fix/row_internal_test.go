package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A machine that sees its job now ends as the job does: well where that succeeds, by itself where it fails.
func TestEndsAsJob(t *testing.T) {
	t.Parallel()
	poll := func(name string) *asl.State { return &asl.State{Name: name} }
	c := &checked{loops: []lint.Loop{
		{},
		{Poll: poll("Look"), Rows: []lint.Row{
			{Meaning: lint.MeansSuccess, Values: []string{"SUCCEEDED"}},
			{Meaning: lint.MeansFailure, Values: []string{"FAILED"}},
			{Meaning: lint.MeansSuccess, Values: []string{"PARTIAL"}, Partial: true},
		}},
		{Poll: poll("Other"), Rows: []lint.Row{{Meaning: lint.MeansFailure, Values: []string{"ODD"}}}},
		{Poll: poll("Ask"), Entry: &catalog.Entry{Job: &catalog.Job{Success: []string{"DONE"}, Failure: []string{"BROKEN"}}}},
		{Poll: poll("Wait"), Entry: &catalog.Entry{}},
		{Poll: poll("Guess")},
	}}
	kind := func(task string, sort trial.Sort, value string) []trial.Kind {
		return []trial.Kind{{Task: task, Sort: sort, Value: value}}
	}
	status := func(value string) []trial.Kind { return kind("Look", trial.Status, value) }
	good, bad, broken := trial.Outcome{Status: "SUCCEEDED", Polls: 1}, trial.Outcome{Status: "FAILED", Error: "Job.Failed", Polls: 1}, trial.Outcome{Status: "FAILED", Error: "States.Runtime"}
	before, refused, late := trial.Outcome{Status: trial.PollsOn}, trial.Outcome{Status: "FAILED", Error: "Denied"}, trial.Outcome{Status: "TIMED_OUT", Error: "States.Timeout"}
	for name, o := range map[string]struct {
		kinds []trial.Kind
		after trial.Outcome
		ends  bool
	}{
		"all goes well":                       {nil, good, true},
		"all goes well, and it fails":         {nil, bad, false},
		"a success":                           {status("SUCCEEDED"), good, true},
		"a success that fails":                {status("SUCCEEDED"), bad, false},
		"a failure":                           {status("FAILED"), bad, true},
		"a failure that succeeds":             {status("FAILED"), good, false},
		"a failure that breaks":               {status("FAILED"), broken, false},
		"a failure after a success":           {append(status("SUCCEEDED"), status("FAILED")...), bad, true},
		"a part that fails":                   {status("PARTIAL"), bad, true},
		"a status that the machine knows":     {status("ODD"), good, true},
		"such a status that breaks":           {status("ODD"), broken, false},
		"a failure of a job without a table":  {kind("Ask", trial.Status, "BROKEN"), good, false},
		"a success of a job without a table":  {kind("Ask", trial.Status, "DONE"), bad, false},
		"a waiter without a table":            {kind("Wait", trial.Status, "FAILED"), good, true},
		"a loop of which nobody knows a job":  {kind("Guess", trial.Status, "FAILED"), good, true},
		"a job that stays, and is given up":   {kind("Look", trial.Never, "RUNNING"), bad, true},
		"a job that stays, and succeeds":      {kind("Look", trial.Never, "RUNNING"), good, false},
		"a job that stays, and breaks":        {kind("Look", trial.Never, "RUNNING"), broken, false},
		"an error that the execution tells":   {kind("Look", trial.Fails, "Denied"), refused, true},
		"an error that is caught":             {kind("Look", trial.Fails, "Denied"), good, true},
		"an error that another one hides":     {kind("Look", trial.Fails, "Denied"), bad, false},
		"a call that times out":               {kind("Look", trial.Fails, "States.Timeout"), late, false},
		"no answer of a worker":               {kind("Tell", trial.Silent, ""), good, false},
		"two items, the last of which is odd": {append(kind("Look", trial.Items, "Jobs[0] SUCCEEDED and [1] ODD"), status("ODD")...), good, false},
	} {
		require.Equal(t, o.ends, c.endsAsJob(&trial.Run{Kinds: o.kinds, Before: before, After: o.after}), name)
	}
	require.False(t, c.endsAsJob(&trial.Run{Before: good, After: good}), "it did so before")
}
