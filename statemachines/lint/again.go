package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// sayStartsAgain says what is wrong where a row leads to the start of the job; empty if nothing is.
func (r *reading) sayStartsAgain(row *Row, to string) string {
	names := list(row.Values)
	switch {
	case row.Ends != StartsAgain:
		return ""
	case (row.Meaning == MeansRunning && r.isStated(row.Values[0]) || row.Meaning == MeansEnding) && r.startsSecond():
		return fmt.Sprintf("the loop goes on to %q for %s of %s, in which the job has not ended yet: a second job starts beside the first; poll on",
			to, names, r.asked())
	case row.Meaning == MeansFailure && slices.ContainsFunc(r.routes[row.Values[0]], r.startsFreely):
		return fmt.Sprintf("after %s of %s the loop goes on to %q and starts the job again, and nothing bounds the starts: "+
			"a job that always fails is started again and again; count the starts, and then lead to a Fail state", names, r.asked(), to)
	}
	return ""
}

// sayUsedUp says that some routes of a failure, beside one that starts the job again, lead on as a success does.
func (r *reading) sayUsedUp(routes []route) string {
	s, _ := r.decisionOf(routes)
	to := routes[0].path[len(routes[0].path)-1]
	for _, d := range routes[0].chosen {
		if d.choice == s && d.taken != nil {
			to = d.taken.To
		}
	}
	return fmt.Sprintf("once the job is not started again, %q leads to %q, as for a success; lead to a Fail state there", s.Name, to)
}

// startsSecond tells whether the job that the loop polls runs on when the loop starts it again.
func (r *reading) startsSecond() bool {
	if r.Start == nil || r.Entry == nil || r.Entry.Job == nil {
		return false
	}
	return startsSecond(r.Start, r.Entry)
}

// startsFreely tells whether no bound stands on a route that starts the job again, nor behind
// it on the way to the poll.
func (r *reading) startsFreely(way route) bool {
	if way.ends != StartsAgain || slices.ContainsFunc(way.chosen, func(d decision) bool { return d.taken != nil && r.bounds.passes[d.choice][*d.taken] }) {
		return false
	}
	whole := r.bounds.loop
	open := loops(whole.flow, whole.states, func(s *asl.State, way asl.Transition) bool {
		return way.Kind != asl.TransitionCatch && !r.bounds.passes[s][way]
	})
	return slices.ContainsFunc(open, func(l *loop) bool { return l.inside[way.leaf.Name] && l.inside[r.Poll.Name] })
}

// checkErrorStart checks that an error of the poll that says nothing of the job, such as that of a
// throttled call, does not start a second one.
func (c *checker) checkErrorStart(r *reading, way typecheck.Way, end End) {
	takes := func(name string) bool { return c.takesThrottling(r.Poll, name) }
	if end != StartsAgain || !slices.ContainsFunc(r.Poll.Catch[way.Rule].ErrorEquals, takes) || !r.startsSecond() {
		return
	}
	c.report(RepeatedStart, r.Poll, fmt.Sprintf("/Catch/%d/Next", way.Rule), "a throttled call of the poll leads to %q, which starts the job again, "+
		"beside the first one that may still run; poll on after such an error, or lead to a Fail state", way.To)
}

// decisionOf is where the first of some routes is chosen.
func (r *reading) decisionOf(routes []route) (s *asl.State, field string) {
	chosen := routes[0].chosen
	if len(chosen) == 0 {
		return r.Poll, ""
	}
	last := chosen[len(chosen)-1]
	if routes[0].ends == NextJob { // a later Choice looks whether there is one
		for _, d := range slices.Backward(chosen) {
			if named := map[string]bool{}; d.taken != nil {
				if nameValues(d.choice, named); len(named) > 0 {
					last = d
					break
				}
			}
		}
	}
	switch {
	case last.taken == nil:
		return last.choice, "/Choices"
	case last.taken.Kind == asl.TransitionDefault:
		return last.choice, "/Default"
	default:
		return last.choice, fmt.Sprintf("/Choices/%d/Next", last.taken.Rule)
	}
}
