package trial_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A change is judged by each run: outside of the frame nothing may differ, and inside of it
// a run must get better and let other flows be.
func TestObjections(t *testing.T) {
	t.Parallel()
	cancelled := trial.Kind{Task: "Look", Sort: trial.Status, Value: "CANCELLED"}
	stays := trial.Kind{Task: "Look", Sort: trial.Never, Value: "CANCELLED"}
	bare := trial.Kind{Task: "Look", Sort: trial.Bare}
	two := trial.Kind{Task: "Look", Sort: trial.Status, Value: "Crawler.State READY, Crawler.LastCrawl.Status FAILED"}
	ends := func(status, err string) trial.Outcome { return trial.Outcome{Status: status, Error: err} }
	good, bad := ends("SUCCEEDED", ""), ends("FAILED", "Job.Failed")
	broken, pollsOn := ends("FAILED", "States.Runtime"), ends(trial.PollsOn, "")
	otherEnd := []trial.Difference{{What: trial.End, Before: "x", After: "y"}}
	call := func(what trial.What, after string, beside bool) []trial.Difference {
		return []trial.Difference{{What: what, Before: "sns:publish", After: after, Beside: beside}}
	}
	for name, c := range map[string]struct {
		kind          trial.Kind
		before, after trial.Outcome
		differs       []trial.Difference
		frame         []trial.Kind
		objected      bool
	}{
		"a difference outside of the frame":              {bare, good, bad, otherEnd, []trial.Kind{cancelled}, true},
		"no difference outside of it":                    {bare, good, good, nil, []trial.Kind{cancelled}, false},
		"a difference inside of it":                      {cancelled, good, bad, otherEnd, []trial.Kind{cancelled}, false},
		"a frame of all Tasks":                           {cancelled, good, bad, otherEnd, []trial.Kind{{Sort: trial.Status, Value: "CANCELLED"}}, false},
		"a frame of another Task":                        {cancelled, good, bad, otherEnd, []trial.Kind{{Task: "Other", Sort: trial.Status}}, true},
		"a frame of another sort":                        {cancelled, good, bad, otherEnd, []trial.Kind{{Task: "Look", Sort: trial.Fails}}, true},
		"a frame of another value":                       {cancelled, good, bad, otherEnd, []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "FAILED"}}, true},
		"a frame of an answer by two members":            {two, good, bad, otherEnd, []trial.Kind{two}, false},
		"a frame of one of two members":                  {two, good, bad, otherEnd, []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "Crawler.LastCrawl.Status FAILED"}}, false},
		"a frame of another value of a member":           {two, good, bad, otherEnd, []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "Crawler.LastCrawl.Status CANCELLED"}}, true},
		"a call of another flow that is lost":            {cancelled, bad, bad, call(trial.Calls, "not made", true), []trial.Kind{cancelled}, true},
		"a call of another flow that is made otherwise":  {cancelled, bad, bad, call(trial.Calls, "sns:publish {}", true), []trial.Kind{cancelled}, false},
		"an attempt of another flow that is not made":    {cancelled, bad, bad, call(trial.Retry, "not made", true), []trial.Kind{cancelled}, false},
		"a call of the same flow that is not made":       {cancelled, bad, bad, call(trial.Calls, "not made", false), []trial.Kind{cancelled}, false},
		"it breaks where it did not":                     {cancelled, good, broken, otherEnd, []trial.Kind{cancelled}, true},
		"it breaks where it did not, and any kind may":   {bare, good, broken, otherEnd, []trial.Kind{{}}, true},
		"it still breaks":                                {cancelled, broken, broken, otherEnd, []trial.Kind{cancelled}, true},
		"it still breaks, by another answer of any kind": {bare, broken, broken, otherEnd, []trial.Kind{{}}, false},
		"it still breaks, by an answer out of the sort":  {bare, broken, broken, otherEnd, []trial.Kind{{}, cancelled}, false},
		"a Task fails":                                   {cancelled, good, ends("FAILED", "States.TaskFailed"), otherEnd, []trial.Kind{cancelled}, false},
		"a time-out":                                     {cancelled, good, ends("FAILED", "States.Timeout"), otherEnd, []trial.Kind{cancelled}, false},
		"an execution that is cut off":                   {cancelled, good, ends("TIMED_OUT", "States.Runtime"), otherEnd, []trial.Kind{cancelled}, false},
		"a job that stays as it does polls on as before": {stays, pollsOn, pollsOn, nil, []trial.Kind{stays}, true},
		"the frame is about its status":                  {stays, pollsOn, pollsOn, nil, []trial.Kind{cancelled, {Task: "Look", Sort: trial.Never, Value: "X"}, stays}, true},
		"the status of a job that stays":                 {stays, pollsOn, pollsOn, otherEnd, []trial.Kind{{}, cancelled}, true},
		"any kind says nothing about a job that stays":   {stays, pollsOn, pollsOn, otherEnd, []trial.Kind{{}}, false},
		"a status that comes after others does not stay": {cancelled, pollsOn, pollsOn, otherEnd, []trial.Kind{cancelled}, false},
		"it polls on where it did not":                   {cancelled, good, pollsOn, otherEnd, []trial.Kind{cancelled}, false},
		"it stops to poll on":                            {stays, pollsOn, bad, otherEnd, []trial.Kind{stays}, false},
		"it polls without a wait":                        {cancelled, good, ends(trial.Endless, ""), otherEnd, []trial.Kind{cancelled}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &trial.Report{Runs: []trial.Run{{Kinds: []trial.Kind{c.kind}, Before: c.before, After: c.after, Differences: c.differs}}}
			require.Equal(t, c.objected, len(r.Objections(c.frame...)) > 0, r.Objections(c.frame...))
		})
	}
	usual := &trial.Report{Runs: []trial.Run{{Usual: []trial.Kind{cancelled}, Before: good, After: bad, Differences: otherEnd}}}
	require.Empty(t, usual.Objections(cancelled), "the frame is about the usual answer")
	require.NotEmpty(t, usual.Objections(bare))
}
