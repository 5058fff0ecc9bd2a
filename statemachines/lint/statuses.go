package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// checkStatuses checks what a loop does with each value of the status.
func (c *checker) checkStatuses(r *reading) {
	r.meant = c.meantBy(r)
	for i := range r.Rows {
		row := &r.Rows[i]
		if len(row.Values) == 0 || !c.mayJudge(r, row) {
			continue
		}
		alike := r.rowOfAlike(row)
		routes := r.wrong(alike)
		rule, severity, text := r.judge(alike)
		if rule == "" {
			rule, severity, text = c.judgeUnclear(r, alike)
		}
		if rule == "" {
			rule, severity, text = c.judgeUnfinished(r, alike)
		}
		switch {
		case rule == "":
			rule, severity, text, routes = r.judgeMixed(row)
		case row.Mixed:
			text = "if all jobs have the status: " + text
		}
		row.Meanwhile = alike.Meanwhile
		row.Apart = rule == "" && row.endsOtherwise()
		if rule != "" && c.isMisspelt(r, row) {
			continue
		}
		if rule == "" || slices.Contains(c.off, rule) {
			continue
		}
		severity = r.limit(row, severity)
		row.Rule, row.Severity = rule, severity
		s, field := r.decisionOf(routes)
		if row.FailsAt != "" && !row.Lacks {
			s, field = r.failingField(row)
		}
		c.reportStatuses(row.Values, severity, rule, s, field, "%s", text)
	}
}

// limit is the severity of a finding about a row: a NOTE of what nobody has reviewed, and at most a WARNING where the call
// before the loop and its ends do not agree, the job may be of another kind, or names alone tell.
func (r *reading) limit(row *Row, severity diag.Severity) diag.Severity {
	switch {
	case row.By == ByModel:
		return diag.Note
	case (r.doubtful || row.Kind != "" || row.By == ByName) && severity == diag.Danger:
		return diag.Warning
	default:
		return severity
	}
}
