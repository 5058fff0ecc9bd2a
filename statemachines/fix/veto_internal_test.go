package fix

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A run that differs is declared where the old loop was wrong, and else refused.
func TestJudgeRuns(t *testing.T) {
	t.Parallel()
	kind := func(sort trial.Sort, value string) trial.Kind {
		return trial.Kind{Task: "Look", Sort: sort, Value: value}
	}
	cancelled, missing, never, bare := kind(trial.Status, "CANCELLED"), kind(trial.Status, ""), kind(trial.Never, "RUNNING"), kind(trial.Bare, "")
	items, throttled := kind(trial.Items, "Jobs[0] A and [1] B"), kind(trial.Fails, "Athena.AthenaException")
	ends := func(status, err string, polls int) trial.Outcome {
		return trial.Outcome{Status: status, Error: err, Polls: polls}
	}
	succeeded, running := kind(trial.Status, "SUCCEEDED"), kind(trial.Status, "RUNNING")
	verdicts := map[string]pollcore.Verdict{"SUCCEEDED": pollcore.Success, "CANCELLED": pollcore.Failure, "RUNNING": pollcore.Retry}
	good, bad, pollsOn := ends("SUCCEEDED", "", 1), ends("FAILED", "Job.Failed", 1), ends(trial.PollsOn, "", 1)
	engine := ends("FAILED", "States.Runtime", 1)
	differ := func(all ...trial.What) []trial.Difference {
		var found []trial.Difference
		for _, what := range all {
			found = append(found, trial.Difference{What: what})
		}
		return found
	}
	const refused = "refused"
	for name, c := range map[string]struct {
		kinds         []trial.Kind
		before, after trial.Outcome
		differs       []trial.Difference
		sync          string
		want          string // the kind of the change; empty for none
	}{
		"a failure on the way to another end":          {[]trial.Kind{cancelled, succeeded}, ends("SUCCEEDED", "", 2), bad, differ(trial.End, trial.Output), "", ""},
		"the same, with another poll":                  {[]trial.Kind{cancelled, succeeded}, ends("SUCCEEDED", "", 2), good, differ(trial.Poll, trial.Output), "", refused},
		"the same, with another call":                  {[]trial.Kind{cancelled, running}, ends("FAILED", "Job.Failed", 2), bad, differ(trial.Calls), "", refused},
		"a running item beside one that failed":        {[]trial.Kind{items, cancelled, running}, ends("SUCCEEDED", "", 2), bad, differ(trial.End), "", items.Value},
		"a success beside an item that still runs":     {[]trial.Kind{items, succeeded, running}, trial.Outcome{Status: "SUCCEEDED", Asked: 2}, trial.Outcome{Status: "SUCCEEDED", Asked: 1}, nil, "", refused},
		"a success beside another, earlier":            {[]trial.Kind{items, succeeded}, trial.Outcome{Status: "SUCCEEDED", Asked: 2}, trial.Outcome{Status: "SUCCEEDED", Asked: 1}, nil, "", ""},
		"two items that succeed, and poll on":          {[]trial.Kind{items, succeeded, running}, good, ends("SUCCEEDED", "", 2), differ(trial.Output), "", items.Value},
		"two items that fail with another error":       {[]trial.Kind{items, cancelled, succeeded}, bad, ends("FAILED", "Other", 1), differ(trial.Error), "", items.Value},
		"two items that fail, with another call":       {[]trial.Kind{items, cancelled, succeeded}, bad, bad, differ(trial.Calls), "", refused},
		"two items that do not succeed, and succeed":   {[]trial.Kind{items, cancelled, running}, bad, good, differ(trial.End), "", refused},
		"nothing differs":                              {[]trial.Kind{cancelled}, good, good, nil, "", ""},
		"an end taken for another":                     {[]trial.Kind{cancelled}, good, bad, differ(trial.End), "", "CANCELLED"},
		"a failure that succeeds now":                  {[]trial.Kind{cancelled}, bad, good, differ(trial.End), "", refused},
		"a success that fails now":                     {[]trial.Kind{succeeded}, good, bad, differ(trial.End), "", refused},
		"a success that was taken for a failure":       {[]trial.Kind{succeeded}, bad, good, differ(trial.End), "", "SUCCEEDED"},
		"a running job that failed, and succeeds":      {[]trial.Kind{running}, bad, good, differ(trial.End), "", refused},
		"a running job that failed, and polls on":      {[]trial.Kind{running}, bad, ends("SUCCEEDED", "", 2), differ(trial.End), "", "RUNNING"},
		"a failure that failed, and polls on":          {[]trial.Kind{cancelled}, bad, ends("SUCCEEDED", "", 2), differ(trial.End), "", refused},
		"a status that nobody knows succeeds":          {[]trial.Kind{kind(trial.Status, "ODD")}, bad, good, differ(trial.End), "", refused},
		"a status that nobody knows polls on":          {[]trial.Kind{kind(trial.Status, "ODD")}, bad, ends("SUCCEEDED", "", 2), differ(trial.End), "", "ODD"},
		"a status that nobody knows fails":             {[]trial.Kind{kind(trial.Status, "ODD")}, good, bad, differ(trial.End), "", "ODD"},
		"a failure that broke, and succeeds":           {[]trial.Kind{cancelled}, engine, good, differ(trial.End), "", refused},
		"a failure that polled on, and succeeds":       {[]trial.Kind{cancelled}, pollsOn, good, differ(trial.End), "", refused},
		"a bound that succeeds now":                    {[]trial.Kind{never}, bad, good, differ(trial.End), "", refused},
		"a job that never ends, and succeeds":          {[]trial.Kind{never}, pollsOn, good, differ(trial.End), "", refused},
		"a job that never ends is bounded":             {[]trial.Kind{never}, pollsOn, bad, differ(trial.End), "", "RUNNING"},
		"it polled on":                                 {[]trial.Kind{cancelled}, pollsOn, bad, differ(trial.End), "", "CANCELLED"},
		"it polled without a wait":                     {[]trial.Kind{cancelled}, ends(trial.Endless, "", 1), ends(trial.Endless, "", 1), differ(trial.Calls), "", "CANCELLED"},
		"it was cut off":                               {[]trial.Kind{cancelled}, ends("TIMED_OUT", "", 1), ends("TIMED_OUT", "", 1), differ(trial.Calls), "", "CANCELLED"},
		"it polls on in both":                          {[]trial.Kind{cancelled}, pollsOn, pollsOn, differ(trial.Calls), "", "CANCELLED"},
		"it polls on longer":                           {[]trial.Kind{cancelled}, good, ends("SUCCEEDED", "", 2), differ(trial.Output), "", "CANCELLED"},
		"it polls as often, and ends alike":            {[]trial.Kind{cancelled}, good, good, differ(trial.Output), "", refused},
		"it fails with another error":                  {[]trial.Kind{cancelled}, bad, ends("FAILED", "Other", 1), differ(trial.Error), "", refused},
		"it failed by an error of the engine":          {[]trial.Kind{cancelled}, engine, bad, differ(trial.Error), "", "CANCELLED"},
		"it failed by a time-out of a Task":            {[]trial.Kind{cancelled}, ends("FAILED", "States.Timeout", 1), bad, differ(trial.Error), "", refused},
		"it succeeds with an error's name":             {[]trial.Kind{cancelled}, ends("SUCCEEDED", "States.Runtime", 1), good, differ(trial.Output), "", refused},
		"a job that never ends":                        {[]trial.Kind{never}, bad, bad, differ(trial.Output), "", "RUNNING"},
		"no answer is about the poll":                  {nil, good, bad, differ(trial.End), "", refused},
		"a kind of another Task":                       {[]trial.Kind{cancelled, {Task: "Tell", Sort: trial.Fails, Value: "X"}}, good, bad, differ(trial.End), "", refused},
		"an answer without optional members":           {[]trial.Kind{bare}, good, bad, differ(trial.End), "", refused},
		"a status after such an answer":                {[]trial.Kind{bare, cancelled}, good, bad, differ(trial.End), "", "CANCELLED"},
		"such an answer after a status":                {[]trial.Kind{cancelled, bare}, good, bad, differ(trial.End), "", "CANCELLED"},
		"the last of two statuses":                     {[]trial.Kind{missing, cancelled}, good, bad, differ(trial.End), "", "CANCELLED"},
		"a status after an error":                      {[]trial.Kind{throttled, cancelled}, ends("FAILED", "Athena.AthenaException", 1), bad, differ(trial.Error), "", throttled.Value},
		"an error after a status":                      {[]trial.Kind{cancelled, throttled}, ends("FAILED", "Athena.AthenaException", 1), bad, differ(trial.Error), "", throttled.Value},
		"a job that stays after a status":              {[]trial.Kind{cancelled, never}, bad, bad, differ(trial.Output), "", "RUNNING"},
		"nothing caught an error":                      {[]trial.Kind{throttled}, ends("FAILED", "Athena.AthenaException", 1), good, differ(trial.End), "", throttled.Value},
		"an error that is caught and fails, succeeds":  {[]trial.Kind{throttled}, bad, good, differ(trial.End), "", refused},
		"an error that is caught, and is made again":   {[]trial.Kind{throttled}, bad, ends("SUCCEEDED", "", 2), differ(trial.End), "", throttled.Value},
		"an error that is caught and fails, otherwise": {[]trial.Kind{throttled}, bad, ends("FAILED", "Other", 1), differ(trial.Error), "", refused},
		"an error that is caught and succeeds":         {[]trial.Kind{throttled}, ends("SUCCEEDED", throttled.Value, 1), bad, differ(trial.End), "", refused},
		"errors of the engine in both":                 {nil, engine, ends("FAILED", "States.QueryEvaluationError", 1), differ(trial.Error, trial.Cause), "", ""},
		"errors of the engine, with another call":      {nil, engine, engine, differ(trial.Error, trial.Calls), "", refused},
		"an error of the engine before":                {nil, engine, bad, differ(trial.Error), "", refused},
		"an error of the engine after":                 {nil, bad, engine, differ(trial.Error), "", refused},
		"time-outs of Tasks":                           {nil, ends("FAILED", "States.Timeout", 1), ends("FAILED", "States.Timeout", 1), differ(trial.Cause), "", refused},
		"executions that are cut off":                  {nil, ends("TIMED_OUT", "States.Runtime", 1), ends("TIMED_OUT", "States.Runtime", 1), differ(trial.Cause), "", refused},
		"a status behind a .sync Task":                 {[]trial.Kind{cancelled}, good, bad, differ(trial.End), "Start", "CANCELLED"},
		"a job that stays behind a .sync Task":         {[]trial.Kind{never}, ends("TIMED_OUT", "", 1), bad, differ(trial.End), "Start", "RUNNING"},
		"a .sync Task that loses a success":            {[]trial.Kind{succeeded}, good, bad, differ(trial.End), "Start", refused},
		"a .sync Task is late":                         {nil, ends("TIMED_OUT", "", 1), bad, differ(trial.End), "Start", refused},
		"a .sync Task times out":                       {[]trial.Kind{{Task: "Start", Sort: trial.Fails, Value: "States.Timeout"}}, good, bad, differ(trial.End), "Start", ""},
		"a .sync Task fails":                           {[]trial.Kind{{Task: "Start", Sort: trial.Fails, Value: "X"}}, good, bad, differ(trial.End), "Start", refused},
		"another Task beside a .sync Task times out":   {[]trial.Kind{{Task: "Tell", Sort: trial.Fails, Value: "States.Timeout"}}, good, bad, differ(trial.End), "Start", refused},
		"a .sync Task asks otherwise":                  {nil, good, good, differ(trial.Poll), "Start", ""},
		"a loop asks otherwise":                        {nil, good, good, differ(trial.Poll), "", refused},
		"a loop is late":                               {nil, ends("TIMED_OUT", "", 1), bad, differ(trial.End), "", refused},
		"a Task without a name times out":              {[]trial.Kind{{Sort: trial.Fails, Value: "States.Timeout"}}, good, bad, differ(trial.End), "", refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge{poll: "Look", sync: c.sync, verdicts: verdicts}
			run := &trial.Run{Kinds: c.kinds, Before: c.before, After: c.after, Differences: c.differs}
			err := j.read(run)
			if c.want == refused {
				require.Error(t, err)
				require.Empty(t, j.changes)
				return
			}
			require.NoError(t, err)
			require.NoError(t, j.read(run))
			if c.want == "" {
				require.Empty(t, j.changes)
				return
			}
			require.Len(t, j.changes, 1, "each kind once")
			require.Equal(t, c.want, j.changes[0].Kind.Value)
		})
	}
}

