package fix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// sortRuns puts runs without failing calls first: the line describes such a run if there is one.
func (t *candidate) sortRuns(runs []trial.Run) []trial.Run {
	if t.failing == "" {
		return runs
	}
	rank := func(r trial.Run) int { return min(1, len(failingTask(&r))) }
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b trial.Run) int { return cmp.Compare(rank(a), rank(b)) })
	return runs
}

// failingTask is the Task whose calls fail in a run; empty if none do.
func failingTask(r *trial.Run) string {
	for _, k := range r.Kinds {
		if k.Sort == trial.Fails {
			return k.Task
		}
	}
	return ""
}

// lineOf is what the line about a run begins with.
func (t *candidate) lineOf(r *trial.Run) string {
	if task := failingTask(r); task != "" && t.failing != "" {
		return fmt.Sprintf(t.failing, task)
	}
	return t.about
}

// isAbout tells whether the line of a candidate is about a run.
func (t *candidate) isAbout(r *trial.Run) bool { return t.of == nil || r.IsIn(t.of) }

// row says how a run ends before and after it.
func (t *candidate) row(about string, r *trial.Run) string {
	before, after := describeEnd(r.Before), cmp.Or(t.does, describeEnd(r.After))
	if t.goesOn {
		before, after = describeOf(r.Before, r.After), describeOf(r.After, r.Before)
	}
	return fmt.Sprintf("%s: %s -> %s", about, before, after)
}

// rowOfWrong says how runs with the wrong word end, if they end otherwise than before.
func (t *candidate) rowOfWrong(report *trial.Report) string {
	for _, run := range report.Outside() {
		is := func(k trial.Kind) bool { return k.Sort == trial.Status && k.Value == t.wrong }
		if t.wrong != "" && slices.ContainsFunc(run.Kinds, is) && describeEnd(run.Before) != describeEnd(run.After) {
			later := *t
			later.does, later.goesOn = "", true
			return "; " + later.row("status "+t.wrong, &run)
		}
	}
	return ""
}
