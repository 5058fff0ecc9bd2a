package lint

import (
	"fmt"
	"slices"
	"strings"

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
	row.FailsAt, row.Error, row.Lacks = first.failed.Name, selectionError(first.failed), lacks
	row.lost = first.lost
	row.Raises, row.Retried = first.raises, pollsByRetry(first.failed)
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
	if row.lost {
		return "", 0, "" // checkLostInput reports it
	}
	it, each := "it", ""
	if len(row.Values) > 1 {
		it, each = "them", " for each"
	}
	what, advice := fmt.Sprintf("a field of %q has no value for %s", row.FailsAt, it), "; give the field a value"+each
	if row.Raises {
		what, advice = fmt.Sprintf("an expression of %q raises an error for %s", row.FailsAt, it), "; let it give a value"
		if r.Flow.State(row.FailsAt).Choice != nil {
			advice = "; let it give true or false"
		}
	}
	fails := fmt.Sprintf("%s of %s, but %s, and the state fails with %s", list(row.Values), r.asked(), what, row.Error)
	if row.Retried {
		fails += " after its retries"
	}
	if len(row.Routes) > 0 {
		fails += fmt.Sprintf(", for which its Catch leads to %q", row.Routes[0])
	}
	fails += advice
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

// failingField is the state that fails for a row, and the field of it; empty if that is not known.
func (r *reading) failingField(row *Row) (s *asl.State, field string) {
	s = r.Flow.State(row.FailsAt)
	for _, way := range r.takenBy(row.Values[0]) {
		if field, found := strings.CutPrefix(way.failing, s.Position.Pointer); way.failed == s && found {
			return s, field
		}
	}
	return s, ""
}

// failsRunning is the state that fails for each status of a job that runs, and so ends the loop; nil
// if there is none. lacks tells that it does as the answer lacks what it reads.
func (r *reading) failsRunning() (at *asl.State, lacks bool) {
	if r.status == nil || r.Retries {
		return nil, false
	}
	for _, value := range r.status.values {
		if r.status.meaning(r.judges, value) != MeansRunning {
			continue
		}
		for _, way := range r.takenBy(value) {
			goesOn := way.ends == PollsOn || way.ends == NextJob || way.ends == StartsAgain || way.ends == EndsUnknown
			if way.failed == nil || way.caught && goesOn || at != nil && way.failed != at || pollsByRetry(way.failed) {
				return nil, false
			}
			at, lacks = way.failed, lacks || r.lacking[value]
		}
	}
	return at, lacks
}

// failsAgain tells whether that is the poll, when it is made again.
func (r *reading) failsAgain() bool {
	return slices.ContainsFunc(r.status.values, func(value string) bool {
		return r.status.meaning(r.judges, value) == MeansRunning && slices.ContainsFunc(r.takenBy(value), func(way route) bool { return way.lost })
	})
}

// fails tells whether a state fails for a value of the status, and not as the answer lacks a member.
func (r *reading) fails(s *asl.State) bool {
	for value, routes := range r.taken {
		if !r.lacking[value] && slices.ContainsFunc(routes, func(way route) bool { return way.failed == s }) {
			return true
		}
	}
	return false
}

// caughtRunning is the state that fails in each turn of a job that runs, and the number of the catcher that leads it back
// to the poll; nil if there is none.
func (r *reading) caughtRunning() (at *asl.State, catcher int) {
	if r.status == nil || r.Retries {
		return nil, 0
	}
	for _, value := range r.status.values {
		if r.status.meaning(r.judges, value) != MeansRunning {
			continue
		}
		for _, way := range r.takenBy(value) {
			i := slices.IndexFunc(way.hops, func(h hop) bool { return h.state == way.failed && h.way.Kind == asl.TransitionCatch })
			if !way.caught || way.ends != PollsOn || i < 0 || at != nil && (way.failed != at || way.hops[i].way.Rule != catcher) {
				return nil, 0
			}
			at, catcher = way.failed, way.hops[i].way.Rule
		}
	}
	return at, catcher
}

// failsUnjudged is the Choice of a loop whose statuses are not judged that fails for each status that its rules do not
// take before, and never leads back; nil if there is none, or if the loop turns without it.
func (c *checker) failsUnjudged(l *loop, r *reading) *asl.State {
	if r.status != nil || r.Retries {
		return nil
	}
	for _, s := range l.states {
		if s.Choice == nil || !c.types.FailsRule(s, c.types.Input(s)) {
			continue
		}
		leads := func(way typecheck.Way) bool { return l.inside[way.To] && !way.Fails }
		without := func(from *asl.State, _ asl.Transition) bool { return from != s }
		if !slices.ContainsFunc(c.types.Try(s, c.types.Input(s), typecheck.Value{}), leads) && len(loops(l.flow, l.states, without)) == 0 {
			return s
		}
	}
	return nil
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

// pollsByRetry tells whether the Retry of a state takes a failed expression for a minute or
// more: it may last until the member is there. No Retry takes a path of JSONPath that fails.
func pollsByRetry(s *asl.State) bool {
	if s.QueryLanguage != asl.JSONata {
		return false
	}
	for _, r := range s.Retry {
		if !slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return slices.Contains(takesFailedExpressions, name) }) {
			continue
		}
		total := 0.0
		for n := int64(1); n <= r.MaxAttempts && total < longRetry; n++ {
			total += r.Delay(n)
		}
		return total >= longRetry
	}
	return false
}
