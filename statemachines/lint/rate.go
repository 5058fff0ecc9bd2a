package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// rate gives the findings of tables the severities that they count with, and takes away those
// that do not count.
func rate(loops []Loop, by func(Finding) (diag.Severity, bool)) {
	if by == nil {
		return
	}
	for i := range loops {
		l := &loops[i]
		for n := range l.Rows {
			l.rateRow(&l.Rows[n], by)
		}
		var counted []Finding
		for _, f := range l.Findings {
			if severity, counts := by(f); counts {
				f.Severity = severity
				counted = append(counted, f)
			}
		}
		l.Findings = counted
	}
}

// rateRow rates the finding of a row: that of its rule about its statuses, or about none.
func (l *Loop) rateRow(row *Row, by func(Finding) (diag.Severity, bool)) {
	if row.Rule == "" {
		return
	}
	isOfRow := func(f Finding) bool {
		return f.Rule == row.Rule && slices.ContainsFunc(f.Subjects, func(s string) bool { return slices.Contains(row.Values, s) })
	}
	if !slices.ContainsFunc(l.Findings, isOfRow) {
		isOfRow = func(f Finding) bool { return f.Rule == row.Rule }
	}
	for _, f := range l.Findings {
		if !isOfRow(f) {
			continue
		}
		severity, counts := by(f)
		if counts {
			if severity != f.Severity {
				row.Severity = severity
			}
			return
		}
	}
	if slices.ContainsFunc(l.Findings, isOfRow) { // and none counts
		row.Rule, row.Severity = "", diag.Error
	}
}
