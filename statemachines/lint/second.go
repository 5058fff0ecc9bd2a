package lint

import (
	"fmt"
	"slices"
	"strings"

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
	for _, path := range j.second {
		if steps, shape := stepsTo(j.entry.Operation.Output, items().ReplaceAllString(path, "[]")); shape != nil && len(shape.Enum) > 0 {
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

// checkBoth checks a row with each value of the second member. One finding a row is enough.
func (c *checker) checkBoth(r *reading, row *Row, path string, steps, values []string) {
	var wrong []string
	ways := map[string]bool{}
	var rule, text string
	var at []route
	for _, how := range values {
		routes := r.followBoth(row.Values[0], steps, how)
		if routes == nil {
			return
		}
		ways[pathsOf(routes)] = true
		found, problem := r.judgeBoth(row, path, how, routes)
		switch {
		case found == "" || rule != "" && found != rule:
		default:
			rule, text, at, wrong = found, problem, routes, append(wrong, how)
		}
	}
	if len(ways) < 2 || rule == "" || slices.Contains(c.off, rule) {
		return
	}
	severity := diag.Danger
	if r.doubtful {
		severity = diag.Warning
	}
	row.Rule, row.Severity, row.Member, row.Seconds = rule, severity, path, wrong
	s, field := r.decisionOf(at)
	c.reportAs(severity, rule, s, field, "%s", strings.Replace(text, "%", list(wrong), 1))
}

// judgeBoth returns the rule that a row breaks with a value of the second member, and what to
// say with "%" for such values; empty for none.
func (r *reading) judgeBoth(row *Row, path, how string, routes []route) (rule, text string) {
	verdict := r.judges[0].verdict(put(answer(r.status.path, row.Values[0]), items().ReplaceAllString(path, "[]"), how))
	end, to := endOf(routes), first(r.targetsOf(routes, r.trunk()))
	names, with := list(row.Values), fmt.Sprintf("%s with %s %%", list(row.Values), path)
	is := map[pollcore.Verdict]string{pollcore.Success: "success", pollcore.Failure: "failure"}[verdict]
	of := fmt.Sprintf("%s is a %s of %s, but ", with, is, r.Operation)
	switch {
	case verdict == pollcore.Retry && row.Meaning != MeansUnclear && end == EndsFailure:
		return StatusMisread, fmt.Sprintf("a rule leads %s of %s, in which the job still runs, to %q by %s %%, which tells of the job before; "+
			"look at it only when the job has ended", names, r.Operation, to, path)
	case verdict != pollcore.Retry && end == PollsOn:
		return StatusPollsOn, of + fmt.Sprintf("the loop goes on to %q and polls again; lead to a state outside of the loop", to)
	case verdict == pollcore.Success && end == EndsFailure:
		return StatusMisread, of + fmt.Sprintf("the Choice leads to %q, and the execution fails; lead to what follows the job", to)
	case verdict == pollcore.Failure && end == EndsSuccess:
		return StatusUnclear, of + fmt.Sprintf("the Choice leads to %q, and the execution succeeds; lead to a Fail state", to)
	}
	return "", ""
}

// tellsOfBefore tells whether the answer is about the job before until the job has ended: the
// poll asks for what the caller names, such as a crawler, and not for the job.
func (r *reading) tellsOfBefore() bool {
	job := r.judges[0].entry.Job
	return job != nil && !catalog.ReadsStartOutput(job.Arguments)
}
