package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// checkPolledOn finds a rule that polls on until the bound of the loop, in front of those for the status: a job that has
// ended is polled until then, too.
func (c *checker) checkPolledOn(r *reading) {
	if r.status == nil || r.Retries || r.bounds == nil || r.Together || !slices.Contains([]BoundKind{ByCount, ByTime, ByOther}, r.Bound.Kind) {
		return
	}
	running := r.running
	if len(running) == 0 {
		running = r.followAll(otherValue)
	}
	var values []string
	var by hop
	for _, value := range r.status.values {
		if means := r.status.meaning(r.judges, value); means != MeansSuccess && means != MeansFailure {
			continue
		}
		routes := asWritten(r.followAll(value))
		if !slices.ContainsFunc(routes, func(way route) bool { return way.ends == EndsSuccess || way.ends == EndsFailure || way.ends == GoesOn }) {
			continue
		}
		for _, way := range routes {
			if h := r.boundOn(way, running); h != nil {
				values, by = append(values, value), *h
				break
			}
		}
	}
	if len(values) == 0 {
		return
	}
	until := "until the bound is reached"
	if r.Bound.Kind == ByCount && r.Bound.Polls > 1 {
		until = fmt.Sprintf("until %s polls are made", thousands(r.Bound.Polls))
	}
	c.reportAs(diag.Warning, BoundFirst, by.state, fmt.Sprintf("/Choices/%d/Next", by.way.Rule),
		"%q looks at the bound before the status, and leads back to the poll: a job that has ended, with %s, is polled on %s; look at the status first",
		by.state.Name, join(values, "or"), until)
}

// boundOn is the rule about a bound of the loop by which a way polls on, if a job that runs polls on by no other; nil for
// none.
func (r *reading) boundOn(way route, running []route) *hop {
	if way.ends != PollsOn {
		return nil
	}
	for _, h := range way.hops {
		if h.state.Choice == nil || h.way.Kind != asl.TransitionRule || !r.bounds.loop.inside[h.way.To] || !r.bounds.limits[h.state][h.way] {
			continue
		}
		if !slices.ContainsFunc(running, func(o route) bool { return o.ends == PollsOn && !slices.Contains(o.hops, h) }) {
			return &h
		}
	}
	return nil
}
