package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// noteFailing notes in a row the state that fails on all of its routes, if there is one.
func (row *Row) noteFailing(taken []route, lacks bool) {
	first := taken[0]
	if slices.ContainsFunc(taken, func(way route) bool {
		return way.failed == nil || way.failed != first.failed || way.caught != first.caught
	}) {
		return
	}
	if lacks && first.caught {
		return // it does not fail the execution
	}
	row.FailsAt, row.Error, row.Lacks = first.failed.Name, selectionError(first.failed), lacks
	if !first.caught && !lacks {
		row.Routes = nil
	}
}

// selectionError is the error of a state of which a field selects nothing.
func selectionError(s *asl.State) string {
	if s.QueryLanguage == asl.JSONata {
		return asl.ErrorQueryEvaluation
	}
	return asl.ErrorRuntime
}

// judgeFailing returns the rule that a row breaks for which a state fails, and what to say.
func (r *reading) judgeFailing(row *Row) (rule string, severity diag.Severity, text string) {
	it, each := "it", ""
	if len(row.Values) > 1 {
		it, each = "them", " for each"
	}
	fails := fmt.Sprintf("%s of %s, but a field of %q has no value for %s, and the state fails with %s", list(row.Values), r.Operation, row.FailsAt, it, row.Error)
	if len(row.Routes) > 0 {
		fails += fmt.Sprintf(", for which its Catch leads to %q", row.Routes[0])
	}
	fails += "; give the field a value" + each
	ends := row.Meaning == MeansSuccess || row.Meaning == MeansFailure
	switch {
	case ends && row.Ends == PollsOn:
		return StatusPollsOn, diag.Danger, "the job ends in " + fails
	case row.Meaning == MeansSuccess && row.Ends == EndsFailure:
		return StatusMisread, diag.Danger, "the job succeeds with " + fails
	case row.Meaning == MeansRunning && !row.Held && row.Ends != PollsOn && row.Ends != EndsUnknown && r.isEachStated(row):
		return StatusUnhandled, diag.Warning, "the job still runs in " + fails
	}
	return "", 0, ""
}

// isEachStated tells whether the catalogue states what each value of a row means.
func (r *reading) isEachStated(row *Row) bool {
	return !slices.ContainsFunc(row.Values, func(value string) bool { return !r.isStated(value) })
}

// markLacking gives the rows for which a state fails, as the answer lacks a member, the rule
// that has found it.
func (c *checker) markLacking(r *reading) {
	for i := range r.Rows {
		row := &r.Rows[i]
		if !row.Lacks || row.Rule != "" {
			continue
		}
		at := r.Flow.State(row.FailsAt).Position.Pointer
		for _, f := range c.findings {
			if f.Rule == typecheck.AbsentMember && f.Severity == diag.Danger && isBelow(f.Pointer, at) {
				row.Rule, row.Severity = f.Rule, f.Severity
			}
		}
	}
}
