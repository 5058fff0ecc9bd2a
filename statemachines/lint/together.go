package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// rowOfAlike is a row of jobs that are all alike.
func (r *reading) rowOfAlike(row *Row) *Row {
	if !row.Mixed {
		return row
	}
	alike, ways := *row, r.takenBy(row.Values[0])
	alike.Mixed, alike.Forks = false, nil
	alike.Routes, alike.Ends = r.targetsOf(ways, r.trunk()), r.endOf(row.Meaning, ways)
	return &alike
}

// judgeMixed returns the rule that a row breaks where one job has its values, and others have succeeded, what to say, and
// the ways that break it.
func (r *reading) judgeMixed(row *Row) (rule string, severity diag.Severity, text string, ways []route) {
	ways = r.besideSuccess(row.Values[0])
	if !row.Mixed || len(ways) == 0 || row.Held || row.OtherKind || row.Meanwhile {
		return "", 0, "", nil
	}
	names, to, end := list(row.Values), first(r.targetsOf(ways[:1], r.trunk())), endOf(ways)
	beside := fmt.Sprintf("%s %s of %s for one job, but beside jobs that have succeeded ", names, row.is(), r.Operation)
	switch {
	case row.Meaning == MeansFailure && end == PollsOn && !r.worksOn(ways):
		return StatusPollsOn, diag.Danger, beside + fmt.Sprintf("the loop goes on to %q and polls again, and no job will change any more; "+
			"lead to a state outside of the loop", to), ways
	case row.Meaning == MeansFailure && slices.ContainsFunc(ways, r.isOfSuccess) && !endsIn(ways, EndsFailure) && !endsIn(ways, PollsOn) && !r.takesMixed(row):
		return StatusMisread, diag.Warning, beside + fmt.Sprintf("the Choice leads to %q, as if all had; "+
			"count the failures, too: only you know whether a part is enough", to), ways
	case row.isGoing() && (end == EndsSuccess || end == GoesOn) && r.isEachStated(row) && !r.takes(row) && r.waitsForAll():
		return StatusUnhandled, diag.Warning, fmt.Sprintf("one job may still run with %s, but beside jobs that have succeeded the Choice leads to %q; "+
			"poll on while any job has the status", names, to), ways
	}
	return "", 0, "", nil
}

// besideSuccess are the ways of a job with a value beside others that have succeeded.
func (r *reading) besideSuccess(value string) []route {
	var all []route
	for _, m := range r.mixed[value] {
		if m.others == MeansSuccess {
			all = addRoutes(all, m.routes)
		}
	}
	return all
}

// waitsForAll tells whether the loop polls on while one job runs and the others have succeeded.
func (r *reading) waitsForAll() bool {
	return slices.ContainsFunc(r.status.values, func(value string) bool {
		return r.status.meaning(r.judges, value) == MeansRunning && endOf(r.besideSuccess(value)) == PollsOn
	})
}

// takesMixed tells whether a waiter takes a job with the values of a row beside one that has succeeded for a success.
func (r *reading) takesMixed(row *Row) bool {
	path := r.status.path
	return slices.ContainsFunc(r.judges, func(j *judge) bool {
		return j.verdict != nil && slices.ContainsFunc(r.status.values, func(value string) bool {
			return j.taken[value] && j.verdict(joinAnswers(answer(path, row.Values[0]), answer(path, value))) == pollcore.Success
		})
	})
}
