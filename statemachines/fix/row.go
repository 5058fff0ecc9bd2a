package fix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/lint"
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

// succeedsWithout tells whether an answer at which a run broke makes it succeed.
func succeedsWithout(r *trial.Run) bool {
	return r.Before.IsBroken() && succeeds(r) && r.After.Polls == r.Before.Polls
}

// rowsOfEnds say how runs end that broke at an answer without a member: at that answer, or later.
// The first such answer ends as the line says already.
func (c *checked) rowsOfEnds(report *trial.Report, end string) string {
	rows := map[string][]string{} // statuses by ends
	for i := range report.Runs {
		r := &report.Runs[i]
		status, alone := lastStatus(r)
		if status == "" || !r.Before.IsBroken() || r.After.IsBroken() || r.After.Status == trial.PollsOn {
			continue
		}
		row := "; a job that ends %s -> " + describeEnd(r.After)
		switch {
		case r.After.Polls == r.Before.Polls && describeEnd(r.After) == end:
			continue
		case r.After.Polls == r.Before.Polls:
			row = "; %s without it -> " + describeEnd(r.After)
		case !alone || !c.isEndOfJob(status):
			continue // a later answer ends it
		}
		if !slices.Contains(rows[row], status) {
			rows[row] = append(rows[row], status)
		}
	}
	var b strings.Builder
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, row, strings.Join(rows[row], " or "))
	}
	return b.String()
}

// lastStatus is the status of the last answer of a run that is not the usual one, and whether
// nothing else is named of that; empty if it is not known.
func lastStatus(r *trial.Run) (status string, alone bool) {
	for _, k := range slices.Backward(r.Kinds) {
		if k.Sort == trial.Status && !strings.Contains(k.Value, trial.UnknownValue) && !strings.Contains(k.Value, " absent") {
			members := strings.Split(k.Value, ", ")
			slices.SortFunc(members, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
			return members[0][strings.LastIndex(members[0], " ")+1:], len(members) == 1
		}
	}
	return "", false
}

// isEndOfJob tells whether a job that has a status has ended. One status may be of several ends,
// such as STOPPED-failure.
func (c *checked) isEndOfJob(status string) bool {
	return slices.ContainsFunc(c.loops, func(l lint.Loop) bool {
		return slices.ContainsFunc(l.Rows, func(r lint.Row) bool {
			return r.Meaning != lint.MeansUnknown && !isGoing(r.Meaning) && slices.ContainsFunc(r.Values, func(v string) bool {
				return status == v || strings.HasPrefix(status, v+"-")
			})
		})
	})
}
