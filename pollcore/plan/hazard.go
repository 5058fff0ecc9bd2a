package plan

import (
	"math"
)

// enough is the share of the jobs for which a schedule lists its delays. The few that
// run longer are polled with a fixed delay.
const enough = 0.999

// findHazard finds a schedule by the rule of the square root of the hazard: with a price k
// of a second and one of 1 for a call, polls at the rate sqrt(k h(t) / 2), where h(t) is
// how likely a job that runs at t is to end in the next second.
//
// J. B. Keller, Optimum checking schedules for systems subject to random failure,
// Management Science 21 (1974), 256-260. Like A. G. Munford and A. K. Shahani, A nearly
// optimal inspection policy, Oper. Res. Quart. 23 (1972), 373-379, it needs no search.
//
// It lists few delays, or more where that saves calls: of long jobs all polls can come
// after the few.
func (s *search) findHazard() (candidate, bool) {
	best, ok := s.tune(s.byRate)
	if s.more == s.delays || ok && s.later(best) <= worthwhile*best.calls {
		return best, ok
	}
	few := s.delays
	s.delays = s.more
	many, found := s.tune(s.byRate)
	s.delays = few
	if found && (!ok || many.score <= (1-worthwhile)*best.score) {
		return many, true
	}
	return best, ok
}

func (s *search) byRate(price float64) candidate {
	times, then := s.rate(price)
	return s.schedule(Hazard, times, then)
}

// later is how many calls of a candidate come after its listed delays.
func (s *search) later(c candidate) float64 {
	p := c.polls(s.d)
	listed := p
	if n := len(c.planned.Delays); n < len(p.times) {
		listed = polls{times: p.times[:n]}
	}
	listed.then = 0
	return p.cost(s.d).calls - listed.cost(s.d).calls
}

// rate puts a poll where the integral of the rate of polls reaches 1/2, 3/2, 5/2 ...
func (s *search) rate(price float64) (times []float64, then float64) {
	d, seen := s.all, cursor{d: s.d}
	from, reached, next := 0.0, 0.0, 0.5
	slowest, fastest := 1/s.most, 1/s.least
	// fill adds the polls up to a time at which the rate ends.
	fill := func(to, rate float64) {
		end := reached + rate*(to-from)
		for ; next <= end && len(times) < s.delays; next++ {
			times = append(times, from+(next-reached)/rate)
		}
		from, reached = to, end
	}
	last := len(d.edges) - 1
	fill(max(0, d.edges[0]), slowest)
	for i := 0; i < last && len(times) < s.delays; i++ {
		ended := seen.share(d.edges[i])
		if ended >= enough {
			break
		}
		to, width := d.edges[i+1], d.edges[i+1]-d.edges[i]
		if to <= 0 {
			continue
		}
		rate := slowest
		if density := (d.below[i+1] - d.below[i]) / width; density > 0 {
			integral := 2 * (math.Sqrt(1-d.below[i]) - math.Sqrt(1-d.below[i+1])) / math.Sqrt(density)
			rate = math.Sqrt(price*s.weight((d.edges[i]+to)/2)/2) * integral / width
		}
		if ended > 1-enough {
			slowest = 1 / min(s.most, s.longestAt(from))
		}
		fill(to, min(max(rate, slowest), fastest))
	}
	if len(times) == 0 { // none is worth it before all have ended
		times = []float64{math.Ceil(from)}
	}
	end := times[len(times)-1]
	c := cursor{d: s.d}
	return times, s.tail(end, c.at(end), price)
}
