package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// The parts of a running execution show what its history does not: the polls to come,
// up to the deadline if there is one, and the state that it is in.
func TestParts(t *testing.T) {
	t.Parallel()
	m, r := run(t, loop, `{"items": []}`, answers("IN_PROGRESS", "IN_PROGRESS", "IN_PROGRESS", "COMPLETED"))
	e := history.FromRun(m, r)
	for i := range e.Events {
		if e.Events[i].Type == "WaitStateEntered" && e.Events[i].Time.Sub(e.Start) > 20*time.Second {
			e.Events = e.Events[:i+1]
			break
		}
	}
	entered := e.Events[len(e.Events)-1].Time
	e.Status, e.Stop, e.Edges = history.StatusRunning, entered, nil
	parts, err := report.Parts(e, report.Live{Now: entered.Add(time.Second), Places: []report.Place{{State: "Wait", Until: entered.Add(10 * time.Second)}}})
	require.NoError(t, err)
	var names []string
	all := ""
	for _, p := range parts {
		names = append(names, p.ID)
		all += string(p.HTML)
	}
	require.Equal(t, []string{"outcome", "figures", "data", "timeline", "jobs", "loops", "graph", "states", "steps", "events1"}, names)
	require.Equal(t, e.Events[len(e.Events)-1].ID, parts[len(parts)-1].Last)
	require.Equal(t, map[string]int{"retry": 2}, countMarks(all))
	require.Equal(t, 5, strings.Count(all, `<use href="#planned" x=`))
	for _, fact := range []string{
		"<title>planned poll, +32s (00:00:32)</title>", "<title>poll if the delay stays, +43s (00:00:43)</title>", "<title>now, +23s (00:00:23)</title>", `class="state wait current"`,
	} {
		requireHas(t, all, fact)
	}

	text, err := report.HTML(e, report.Options{})
	require.NoError(t, err)
	require.Zero(t, strings.Count(string(text), "planned"), "a page that stands still has none")
}
