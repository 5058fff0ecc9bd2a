package plan

import (
	"math"
)

// findFixed finds one delay for all calls.
func (s *search) findFixed() (candidate, bool) {
	if !s.d.IsKnown() || s.goal.At == Worst {
		return candidate{}, false
	}
	return s.findFixedAfter(0, Fixed)
}

// initials are the quantiles of the durations that an initial delay may be; up to
// latestInitial where the goal is a quantile, which does not count the jobs that it makes
// late, or where few past jobs tell the quantiles.
var initials = []float64{0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5}

const latestInitial = 0.02

// findInitial finds an initial delay, and one for the calls after it.
func (s *search) findInitial() (best candidate, found bool) {
	best.score = math.Inf(1)
	latest := latestInitial
	if s.goal.At == Mean {
		latest = max(latest, s.trust*s.trust*initials[len(initials)-1])
	}
	for _, p := range initials {
		if p > latest {
			break
		}
		if first := math.Floor(s.d.quantile(p) * (1 + moment)); first >= s.least {
			if c, ok := s.findFixedAfter(first, Initial); ok && c.score < best.score {
				best, found = c, true
			}
		}
	}
	return best, found
}

// findFixedAfter finds the delay after a first poll, or before it if that is at 0: the
// longest that meets the goal, or the one with the lowest score.
func (s *search) findFixedAfter(first float64, method Method) (candidate, bool) {
	build := func(delay float64) candidate {
		times := []float64{first}
		if first == 0 { // with the jitter as late as without it, on average
			times[0] = delay - math.Round(s.jitter/2)
		}
		return s.schedule(method, times, delay)
	}
	if s.goal.Price > 0 {
		return s.findCheapest(build), true
	}
	low, limit := build(s.least), s.limit()
	if !s.meets(&low) {
		return candidate{}, false
	}
	if first > 0 {
		limit = min(limit, s.longestAt(first))
	}
	best, longest := low, s.least
	for step := s.least; ; step *= 2 {
		c := build(longest + step)
		if longest+step > limit || !s.meets(&c) {
			// Between the two is the longest delay: halve the steps again.
			for ; step >= 1; step = math.Floor(step / 2) {
				if c := build(longest + step); longest+step <= limit && s.meets(&c) {
					best, longest = c, longest+step
				}
			}
			return best, true
		}
		best, longest = c, longest+step
	}
}

// limit is the longest fixed delay that is of use: twice what any job takes.
func (s *search) limit() float64 {
	return max(s.least, min(2*s.d.edges[len(s.d.edges)-1], maxDuration.Seconds()))
}

// findCheapest is the candidate with the lowest score, of delays around the best one for
// the mean duration.
func (s *search) findCheapest(build func(delay float64) candidate) candidate {
	middle := math.Sqrt(2 * s.meanRun() / s.goal.Price)
	best := candidate{score: math.Inf(1)}
	for i := -40; i <= 40; i++ {
		c := build(middle * math.Pow(1.05, float64(i)))
		if s.meets(&c); c.score < best.score {
			best = c
		}
	}
	return best
}
