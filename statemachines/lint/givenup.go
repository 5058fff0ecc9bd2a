package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkGivenUp checks that a bound does not lead a job that still runs to where a success leads, and the execution
// succeeds there. A bound that leads elsewhere succeeds on purpose.
func (c *checker) checkGivenUp(l *loop, r *reading) {
	b := &r.Bound
	if b.Running != nil { // only calls that fail have no bound
		b = b.Running
	}
	if r.status == nil || r.Retries || r.Together || !b.isOwn() || b.Ends != EndsSuccess || len(b.At) == 0 || !c.outsideOf(r.Flow).quiet {
		return
	}
	if !slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Meaning == MeansSuccess && slices.Contains(row.Routes, b.Route) }) {
		return
	}
	s := r.Flow.State(b.At[0])
	if s == nil || s.Choice == nil {
		return
	}
	for _, way := range s.Transitions() {
		if way.To != b.Route {
			continue
		}
		field := "/Default"
		if way.Kind == asl.TransitionRule {
			if !c.boundsOf(l).limits[s][way] || len(partsOf(&s.Choice.Rules[way.Rule])) > 1 && !r.takesAny(hop{s, way}) {
				continue // it is for some statuses
			}
			field = fmt.Sprintf("/Choices/%d/Next", way.Rule)
		}
		severity := diag.Warning
		if r.Derived != nil {
			severity = diag.Note
		}
		c.reportAs(severity, HiddenFailure, s, field, "a job that still runs when the loop gives up leads to %q, as one that has succeeded, "+
			"and the execution succeeds; lead to a Fail state", b.Route)
		return
	}
}

// takesAny tells whether any status, also one that no rule names, may take a way when a bound is reached.
func (r *reading) takesAny(h hop) bool {
	return !slices.ContainsFunc(append(r.pollingValues(), otherValue), func(value string) bool {
		return !slices.ContainsFunc(r.followAll(value), func(way route) bool { return slices.Contains(way.lateBy, h) })
	})
}
