package lint

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// checkLast notes a loop that asks whether its bound is reached before it looks at the status: the answer of
// the last poll is not looked at, and a job that has succeeded by then counts as one that has not.
func (c *checker) checkLast(r *reading) {
	kind := r.Bound.Kind
	if r.Bound.Running != nil { // only calls that fail have no bound
		kind = r.Bound.Running.Kind
	}
	if r.status == nil || r.Retries || !slices.Contains([]BoundKind{ByCount, ByTime, ByOther}, kind) {
		return
	}
	var values []string
	var late route
	for _, value := range r.status.values {
		if r.status.meaning(r.judges, value) != MeansSuccess || !r.isStated(value) {
			continue
		}
		inTime := r.routes[value]
		if end := endOf(inTime); !isJudged(end) && end != StartsAgain || end == EndsFailure || slices.ContainsFunc(inTime, r.endsPolls) {
			continue
		}
		all := asWritten(r.followAll(value))
		if i := slices.IndexFunc(all, func(way route) bool {
			return r.endsPolls(way) && way.ends == EndsFailure && way.leaf != nil && !way.looksAt(value)
		}); i >= 0 {
			values, late = append(values, value), all[i]
		}
	}
	if len(values) == 0 {
		return
	}
	s, field := r.decisionOf([]route{late})
	looks := map[BoundKind]string{ByCount: "looks at the count", ByTime: "looks whether the time is over", ByOther: "looks at the bound"}[kind]
	c.reportAs(diag.Note, BoundFirst, s, field, "%s", fmt.Sprintf("%q %s before the loop looks at the status: a job that the last poll finds %s leads to %q, "+
		"and the execution %s; look at the status first",
		s.Name, looks, list(values), late.leaf.Name, c.executionEnds(r, late)))
}

// looksAt tells whether a Choice before the last one on a route names a value.
func (way *route) looksAt(value string) bool {
	return slices.ContainsFunc(way.chosen[:max(0, len(way.chosen)-1)], func(d decision) bool {
		named := map[string]bool{}
		nameValues(d.choice, named)
		return named[value]
	})
}
