package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// checkSecond checks what a loop does with a status whose way depends on a second member, the
// one that tells how a job ended whose status alone does not.
func (c *checker) checkSecond(r *reading) {
	if r.status == nil || len(r.judges) != 1 {
		return
	}
	j := r.judges[0]
	for _, path := range j.secondPaths() {
		if steps, shape := spellSteps(j.entry.Operation.Output, path); shape != nil && len(shape.Enum) > 0 {
			for i := range r.Rows {
				row := &r.Rows[i]
				goes := r.tellsOfBefore() && (row.Meaning == MeansRunning || row.Meaning == MeansEnding)
				if len(row.Values) > 0 && row.Rule == "" && (goes || row.Meaning == MeansUnclear) {
					c.checkBoth(r, row, path, steps, shape.Enum)
				}
			}
			return
		}
	}
}

// misled are values of the second member that lead a row the same wrong way.
type misled struct {
	rule   string
	means  Meaning // of the row's values with one of them
	routes []route
	values []string
}

// checkBoth checks a row with each value of the second member. The row shows the first
// finding: one about failures, if there is one.
func (c *checker) checkBoth(r *reading, row *Row, path string, steps, values []string) {
	var all []*misled
	ways := map[string]bool{}
	for _, how := range values {
		routes := r.followBoth(row.Values[0], steps, how)
		if routes == nil {
			return
		}
		ways[pathsOf(routes)] = true
		means := r.meaningOfBoth(row, path, how)
		rule := breaks(row.Meaning, means, r.endOf(means, routes))
		if rule == "" || slices.Contains(c.off, rule) {
			continue
		}
		i := slices.IndexFunc(all, func(m *misled) bool {
			return m.rule == rule && m.means == means && pathsOf(m.routes) == pathsOf(routes)
		})
		if i < 0 {
			i, all = len(all), append(all, &misled{rule: rule, means: means, routes: routes})
		}
		all[i].values = append(all[i].values, how)
	}
	if len(ways) < 2 {
		return
	}
	if i := slices.IndexFunc(all, func(m *misled) bool { return m.means == MeansFailure }); i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	for i, m := range all {
		severity, onPurpose := diag.Danger, m.means == MeansSuccess && m.routes[0].leaf != nil && isWithWarnings(m.values)
		if r.doubtful || m.rule == StatusMisread && onPurpose {
			severity = diag.Warning
		}
		if i == 0 {
			row.Rule, row.Severity, row.Member, row.Seconds, row.SecondsMean = m.rule, severity, path, m.values, m.means
		}
		s, field := r.decisionOf(m.routes)
		c.reportStatuses(slices.Concat(row.Values, m.values), severity, m.rule, s, field, "%s", r.sayMisled(row, path, m))
	}
}

// meaningOfBoth is what a row's values mean with a value of the second member.
func (r *reading) meaningOfBoth(row *Row, path, how string) Meaning {
	switch r.judges[0].verdict(put(answer(r.status.path, row.Values[0]), items().ReplaceAllString(path, "[]"), how)) {
	case pollcore.Success:
		return MeansSuccess
	case pollcore.Failure:
		return MeansFailure
	default:
		return MeansRunning
	}
}

// breaks is the rule that a row breaks where its values, with one of the second member, have
// a meaning of their own and lead to an end; empty for none.
func breaks(row, means Meaning, end End) string {
	switch {
	case means == MeansRunning && row != MeansUnclear && end == EndsFailure:
		return StatusMisread
	case means == MeansRunning:
		return ""
	case end == PollsOn:
		return StatusPollsOn
	case means == MeansSuccess && end == EndsFailure:
		return StatusMisread
	case means == MeansFailure && end == EndsSuccess:
		return StatusUnclear
	}
	return ""
}

// sayMisled says where values of the second member lead a row.
func (r *reading) sayMisled(row *Row, path string, m *misled) string {
	names, with, to := list(row.Values), javasdk.MemberPath(path)+" "+list(m.values), first(r.targetsOf(m.routes[:1], r.trunk()))
	switch {
	case m.means != MeansRunning:
		return r.sayWrongEnd(fmt.Sprintf("%s with %s is a %s of %s, but ", names, with, m.means, r.Operation), m.means, endOf(m.routes), to)
	case to == "":
		return fmt.Sprintf("no rule takes %s of %s, in which the job still runs, with %s, which tells of the job before: "+
			"the execution fails with States.NoChoiceMatched; name the status and poll on", names, r.Operation, with)
	}
	return fmt.Sprintf("a rule leads %s of %s, in which the job still runs, to %q by %s, which tells of the job before; "+
		"look at it only when the job has ended", names, r.Operation, to, with)
}

// tellsOfBefore tells whether the answer is about the job before until the job has ended: the
// poll asks for what the caller names, such as a crawler, and not for the job.
func (r *reading) tellsOfBefore() bool {
	job := r.judges[0].entry.Job
	return job != nil && !catalog.ReadsStartOutput(job.Arguments)
}
