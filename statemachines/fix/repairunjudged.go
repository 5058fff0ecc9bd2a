package fix

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// rowsOfUnjudged say how jobs end whose statuses lint does not judge, where the line does not say it: those that end by
// the status itself, and one that stays in a status.
func (c *checked) rowsOfUnjudged(t *candidate, report *trial.Report, line string) string {
	var ends []string
	jobs := map[string][]string{} // by ends
	for _, r := range report.Outside() {
		job, k := jobOf(&r)
		end := describeEnd(r.Before) + " -> " + describeEnd(r.After)
		if job == "" || k.Value == t.wrong || c.judges(k.Task) || describeEnd(r.Before) == describeEnd(r.After) || tellsEnds(line, end) {
			continue
		}
		if jobs[end] == nil {
			ends = append(ends, end)
		}
		if !slices.Contains(jobs[end], job) {
			jobs[end] = append(jobs[end], job)
		}
	}
	var b strings.Builder
	for _, end := range ends {
		b.WriteString("; " + strings.Join(jobs[end], ", ") + ": " + end)
	}
	return b.String()
}

// jobOf names the job of a run by the status that it keeps, or that ends the new machine; empty for any other run.
func jobOf(r *trial.Run) (job string, status trial.Kind) {
	i := slices.IndexFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Status })
	if i < 0 || isBeside(r) || r.Kinds[i].Value == "" || r.Kinds[i].Value == trial.UnknownValue || r.Left != r.Kinds[i] {
		return "", trial.Kind{}
	}
	has := func(sort trial.Sort) bool {
		return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == sort })
	}
	status = r.Kinds[i]
	switch {
	case has(trial.Fails) || has(trial.Items):
		return "", trial.Kind{}
	case has(trial.Never):
		return "a job that stays " + status.Value, status
	case r.After.Asked != 1:
		return "", trial.Kind{}
	case has(trial.Bare):
		return "status " + status.Value + " without optional members", status
	default:
		return "status " + status.Value, status
	}
}

// judges tells whether lint judges the statuses of a poll by more than their names.
func (c *checked) judges(poll string) bool {
	return slices.ContainsFunc(c.loops, func(l lint.Loop) bool {
		return l.Poll != nil && l.Poll.Name == poll && (l.Rows != nil && !l.ByName || l.Entry != nil)
	})
}
