package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// ownLoop is a loop of the user's own Task: Look, Done? and Pause are in it, and all other states behind it.
func ownLoop() *loop {
	return &loop{
		flow: &asl.Flow{}, poll: &asl.State{Name: "Look"}, choice: &asl.State{Name: "Done?"},
		inside: map[string]bool{"Look": true, "Done?": true, "Pause": true},
	}
}

// ownRow is a row of a table for a value, or for any other if it is empty.
func ownRow(value string, means lint.Meaning, ends lint.End, routes ...string) lint.Row {
	row := lint.Row{Meaning: means, Ends: ends, Routes: routes}
	if value != "" {
		row.Values = []string{value}
	}
	return row
}

// A row is a failure if it fails, or by its name where nothing else says more, and the user has the last word.
func TestVerdictOfARow(t *testing.T) {
	t.Parallel()
	byUser := func(row lint.Row) lint.Row {
		row.By = lint.ByUser
		return row
	}
	good := ownRow("done", lint.MeansSuccess, lint.GoesOn, "Load")
	for name, c := range map[string]struct {
		row    lint.Row
		want   pollcore.Verdict
		byName bool
	}{
		"it leads on":                            {good, pollcore.Success, false},
		"it stays":                               {ownRow("going", lint.MeansUnknown, lint.PollsOn, "Pause"), pollcore.Retry, false},
		"it fails":                               {ownRow("odd", lint.MeansUnknown, lint.EndsFailure, "Broken"), pollcore.Failure, false},
		"a success by name that fails":           {ownRow("done", lint.MeansSuccess, lint.EndsFailure, "Broken"), pollcore.Failure, false},
		"a failure by name that stays":           {ownRow("failed", lint.MeansFailure, lint.PollsOn, "Pause"), pollcore.Failure, true},
		"a failure by name with its own way":     {ownRow("failed", lint.MeansFailure, lint.GoesOn, "Tell"), pollcore.Failure, true},
		"a failure by name that leads as others": {ownRow("failed", lint.MeansFailure, lint.GoesOn, "Load"), pollcore.Success, false},
		"the user calls it running":              {byUser(ownRow("failed", lint.MeansRunning, lint.EndsFailure, "Broken")), pollcore.Retry, false},
		"the user knows it not":                  {byUser(ownRow("odd", lint.MeansUnknown, lint.EndsFailure, "Broken")), pollcore.Failure, false},
	} {
		l := ownLoop()
		table := &lint.Loop{Rows: []lint.Row{good, c.row}}
		require.Equal(t, c.want, l.verdictOf(table, &c.row), name)
		require.Equal(t, c.byName, l.noteByName() != "", name)
	}
}

