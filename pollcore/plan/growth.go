package plan

import (
	"errors"
	"fmt"
	"math"
)

// universal plans without the distribution, so that what it promises holds whatever
// jobs take: for a lateness a fixed delay, for a share of the job's length delays that
// grow by it. To poll at times of ratio 1+e is the cheapest schedule that is never later
// than the share e, as each interval from x to (1+e)x must hold a poll.
func (s *search) universal() (Plan, error) {
	g := s.goal
	var c candidate
	var why string
	switch {
	case g.Price > 0:
		return Plan{}, errors.New("a price of a second needs a distribution of the durations: state a lateness instead")
	case g.Share > 0:
		c = s.growth(g.Share)
		why = fmt.Sprintf("Delays grow with the time that the job runs: no job is seen later than %s of its length, or a delay of %s.",
			percent(g.Share), duration(s.least+s.jitter))
	default:
		late := g.Late.Seconds()
		delay := late // the worst, and more than 95 %
		if g.At == Mean || g.At == P50 {
			delay = 2 * late
		}
		delay = math.Floor(delay)
		first := delay - math.Round(s.jitter/2) // as late on average
		if g.At == P95 || g.At == Worst {
			first = delay - s.jitter
		}
		if delay < s.least {
			return Plan{}, unreachable(Fixed, s)
		}
		if g.At == Worst && first < s.least {
			return Plan{}, fmt.Errorf("%w: a jitter of %s makes the first poll later than %s: take less jitter, or allow more lateness",
				ErrUnreachable, duration(s.jitter), duration(late))
		}
		c = s.schedule(Fixed, []float64{first}, delay)
		why = "A fixed delay needs no knowledge of the durations."
	}
	p := Plan{Schedule: c.planned, Method: c.method, Why: why, Bound: 1}
	fixed, ok := c, c.method == Fixed
	if !ok {
		fixed, ok = s.findFixed()
	}
	if ok {
		p.Fixed = fixed.planned
	}
	if s.d.IsKnown() {
		p.Cost = c.measure(s.d)
		if ok {
			p.Bound, p.FixedCost = s.bound(fixed.polls(s.d).cost(s.d)), fixed.measure(s.d)
		}
	}
	return p, nil
}

// growth polls at times of ratio 1+e.
func (s *search) growth(e float64) candidate {
	var times []float64
	now, end := 0.0, maxDuration.Seconds()
	if s.d.IsKnown() {
		end = min(end, s.d.quantile(enough))
	}
	for len(times) < s.delays && now < end {
		now += max(s.least, math.Floor(e*max(now, shortest)))
		times = append(times, now)
	}
	return s.schedule(Growth, times, math.Floor(e*now))
}
