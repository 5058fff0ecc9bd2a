package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// A line says how jobs of a poll end that lint does not judge: each by its last status, and each end once.
func TestRowsOfUnjudged(t *testing.T) {
	t.Parallel()
	c := &checked{loops: []lint.Loop{
		{}, // an outer loop
		{Poll: &asl.State{Name: "Look"}},
		{Poll: &asl.State{Name: "Table"}, Rows: []lint.Row{}},
		{Poll: &asl.State{Name: "Entry"}, Entry: &catalog.Entry{}},
	}}
	status := func(value string) trial.Kind {
		return trial.Kind{Task: "Look", Sort: trial.Status, Value: value}
	}
	of := func(task string) trial.Kind { return trial.Kind{Task: task, Sort: trial.Status, Value: "ODD"} }
	with := func(sort trial.Sort) trial.Kind { return trial.Kind{Task: "Look", Sort: sort} }
	beside := status("ODD")
	beside.Beside = "Reason"
	good, bad := trial.Outcome{Status: "SUCCEEDED", Asked: 1}, trial.Outcome{Status: "FAILED", Error: "Bad", Asked: 1}
	later := bad
	later.Asked = 2
	differs := []trial.Difference{{What: trial.End}}
	for name, o := range map[string]struct {
		run  trial.Run
		line string
	}{
		"a status":                    {trial.Run{Kinds: []trial.Kind{status("ODD")}}, "; status ODD: succeeds -> fails Bad"},
		"without optional members":    {trial.Run{Kinds: []trial.Kind{status("ODD"), with(trial.Bare)}}, "; status ODD without optional members: succeeds -> fails Bad"},
		"that stays":                  {trial.Run{Kinds: []trial.Kind{status("ODD"), with(trial.Never)}, After: later}, "; a job that stays ODD: succeeds -> fails Bad"},
		"the wrong word":              {trial.Run{Kinds: []trial.Kind{status("OLD")}}, ""},
		"no status":                   {trial.Run{Kinds: []trial.Kind{with(trial.Fails)}}, ""},
		"a status that is missing":    {trial.Run{Kinds: []trial.Kind{status("")}}, ""},
		"a status that nobody knows":  {trial.Run{Kinds: []trial.Kind{status(trial.UnknownValue)}}, ""},
		"with another member":         {trial.Run{Kinds: []trial.Kind{beside}}, ""},
		"behind an error":             {trial.Run{Kinds: []trial.Kind{status("ODD"), with(trial.Fails)}}, ""},
		"of two items":                {trial.Run{Kinds: []trial.Kind{status("ODD"), with(trial.Items)}}, ""},
		"that another status follows": {trial.Run{Kinds: []trial.Kind{status("ODD")}, Left: status("END")}, ""},
		"that is polled again":        {trial.Run{Kinds: []trial.Kind{status("ODD")}, After: later}, ""},
		"that ends as before":         {trial.Run{Kinds: []trial.Kind{status("ODD")}, After: good}, ""},
		"of a loop with a table":      {trial.Run{Kinds: []trial.Kind{of("Table")}}, ""},
		"of a job of the catalogue":   {trial.Run{Kinds: []trial.Kind{of("Entry")}}, ""},
		"of a Task that is no poll":   {trial.Run{Kinds: []trial.Kind{of("Other")}}, "; status ODD: succeeds -> fails Bad"},
	} {
		if o.run.Left == (trial.Kind{}) {
			o.run.Left = o.run.Kinds[0]
		}
		if o.run.After == (trial.Outcome{}) {
			o.run.After = bad
		}
		o.run.Before, o.run.Differences = good, differs
		report := &trial.Report{Runs: []trial.Run{o.run}}
		require.Equal(t, o.line, c.rowsOfUnjudged(&candidate{wrong: "OLD"}, report, `"NEW" for "OLD"`), name)
	}
	one := trial.Run{Kinds: []trial.Kind{status("ODD")}, Left: status("ODD"), Before: good, After: bad, Differences: differs}
	two := trial.Run{Kinds: []trial.Kind{status("NEXT")}, Left: status("NEXT"), Before: good, After: bad, Differences: differs}
	twice := &trial.Report{Runs: []trial.Run{one, two, one}}
	require.Equal(t, "; status ODD, status NEXT: succeeds -> fails Bad", c.rowsOfUnjudged(&candidate{}, twice, `"NEW" for "OLD"`))
	require.Empty(t, c.rowsOfUnjudged(&candidate{}, twice, "status DONE: succeeds -> fails Bad"), "the line says it")
}