// A waiter needs a status to read, values that a waiter can compare, ways by the status alone, and a success.
func TestWaiterOfATable(t *testing.T) {
	t.Parallel()
	done, failed := ownRow("done", lint.MeansSuccess, lint.GoesOn, "Load"), ownRow("failed", lint.MeansFailure, lint.EndsFailure, "Broken")
	rest := ownRow("", lint.MeansUnknown, lint.PollsOn, "Pause")
	two := func(row lint.Row, routes ...string) lint.Row {
		row.Routes = routes
		return row
	}
	count := lint.Bound{Kind: lint.ByCount, Route: "Late"}
	for name, c := range map[string]struct {
		status   string
		literals map[string]any
		rows     []lint.Row
		bound    lint.Bound
		refused  string // empty: it has want
		want     []string
	}{
		"a member":                 {"job.state", nil, []lint.Row{done, failed, rest}, count, "", []string{"job.state done success", "job.state failed failure"}},
		"the whole answer":         {"$", nil, []lint.Row{done, rest}, count, "", []string{"@ done success"}},
		"what no path leads to":    {"jobs[*].state", nil, []lint.Row{done, rest}, count, "cannot read the status at jobs[*].state", nil},
		"no success":               {"job.state", nil, []lint.Row{failed, rest}, count, `no status of "Look" leads to a success`, nil},
		"a boolean":                {"job.done", map[string]any{"done": true}, []lint.Row{done, rest}, count, "", []string{"job.done true success"}},
		"a number":                 {"job.code", map[string]any{"done": 0.0}, []lint.Row{done, rest}, count, "compares texts and booleans", nil},
		"no value that polls on":   {"job.state", map[string]any{"none": nil}, []lint.Row{done, ownRow("none", lint.MeansRunning, lint.PollsOn, "Pause")}, count, "", []string{"job.state done success"}},
		"no value that leads on":   {"job.state", map[string]any{"none": nil}, []lint.Row{done, ownRow("none", lint.MeansUnknown, lint.GoesOn, "Load")}, count, "leads an answer without job.state to", nil},
		"two ways out":             {"job.state", nil, []lint.Row{two(done, "Load", "Broken"), rest}, count, "by more than the status", nil},
		"two ways in the loop":     {"job.state", nil, []lint.Row{done, two(rest, "Pause", "Look")}, count, "", []string{"job.state done success"}},
		"on, or out at its bound":  {"job.state", nil, []lint.Row{done, two(rest, "Pause", "Late")}, count, "", []string{"job.state done success"}},
		"where the bound leads":    {"job.state", nil, []lint.Row{done, ownRow("failed", lint.MeansFailure, lint.EndsFailure, "Late"), rest}, count, "", []string{"job.state done success", "job.state failed failure"}},
		"on, or out at another":    {"job.state", nil, []lint.Row{done, two(rest, "Pause", "Broken")}, count, "any other status leads to", nil},
		"on, or out beside a loop": {"job.state", nil, []lint.Row{done, two(rest, "Pause", "Late")}, lint.Bound{Kind: lint.ByBranch, Route: "Late"}, "any other status leads to", nil},
		"any other fails":          {"job.state", nil, []lint.Row{done, ownRow("", lint.MeansUnknown, lint.EndsFailure, "Broken")}, count, "", []string{"job.state done success", "any failure"}},
	} {
		l := ownLoop()
		l.bound = c.bound
		w, err := l.makeWaiter(&lint.Loop{Status: c.status, Literals: c.literals, Rows: c.rows})
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, name)
			continue
		}
		require.NoError(t, err, name)
		var all []string
		for _, a := range w.Acceptors {
			what := "any"
			if m := a.Matcher.Output; m != nil {
				what = m.Path + " " + m.Expected
			}
			all = append(all, what+" "+string(a.State))
		}
		require.Equal(t, c.want, all, name)
	}
}

// Of several jobs of an answer, a status that leads several ways by the others says nothing itself, unless it ends the wait, or
// the user says what it means.
func TestWaiterOfATableOfSeveralJobs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		means   lint.Meaning
		ends    lint.End
		mixed   bool
		refused bool
	}{
		"several ways":           {lint.MeansUnknown, lint.EndsUnknown, true, true},
		"several ways to a Fail": {lint.MeansUnknown, lint.EndsFailure, true, false},
		"known by its name":      {lint.MeansRunning, lint.EndsUnknown, true, false},
		"by itself":              {lint.MeansUnknown, lint.EndsUnknown, false, false},
	} {
		row := ownRow("odd", c.means, c.ends, "Pause", "Broken")
		row.Mixed = c.mixed
		_, err := ownLoop().makeWaiter(&lint.Loop{
			Status: "jobs[0].state", Together: true, Rows: []lint.Row{ownRow("done", lint.MeansSuccess, lint.GoesOn, "Load"), row},
		})
		if c.refused {
			require.ErrorContains(t, err, `leads odd to`, name)
			continue
		}
		require.NoError(t, err, name)
	}
}

// A loop is named by its entry if the catalogue has that, and by its poll else.
func TestLoopNamesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	l := ownLoop()
	service := &catalog.Service{Key: "athena", Waiters: map[string]*catalog.WaiterData{}}
	l.entry = &catalog.Entry{Name: "Look", Service: service}
	require.Equal(t, `"Look"`, l.about())
	l.entry.Job = &catalog.Job{}
	require.Equal(t, l.entry.FullName(), l.about())
	l.entry.Job = nil
	service.Waiters["Look"] = &catalog.WaiterData{}
	require.Equal(t, l.entry.FullName(), l.about())
}

// A Task of the user's own that gets other arguments in each turn gets its own answer.
func TestOwnTaskGetsItsLastAnswer(t *testing.T) {
	t.Parallel()
	l := ownLoop()
	tried := &observed{seen: []seen{{polled: polled{arguments: []string{"1"}}}, {polled: polled{arguments: []string{"1", "2"}}}}}
	require.NoError(t, l.checkArguments(tried), "an operation's are compared with those of the new loop")
	l.own = true
	require.ErrorContains(t, l.checkArguments(tried), `"Look" gets its own last answer when it polls again: 1, then 2`)
	require.NoError(t, l.checkArguments(&observed{seen: tried.seen[:1]}))
}
