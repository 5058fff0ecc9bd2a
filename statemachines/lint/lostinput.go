package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// pollAgain ends a route at the poll. Where the input that it brings has no longer what the call reads, the poll fails.
func (w *walk) pollAgain(way typecheck.Way, at route) {
	at.ends = PollsOn
	if w.bounds != nil {
		env := way.Env
		if s := w.inner.flow.State(way.To); s != w.poll { // the Wait in front of it
			env = w.types.Step(s, env, typecheck.Value{})[0].Env
		}
		ways := w.types.Try(w.poll, env, w.types.Result(w.poll))
		i := slices.IndexFunc(ways, func(again typecheck.Way) bool { return again.Fails && isOfCall(w.poll, again.Failing) })
		if i >= 0 {
			lost := at
			lost.lost, lost.raises, lost.failing = true, ways[i].Raises, ways[i].Failing
			w.fail(w.poll, slices.DeleteFunc(ways, func(again typecheck.Way) bool { return again.Kind != asl.TransitionCatch }), lost)
			at.fails = true
		}
	}
	w.found = append(w.found, at)
}

// isOfCall tells whether a JSON pointer is of what a Task sends.
func isOfCall(s *asl.State, pointer string) bool {
	return slices.ContainsFunc([]string{"/InputPath", "/Parameters", "/Arguments"}, func(field string) bool {
		return isBelow(pointer, s.Position.Pointer+field)
	})
}

// checkLostInput reports a poll whose second call has no longer what it reads: the first answer took the place of it.
func (c *checker) checkLostInput(r *reading) {
	if slices.Contains(c.off, typecheck.UnknownMember) {
		return
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		if !row.lost || !row.isGoing() || len(row.Values) == 0 {
			continue
		}
		s, field := r.failingField(row)
		row.Rule, row.Severity = typecheck.UnknownMember, diag.Danger
		if c.isReported(typecheck.UnknownMember, s.Position.Pointer+field) {
			continue
		}
		advice := "give the poll a \"ResultPath\", such as \"$.poll\", and read the status there"
		if s.QueryLanguage == asl.JSONata {
			advice = "keep it in a variable, or in the \"Output\" of the poll"
		}
		c.reportAs(diag.Danger, typecheck.UnknownMember, s, field, "this has no value at the second poll: the first answer of %s has taken the place of the input, "+
			"and while the job runs the state fails with %s; %s", r.asked(), row.Error, advice)
	}
}
