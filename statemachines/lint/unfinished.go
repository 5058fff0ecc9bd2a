package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// judgeUnfinished finds statuses of a job that still runs which a rule names, and leads where a success goes. A
// machine may wait for just that: where a waiter does, or another loop polls on, nothing is found.
func (c *checker) judgeUnfinished(r *reading, row *Row) (rule string, severity diag.Severity, text string) {
	if row.Ends != EndsSuccess && row.Ends != GoesOn || row.Held || row.Change || row.Later || row.Kind != "" || row.OtherKind || len(row.Routes) != 1 ||
		r.Retries || !r.joinsSuccess(row) || !r.someRunningPollsOn() {
		return "", 0, ""
	}
	values := slices.DeleteFunc(slices.Clone(row.Values), func(value string) bool { return !r.spelled[value] || !r.isUnfinished(value) })
	if len(values) == 0 || c.pollsBehind(r, row) {
		return "", 0, ""
	}
	is := "in which the job still runs"
	switch {
	case row.Meaning == MeansEnding:
		is = "in which the job has not ended yet"
	case row.Meaning != MeansRunning:
		is = "for which AWS's waiter polls on"
	}
	return StatusMisread, diag.Warning, fmt.Sprintf("a rule leads %s of %s, %s, to %q, as a success; poll on, unless you wait for that alone",
		list(values), r.asked(), is, first(row.Routes))
}

// isUnfinished tells whether a job with a value has not ended: the catalogue states it, or the waiter polls on and the
// name says that something goes on. No waiter of the operation takes the value for a success.
func (r *reading) isUnfinished(value string) bool {
	if slices.ContainsFunc(r.status.judges, func(j *judge) bool { return j.taken[value] }) || r.passes(value, catalog.PassingUsable) {
		return false
	}
	switch r.status.meaning(r.judges, value) {
	case MeansEnding:
		return true
	case MeansRunning:
		ofWaiters := !slices.ContainsFunc(r.judges, func(j *judge) bool { return j.entry == nil || j.entry.Job != nil })
		return r.isStated(value) || ofWaiters && isGoing(value)
	default:
		return false
	}
}

// someRunningPollsOn tells whether the loop polls on for a status of a job that runs.
func (r *reading) someRunningPollsOn() bool {
	return slices.ContainsFunc(r.status.values, func(value string) bool {
		return r.status.meaning(r.judges, value) == MeansRunning && endOf(r.routes[value]) == PollsOn
	})
}

// pollsBehind tells whether a row leads to another Task that asks for the same.
func (c *checker) pollsBehind(r *reading, row *Row) bool {
	asks := c.tasks()[strings.ToLower(r.Operation)]
	seen := map[string]bool{}
	for queue := row.Routes[:1:1]; len(queue) > 0; queue = queue[1:] {
		s := r.Flow.State(queue[0])
		if s == nil || seen[s.Name] {
			continue
		}
		if s != r.Poll && slices.Contains(asks, s) {
			return true
		}
		seen[s.Name] = true
		for _, way := range s.Transitions() {
			queue = append(queue, way.To)
		}
	}
	return false
}
