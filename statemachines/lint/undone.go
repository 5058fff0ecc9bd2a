package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// checkChange checks what a loop that waits for a change of a resource does with a status that does not
// tell the change, and with one that tells that it is undone.
func (c *checker) checkChange(r *reading) {
	if r.status == nil || r.change == nil {
		return
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		success := r.missesUndone(row)
		switch {
		case row.Rule != "":
		case r.isBlind(row):
			c.reportRow(r, row, diag.Danger, StatusUnclear, "%s of %s is the status while the change by %q goes on, and after it has failed, too: "+
				"the Choice leads to %q at once; look at %s, too",
				list(row.Values), r.Operation, r.change.task.Name, first(row.Routes), javasdk.MemberPath(r.change.Status))
		case success != "":
			c.reportRow(r, row, diag.Warning, StatusMisread, "%s of %s says that the change by %q has failed and is undone: "+
				"the loop polls on, and takes %s with the old %s for a success; lead to a Fail state, and compare %[5]s",
				r.change.Undone, r.Operation, r.change.task.Name, success, javasdk.MemberPath(r.change.Tells[r.change.call]))
		}
	}
}

// reportRow reports a row at what leads it on.
func (c *checker) reportRow(r *reading, row *Row, severity diag.Severity, rule, format string, args ...any) {
	if slices.Contains(c.off, rule) {
		return
	}
	row.Rule, row.Severity = rule, severity
	s, field := r.decisionOf(r.wrong(row))
	c.reportStatuses(row.Values, severity, rule, s, field, format, args...)
}

// isBlind tells whether a row is of the status that stays while a change goes on, and leaves the loop
// whatever tells of the change.
func (r *reading) isBlind(row *Row) bool {
	for path, value := range r.change.Stays {
		if r.status.isAt(path) && slices.Equal(row.Values, []string{value}) && (row.Ends == EndsSuccess || row.Ends == GoesOn) {
			steps, _ := spellSteps(nil, r.change.Status)
			return pathsOf(r.followBoth(value, steps, r.change.Running)) == pathsOf(r.routes[value])
		}
	}
	return false
}

// missesUndone is the success that follows when a change has been undone, if the loop polls on
// meanwhile and takes that for its own, whatever is in use; empty if not.
func (r *reading) missesUndone(row *Row) string {
	tells := r.change.Tells[r.change.call]
	undone := func(value string) bool { return r.change.undoes(r.status, value) }
	if tells == "" || !slices.ContainsFunc(row.Values, undone) || row.Ends != PollsOn {
		return ""
	}
	steps, _ := spellSteps(nil, tells)
	for _, value := range r.status.values {
		routes := r.routes[value]
		if r.status.meaning(r.judges, value) != MeansSuccess || len(routes) != 1 || routes[0].ends != EndsSuccess && routes[0].ends != GoesOn {
			continue
		}
		if pathsOf(r.followBoth(value, steps, otherValue)) == pathsOf(routes) {
			return value
		}
	}
	return ""
}
