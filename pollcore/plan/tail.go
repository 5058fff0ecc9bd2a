package plan

import (
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// indifferent is the share of the calls that a schedule may have more to be better where
// the distribution has few jobs or none.
const indifferent = 0.005

// allowAt returns the fixed delay that the goal justifies for a job that runs at time t, in
// seconds.
func (s *search) allowAt(t float64) float64 {
	g := s.goal
	var delay float64
	switch {
	case g.Price > 0:
		delay = math.Sqrt(2 * s.meanRun() / g.Price)
	case g.At == P95:
		delay = s.tolerance(t) / 0.95
	default:
		delay = 2 * s.tolerance(t)
	}
	return min(max(delay, s.least), s.most)
}

// residual is the mean time that jobs still run which run at time t, as p has it.
func (s *search) residual(t float64, p point) float64 {
	if p.below >= 1-1e-9 {
		return 0
	}
	return max(0, (s.d.mean()-p.partial)/(1-p.below)-t)
}

// tail is the fixed delay for jobs that still run at time t: the best one for the mean
// time that they have left. Where the distribution has no such jobs, it is that for
// the goal.
func (s *search) tail(t float64, p point, price float64) float64 {
	left := s.residual(t, p)
	if left <= 0 {
		return s.allowAt(t)
	}
	return min(max(math.Sqrt(2*left/price/s.weight(t)), s.least), s.most)
}

// settle returns a candidate whose last delays are those that the goal justifies, as far
// as that takes practically no more calls. The distribution has few jobs there, or none,
// but it may be wrong: then a long delay finds jobs very late, and a short one polls them
// without need.
func (s *search) settle(c, fixed candidate) candidate {
	return s.shorten(s.lengthen(c), fixed)
}

// lengthen returns a candidate whose delay after the listed ones is as long as the goal
// justifies, from the end on or from a few polls later, if it then still meets the goal.
func (s *search) lengthen(c candidate) candidate {
	const most = 32 // polls later
	for more := 0; more < most && (more == 0 || len(c.planned.Delays)+more <= s.delays); more = 2*more + 1 {
		long := c
		long.planned.Delays = slices.Concat(c.planned.Delays, slices.Repeat([]time.Duration{c.planned.Then}, more))
		if long.planned.Then = s.allowAfter(long.planned.Delays); long.planned.Then < 2*c.planned.Then { // nearly the same
			break
		}
		if s.meets(&long) && long.score <= c.score {
			return long
		}
	}
	return c
}

// allowAfter returns the delay after a list that the goal justifies, in whole seconds.
func (s *search) allowAfter(delays []time.Duration) time.Duration {
	end := time.Duration(0)
	for _, delay := range delays {
		end += delay
	}
	return time.Duration(math.Floor(s.allowAt(end.Seconds()))) * time.Second
}

// shorten returns a candidate whose last delays are no longer than the goal justifies,
// where that takes practically no more calls.
func (s *search) shorten(c, fixed candidate) candidate {
	most := min((1+indifferent)*c.score, max(c.score, fixed.score))
	best := c
	try := func(delays []time.Duration, then time.Duration) bool {
		short := candidate{method: c.method, planned: pollcore.Planned{Delays: delays, Then: then, Jitter: c.planned.Jitter}}
		if !s.meets(&short) || short.score > most {
			return false
		}
		best = short
		return true
	}
	for n := len(c.planned.Delays); n > 0; n-- {
		delays := c.planned.Delays[:n]
		goal := s.allowAfter(delays)
		long := best.planned.Then // or the delay that is left out
		if n < len(c.planned.Delays) {
			long = c.planned.Delays[n]
		}
		if long <= goal {
			break
		}
		if try(delays, goal) {
			continue
		}
		if n == len(c.planned.Delays) { // somewhere between, then
			for low, high := goal, long; high-low > time.Second && float64(high) > 1.01*float64(low); {
				middle := ((low + high) / 2).Truncate(time.Second) //nolint:mnd // halves
				if try(delays, middle) {
					high = middle
				} else {
					low = middle
				}
			}
		}
		break
	}
	return s.part(best, most)
}

// part returns a candidate that has the delay after the listed ones once, and then the
// one that the goal justifies, where that takes practically no more calls: of two kinds of
// jobs it keeps the time between them, and finds what is longer than both.
func (s *search) part(c candidate, most float64) candidate {
	parted := c
	parted.planned.Delays = append(slices.Clone(c.planned.Delays), c.planned.Then)
	parted.planned.Then = s.allowAfter(parted.planned.Delays)
	if parted.planned.Then < c.planned.Then && len(parted.planned.Delays) <= s.delays && s.meets(&parted) && parted.score <= most {
		return parted
	}
	return c
}
