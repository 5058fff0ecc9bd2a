package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// gate is a rule that takes an end of the job only while a count or a time allows it, too.
type gate struct {
	*reading

	loop  *loop
	value string // that ends the job
}

// checkGates checks the rows of ends that a rule takes only while a count or a time allows it, too.
func (c *checker) checkGates(l *loop, r *reading) {
	if r.status == nil || r.Retries || r.Together {
		return
	}
	for i := range r.Rows {
		row := &r.Rows[i]
		ends := row.Meaning == MeansSuccess || row.Meaning == MeansFailure
		judged := row.Rule != "" || row.Meanwhile || row.OtherKind || row.FailsAt != "" || !c.mayJudge(r, row)
		if judged || !ends || row.Ends != EndsUnknown || len(row.Values) == 0 || !mayPollOn(r.takenBy(row.Values[0])) {
			continue
		}
		g := gate{r, l, row.Values[0]}
		to, runs := first(r.targetsOf(r.polling(g.value), r.trunk())), c.gatedRuns(&g)
		severity, when := diag.Danger, "that is false at the first polls"
		switch {
		case slices.ContainsFunc(runs, func(ran gatedRun) bool { return !c.boundsOf(l).clock && g.isLost(&ran.first) }):
			when = "that stays false if the first poll finds the status"
		case slices.ContainsFunc(runs, func(ran gatedRun) bool { return g.isLost(&ran.late) }):
			when = "that is false after some time"
		case g.isDelayed(runs):
			severity = diag.Warning
		default:
			continue
		}
		c.reportGate(r, row, severity, r.sayMeaning(row, list(row.Values))+fmt.Sprintf("the rule asks for something else, too, and %s: "+
			"the loop goes on to %q and polls again; look at the status alone", when, to))
	}
}

// polling are the routes of a value that lead back to the poll.
func (r *reading) polling(value string) []route {
	return slices.DeleteFunc(slices.Clone(r.takenBy(value)), func(way route) bool { return way.ends != PollsOn })
}

// reportGate reports a row at the way back to the poll.
func (c *checker) reportGate(r *reading, row *Row, severity diag.Severity, text string) {
	if slices.Contains(c.off, StatusPollsOn) {
		return
	}
	severity = r.limit(row, severity)
	row.Rule, row.Severity = StatusPollsOn, severity
	s, field := r.decisionOf(r.polling(row.Values[0]))
	c.reportStatuses(row.Values, severity, StatusPollsOn, s, field, "%s", text)
}

// isLost tells whether laps of the end never leave the loop, or leave it as a job that runs does.
func (g *gate) isLost(ran *laps) bool {
	if ran.end == lapsLeave {
		return ran.polls > 1 && !slices.ContainsFunc(g.takenBy(g.value), func(way route) bool {
			return slices.ContainsFunc(ran.exits, func(exit string) bool {
				return slices.Contains(way.path, exit) || way.leaf != nil && way.leaf.Name == exit
			})
		})
	}
	return ran.end == lapsRepeat || ran.end == lapsGoOn
}

// isDelayed tells whether the end of a job polls on at the first polls, and leaves the loop at once later. A
// resource may have the status from before: then the count waits for the new one.
func (g *gate) isDelayed(runs []gatedRun) bool {
	if g.Entry == nil || g.Entry.Job == nil || g.tellsOfBefore() {
		return false
	}
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(ran gatedRun) bool {
		return ran.first.end != lapsLeave || ran.first.polls == 1 || ran.late.end != lapsLeave || ran.late.polls > 1
	})
}

// gatedRun is the end at the first poll of a loop, and behind polls of a job that runs.
type gatedRun struct{ first, late laps }

// mostPolls is how many polls of a job that runs are followed before it ends.
const mostPolls = 200

// gatedRuns run the end from each entry of the loop.
func (c *checker) gatedRuns(g *gate) []gatedRun {
	polls, b := mostPolls, c.boundsOf(g.loop)
	if b.tried != nil {
		polls = min(polls, b.tried.polls*3/4) //nolint:mnd // the end of the last polls may be lost by the bound alone
	}
	var all []gatedRun
	for _, value := range g.pollingValues() {
		for _, from := range c.entriesOf(g.loop) {
			run := lapRun{loop: g.loop, reading: g.reading, value: value}
			run.follow(&path{at: from})
			var first, last []*path
			for n := 0; n <= polls && run.lap(c) && len(run.polling) > 0; n++ {
				last = slices.Clone(run.polling)
				if n == 0 {
					first = last
				}
				run.open, run.polling, run.taken = run.polling, nil, nil
			}
			if len(first) == 1 && len(last) == 1 {
				all = append(all, gatedRun{c.runEnd(g, first[0].at, typecheck.Early), c.runEnd(g, last[0].at, typecheck.Late)})
			}
		}
	}
	return all
}

// runEnd runs laps of the end from a poll on, at some time.
func (c *checker) runEnd(g *gate, from entry, at typecheck.Clock) laps {
	b := c.boundsOf(g.loop)
	if b.clock {
		from.env = from.env.At(at)
	}
	run := lapRun{loop: g.loop, reading: g.reading, value: g.value, strict: true, endless: b.clock}
	return c.countLaps(&run, from, fartherThanHistory*g.Turn.most())
}
