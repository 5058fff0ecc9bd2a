package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// loopView is the table of a poll loop, with how often this execution saw each value.
type loopView struct {
	Title, Unjudged, Bound string
	Rows                   []loopRow
	Findings               []finding
}

type loopRow struct {
	finding

	Values, Routes, Means string
	Seen                  string
}

// finding is a rule that found something.
type finding struct{ Severity, Rule string }

func newLoopViews(loops []lint.Loop, jobs []*history.Job) []loopView {
	var all []loopView
	for i := range loops {
		l := &loops[i]
		v := loopView{Title: strings.Join(l.Turn.States, " → "), Unjudged: l.DescribeUnjudged(), Bound: l.DescribeBound()}
		if running := l.DescribeRunning(); running != "" {
			v.Bound += "; " + running
		}
		if retried := l.DescribeRetried(); retried != "" {
			v.Bound += "; " + retried
		}
		if l.Operation != "" {
			v.Title += " polls " + l.Operation
		}
		seen := countStatuses(l, jobs)
		for _, r := range l.Rows {
			v.Rows = append(v.Rows, newLoopRow(&r, seen))
		}
		for _, r := range l.Errors {
			row := newLoopRow(&lint.Row{Meaning: r.Meaning, Routes: r.Routes, Ends: r.Ends, Whole: r.Whole}, seen)
			row.Values = r.Value()
			v.Rows = append(v.Rows, row)
		}
		for _, f := range l.Findings {
			if !slices.ContainsFunc(v.Rows, func(r loopRow) bool { return r.Rule == f.Rule }) {
				v.Findings = append(v.Findings, finding{f.Severity.String(), f.Rule})
			}
		}
		all = append(all, v)
	}
	return all
}

// countStatuses counts how often the loop saw each status.
func countStatuses(l *lint.Loop, jobs []*history.Job) map[string]int {
	seen := map[string]int{}
	for _, j := range jobs {
		if l.Poll == nil || j.State != l.Poll.Name {
			continue
		}
		for i := range j.Polls {
			seen[j.Polls[i].Status]++
		}
	}
	return seen
}

func newLoopRow(r *lint.Row, seen map[string]int) loopRow {
	row := loopRow{Values: strings.Join(r.Values, ", "), Routes: strings.Join(r.Routes, ", "), Means: r.Describe()}
	n := 0
	for _, value := range r.Values {
		n += seen[value]
	}
	if n > 0 {
		row.Seen = FormatCount(n)
	}
	if row.Values == "" {
		row.Values = "any other"
	}
	if r.Lacks {
		row.Routes = r.FailsAt
	}
	if row.Routes == "" {
		row.Routes = cmp.Or(r.FailsAt, "no rule")
	}
	if r.Rule != "" {
		row.finding = finding{r.Severity.String(), r.Rule}
	}
	return row
}