// A line names the status at which one machine ends and the other asks again.
func TestJudgeNamesWhereOneEnds(t *testing.T) {
	t.Parallel()
	kind := func(value string) trial.Kind { return trial.Kind{Task: "Look", Sort: trial.Status, Value: value} }
	ended, asked := trial.Outcome{Status: "SUCCEEDED", Asked: 2}, trial.Outcome{Status: "FAILED", Error: "Job.Failed", Asked: 3}
	for name, c := range map[string]struct {
		before, after trial.Outcome
		want          string
	}{
		"before":                {ended, asked, "CANCELLING: succeeds -> polls on"},
		"after":                 {trial.Outcome{Status: "SUCCEEDED", Asked: 3}, trial.Outcome{Status: "FAILED", Error: "Job.Failed", Asked: 2}, "CANCELLING: polls on -> fails Job.Failed"},
		"nowhere that is known": {trial.Outcome{Status: "SUCCEEDED", Asked: 1}, asked, "CANCELLED: succeeds -> fails Job.Failed"},
		"alike":                 {trial.Outcome{Status: "SUCCEEDED", Asked: 3}, asked, "CANCELLED: succeeds -> fails Job.Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge{poll: "Look", verdicts: map[string]pollcore.Verdict{"CANCELLED": pollcore.Failure, "CANCELLING": pollcore.Retry}}
			left := kind("CANCELLING")
			if c.before.Asked == c.after.Asked {
				left = kind("CANCELLED")
			}
			if name == "nowhere that is known" {
				left = trial.Kind{}
			}
			require.NoError(t, j.read(&trial.Run{
				Kinds: []trial.Kind{kind("CANCELLING"), kind("CANCELLED")}, Left: left, Before: c.before, After: c.after,
				Differences: []trial.Difference{{What: trial.End}},
			}))
			require.Len(t, j.changes, 1)
			require.Equal(t, c.want, j.changes[0].Kind.Value+": "+j.changes[0].Before+" -> "+j.changes[0].After)
		})
	}
}

