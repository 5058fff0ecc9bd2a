package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

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
