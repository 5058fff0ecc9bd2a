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
		"a failure that a request tells":      {status("FAILED"), trial.Outcome{Status: "FAILED", Error: "States.Http.StatusCode.500", Polls: 1}, true},
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

// A word that lets a machine see a member ends jobs by its bound, and successes where another member
// sends them.
func TestEndsAsWritten(t *testing.T) {
	t.Parallel()
	split := []string{"Good", "Bad"}
	c := &checked{loops: []lint.Loop{
		{Rows: []lint.Row{{Meaning: lint.MeansFailure, Ends: lint.EndsFailure, Values: []string{"RUNNING", "SPLIT"}}}},
		{Poll: &asl.State{Name: "Other"}, Rows: []lint.Row{{Meaning: lint.MeansFailure, Ends: lint.EndsFailure, Values: []string{"RUNNING", "SPLIT"}}}},
		{Poll: &asl.State{Name: "Look"}, Rows: []lint.Row{
			{Meaning: lint.MeansRunning, Ends: lint.PollsOn, Values: []string{"RUNNING"}},
			{Meaning: lint.MeansEnding, Ends: lint.PollsOn, Values: []string{"STOPPING"}},
			{Meaning: lint.MeansRunning, Ends: lint.EndsFailure, Values: []string{"HELD"}},
			{Meaning: lint.MeansFailure, Ends: lint.PollsOn, Values: []string{"FAILED"}},
			{Meaning: lint.MeansSuccess, Ends: lint.GoesOn, Routes: split, Values: []string{"SPLIT"}},
			{Meaning: lint.MeansSuccess, Ends: lint.GoesOn, Routes: split[:1], Values: []string{"ONE_WAY"}},
			{Meaning: lint.MeansSuccess, Ends: lint.EndsSuccess, Routes: split, Values: []string{"SUCCEEDED"}},
			{Meaning: lint.MeansFailure, Ends: lint.GoesOn, Routes: split, Values: []string{"PARTIAL"}},
		}},
	}}
	kinds := func(sort trial.Sort, value string) []trial.Kind {
		return []trial.Kind{{Task: "Look", Sort: sort, Value: value}}
	}
	given := trial.Outcome{Status: "FAILED", Error: "Wait.TimedOut", Asked: 2}
	good, broken := trial.Outcome{Status: "SUCCEEDED", Asked: 2}, trial.Outcome{Status: "FAILED", Error: "States.Runtime", Asked: 2}
	late := trial.Outcome{Status: "FAILED", Error: "Wait.TimedOut", Asked: 9}
	for name, o := range map[string]struct {
		run  trial.Run
		ends bool
	}{
		"a job that stays, and is given up":      {trial.Run{Kinds: kinds(trial.Never, "RUNNING"), After: given}, true},
		"given up later than before":             {trial.Run{Kinds: kinds(trial.Never, "RUNNING"), After: late}, true},
		"on its way to an end":                   {trial.Run{Kinds: kinds(trial.Never, "STOPPING"), After: given}, true},
		"a bound that leads to a success":        {trial.Run{Kinds: kinds(trial.Never, "RUNNING"), After: good}, true},
		"it breaks":                              {trial.Run{Kinds: kinds(trial.Never, "RUNNING"), After: broken}, false},
		"it polls on":                            {trial.Run{Kinds: kinds(trial.Never, "RUNNING"), After: trial.Outcome{Status: trial.PollsOn}}, false},
		"a rule fails it":                        {trial.Run{Kinds: kinds(trial.Never, "HELD"), After: given}, false},
		"a failure that polls on":                {trial.Run{Kinds: kinds(trial.Never, "FAILED"), After: given}, false},
		"a job that runs when its bound is over": {trial.Run{Kinds: kinds(trial.Status, "RUNNING"), Left: kinds(trial.Status, "RUNNING")[0], After: given}, true},
		"one more poll, and then":                {trial.Run{Kinds: kinds(trial.Status, "RUNNING"), Left: kinds(trial.Status, "RUNNING")[0], After: late}, false},
		"the first of two statuses stays":        {trial.Run{Kinds: append(kinds(trial.Never, "RUNNING"), kinds(trial.Status, "FAILED")...), After: given}, false},
		"a success with two ways":                {trial.Run{Kinds: kinds(trial.Status, "SPLIT"), After: given}, true},
		"all goes well":                          {trial.Run{Usual: kinds(trial.Status, "SPLIT"), After: given}, true},
		"a success with one way":                 {trial.Run{Kinds: kinds(trial.Status, "ONE_WAY"), After: given}, false},
		"a success that ends":                    {trial.Run{Kinds: kinds(trial.Status, "SUCCEEDED"), After: given}, false},
		"a failure with two ways":                {trial.Run{Kinds: kinds(trial.Status, "PARTIAL"), After: given}, false},
		"a success with two ways that succeeds":  {trial.Run{Kinds: kinds(trial.Status, "SPLIT"), After: good}, false},
		"a status without a row":                 {trial.Run{Kinds: kinds(trial.Status, "ODD"), After: given}, false},
	} {
		o.run.Before = trial.Outcome{Status: trial.PollsOn, Asked: 2}
		if o.run.Left == (trial.Kind{}) {
			o.run.Left = trial.Kind{Task: "Look"}
		}
		require.Equal(t, o.ends, c.endsAsWritten(&o.run), name)
	}
}

// A run without an answer that varies reads as a sentence.
func TestUnderScript(t *testing.T) {
	t.Parallel()
	require.Equal(t, "where all goes well", underScript(&trial.Run{Script: trial.AllWell}))
	require.Equal(t, "with status FAILED", underScript(&trial.Run{Script: "status FAILED"}))
}

// A bound is offered where calls that fail are all that shows it: one run of a job that goes on, and ends with it, shows it, too.
func TestFailsAlone(t *testing.T) {
	t.Parallel()
	polls, ended := trial.Outcome{Status: trial.PollsOn}, func(r *trial.Run) bool { return r.After.Status == "FAILED" }
	failing := trial.Run{Kinds: []trial.Kind{{Task: "Look", Sort: trial.Fails, Value: "Throttled"}}, Before: polls, After: badEnd}
	for name, c := range map[string]struct {
		counts bool
		run    trial.Run
		want   bool
	}{
		"no other run":                     {true, failing, true},
		"a bound of errors alone":          {false, failing, false},
		"a job that goes on and ends":      {true, trial.Run{Before: polls, After: badEnd}, false},
		"a job that goes on and on":        {true, trial.Run{Before: polls, After: polls}, true},
		"a job that ends in both machines": {true, trial.Run{Before: badEnd, After: badEnd}, true},
	} {
		tried := &candidate{counts: c.counts, mended: ended}
		require.Equal(t, c.want, tried.failsAlone(&trial.Report{Runs: []trial.Run{failing, c.run}}), name)
	}
}