// A line tells which machine leaves the loop where both poll on to the end, and no observable differs.
func TestJudgeNamesTheLoopThatIsLeft(t *testing.T) {
	t.Parallel()
	status := trial.Kind{Task: "Look", Sort: trial.Status, Value: "SUCC*"}
	few, many := trial.Outcome{Status: trial.PollsOn, Asked: 1}, trial.Outcome{Status: trial.PollsOn, Asked: 5}
	for name, c := range map[string]struct {
		before, after trial.Outcome
		beside        []trial.Kind
		want          []Change
	}{
		"the old loop":  {few, many, nil, []Change{{Kind: status, Before: "leaves the loop, and polls on", After: "polls on"}}},
		"the new loop":  {many, few, nil, []Change{{Kind: status, Before: "polls on", After: "leaves the loop, and polls on"}}},
		"both, or none": {many, many, nil, nil},
		// The run of the status alone tells.
		"after an error": {few, many, []trial.Kind{{Task: "Look", Sort: trial.Fails, Value: "X"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := judge{poll: "Look", verdicts: map[string]pollcore.Verdict{}}
			require.NoError(t, j.read(&trial.Run{Kinds: append(c.beside, status), Left: status, Before: c.before, After: c.after}))
			require.Equal(t, c.want, j.changes)
		})
	}
}

// A machine that is out of time after its last answer differs only in its pace, unless its job never ends.
func TestPollsLonger(t *testing.T) {
	t.Parallel()
	kind := func(sort trial.Sort) trial.Kind { return trial.Kind{Task: "Look", Sort: sort, Value: "RUNNING"} }
	late := trial.Outcome{Status: "TIMED_OUT", Asked: 3}
	for name, c := range map[string]struct {
		left          trial.Sort
		before, after trial.Outcome
		kinds         []trial.Kind
		want          bool
	}{
		"it polls again":                   {trial.Status, late, trial.Outcome{Status: "FAILED", Asked: 4}, []trial.Kind{kind(trial.Status)}, true},
		"it polls no more":                 {trial.Status, late, trial.Outcome{Status: "FAILED", Asked: 3}, []trial.Kind{kind(trial.Status)}, false},
		"the job never ends":               {trial.Status, late, trial.Outcome{Status: "FAILED", Asked: 4}, []trial.Kind{kind(trial.Never)}, false},
		"the poll fails where they part":   {trial.Fails, late, trial.Outcome{Status: "FAILED", Asked: 4}, []trial.Kind{kind(trial.Fails)}, false},
		"the old machine was still asking": {trial.Status, trial.Outcome{Status: trial.PollsOn, Asked: 3}, trial.Outcome{Status: "FAILED", Asked: 4}, nil, false},
	} {
		require.Equal(t, c.want, pollsLonger(&trial.Run{Kinds: c.kinds, Left: kind(c.left), Before: c.before, After: c.after}), name)
	}
}

// Failures of a machine that handles them may end well, where they broke before.
func TestJudgeHandledFailures(t *testing.T) {
	t.Parallel()
	j := judge{poll: "Look", handles: true, verdicts: map[string]pollcore.Verdict{"CANCELLED": pollcore.Failure}}
	run := func(before string) *trial.Run {
		return &trial.Run{
			Kinds: []trial.Kind{{Task: "Look", Sort: trial.Status, Value: "CANCELLED"}}, Before: trial.Outcome{Status: before},
			After: trial.Outcome{Status: "SUCCEEDED"}, Differences: []trial.Difference{{What: trial.End}},
		}
	}
	require.NoError(t, j.read(run(trial.PollsOn)))
	require.Error(t, j.read(run("FAILED")))
}

// A run ends at the bound of the old loop by how long that lasted, whatever came before it.
func TestJudgeBound(t *testing.T) {
	t.Parallel()
	counts := judge{bound: 10 * time.Minute, first: 30 * time.Second}
	inTime := judge{bound: 10 * time.Minute, lead: 2 * time.Minute} // its deadline may be set so much before
	for name, c := range map[string]struct {
		judge        judge
		first, lasts time.Duration
		want         bool
	}{
		"at once":                         {counts, 30 * time.Second, 10 * time.Minute, true},
		"a second too early":              {counts, 30 * time.Second, 10*time.Minute - time.Second, false},
		"behind another loop":             {counts, 5*time.Minute + 30*time.Second, 15 * time.Minute, true},
		"behind it, and too early":        {counts, 5*time.Minute + 30*time.Second, 15*time.Minute - time.Second, false},
		"a deadline that is set before":   {inTime, 5 * time.Minute, 12 * time.Minute, true},
		"a deadline that is not over":     {inTime, 5 * time.Minute, 12*time.Minute - time.Second, false},
		"a deadline that is set just now": {inTime, time.Minute, 11 * time.Minute, true},
		"no bound":                        {judge{}, 0, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.judge.endsAtBound(&trial.Outcome{First: c.first, Lasts: c.lasts}))
		})
	}
}

// Two kinds of answers are two changes.
func TestJudgeKinds(t *testing.T) {
	t.Parallel()
	j := judge{poll: "Look"}
	for _, status := range []string{"CANCELLED", "FAILED"} {
		require.NoError(t, j.read(&trial.Run{
			Kinds: []trial.Kind{{Task: "Look", Sort: trial.Status, Value: status}}, Before: trial.Outcome{Status: trial.PollsOn},
			After: trial.Outcome{Status: "FAILED"}, Differences: []trial.Difference{{What: trial.End}},
		}))
	}
	require.Len(t, j.changes, 2)
}

// A status that ends otherwise in the new loop alone refuses it.
func TestCompareStatuses(t *testing.T) {
	t.Parallel()
	const ok = ""
	good := seen{status: "S", verdict: pollcore.Success, exit: "Report", output: `{"a":1}`, polled: polled{calls: 1, arguments: []string{"q"}}}
	bad := seen{status: "F", verdict: pollcore.Failure, exit: "Failed", output: `{"a":1}`, polled: polled{calls: 1, arguments: []string{"q"}}}
	runs := seen{status: "R", verdict: pollcore.Retry, polled: polled{calls: 2, arguments: []string{"q"}}}
	with := func(s seen, change func(*seen)) seen {
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		before, after seen
		want          string
	}{
		"the same success":                    {good, good, ok},
		"the same failure":                    {bad, bad, ok},
		"a success in a new Fail":             {good, with(good, func(s *seen) { s.exit, s.visits = "", map[string]int{"New failed": 1} }), "does not lead to a success"},
		"a failure in a new Fail":             {bad, with(bad, func(s *seen) { s.exit, s.visits = "", map[string]int{"New failed": 1} }), "leads elsewhere"},
		"what was taken for a success in one": {with(bad, func(s *seen) { s.exit = "Report" }), with(bad, func(s *seen) { s.exit, s.visits = "", map[string]int{"New failed": 1} }), ok},
		"a Fail that it does not come to":     {bad, with(bad, func(s *seen) { s.exit = "" }), "does not end"},
		"a success that polls on":             {good, with(good, func(s *seen) { s.exit, s.calls = "", 2 }), "does not end"},
		"a job that runs":                     {runs, runs, ok},
		"a job that runs and gets one poll":   {runs, with(runs, func(s *seen) { s.calls = 1 }), "does not end"},
		"a failure that succeeds":             {bad, with(bad, func(s *seen) { s.exit = "Report" }), "leads to a success"},
		"a success with other data":           {good, with(good, func(s *seen) { s.output = `{"a":2}` }), "gives other data"},
		"a failure with other data":           {bad, with(bad, func(s *seen) { s.output = `{"a":2}` }), "gives other data"},
		"a failure elsewhere with other data": {bad, with(bad, func(s *seen) { s.exit, s.output = "Other", `{"a":2}` }), "leads elsewhere"},
		"no JSON":                             {good, with(good, func(s *seen) { s.output = "" }), "gives other data"},
		"no JSON before":                      {with(good, func(s *seen) { s.output = "" }), good, "gives other data"},
		"data with spaces":                    {good, with(good, func(s *seen) { s.output = `{"a": 1}` }), ok},
		"a status that ends the loop":         {with(runs, func(s *seen) { s.exit, s.output = "Report", "1" }), with(runs, func(s *seen) { s.exit, s.output, s.calls = "Report", "2", 1 }), ok},
		"a running status goes elsewhere":     {with(runs, func(s *seen) { s.exit = "Bad" }), with(runs, func(s *seen) { s.exit, s.calls = "Other", 1 }), ok},
		"other arguments in each turn":        {with(good, func(s *seen) { s.arguments = []string{"q", "p"} }), good, "in each turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fragment{
				loop: &loop{}, success: "Report", states: map[string]object{"New failed": {"Type": "Fail"}, "Look": {"Type": "Task"}},
				observed: &observed{seen: []seen{good, bad}},
			}
			f.poll = &asl.State{Name: "Look"}
			after := c.after
			err := f.compare(c.before, &after)
			if c.want == ok {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	require.Equal(t, "New failed", func() string {
		f := &fragment{loop: &loop{}, states: map[string]object{"New failed": {"Type": "Fail"}}, observed: &observed{}}
		after := with(bad, func(s *seen) { s.exit, s.visits = "", map[string]int{"New failed": 1} })
		require.Error(t, f.compare(bad, &after))
		return after.exit
	}())
}
