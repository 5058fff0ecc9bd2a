package plan

import "math"

// bound is the share of the calls of a fixed delay that the best schedule needs at the
// same lateness: seconds, or a share of the job's length.
//
// Without a shortest delay it is, by Cauchy and Schwarz, the square of the integral of
// sqrt(f(t) S(t) w(t)) over E[X] E[w(X)]. The best delay is in proportion to
// sqrt(S(t) / f(t) / w(t)); where that is below the shortest delay, it is the shortest
// one. These are limits for delays that are short against the spread of the durations.
// Whatever the delays, each job needs a poll.
func (s *search) bound(fixed sum) float64 {
	late := fixed.late
	if s.goal.Share > 0 {
		late = fixed.share
	}
	mean := s.d.mean() + s.jitter/2 // of the jobs, without what the jitter takes off
	return min(1, max(s.polls(late)*2*late/mean/s.totalWeight(), 1/fixed.calls))
}

// totalWeight is the mean weight of all jobs.
func (s *search) totalWeight() float64 {
	if s.goal.Share > 0 {
		return s.d.weight[len(s.d.weight)-1]
	}
	return 1
}

// polls is how many polls delays without a grain need for a lateness.
func (s *search) polls(late float64) float64 {
	d := s.d
	// part is a cell. Delays of a seconds, where the next one is proportional to the
	// best, cost polls/a, and make jobs late by late*a.
	type part struct{ best, polls, late, running, weight float64 }
	var parts []part
	for i := range len(d.edges) - 1 {
		from, to := d.edges[i], d.edges[i+1]
		density := (d.below[i+1] - d.below[i]) / (to - from)
		if density <= 0 {
			continue
		}
		left, right, weight := 1-d.below[i], 1-d.below[i+1], s.weight((from+to)/2)
		root := (math.Pow(left, 1.5) - math.Pow(right, 1.5)) / 1.5 / math.Sqrt(density) * math.Sqrt(weight)
		parts = append(parts, part{
			best: math.Sqrt((left + right) / 2 / density / weight), polls: root, late: root / 2,
			running: (left + right) / 2 * (to - from), weight: density * (to - from) * weight,
		})
	}
	// at is what the delays cost that are so many times the best ones.
	at := func(times float64) (polls, late float64) {
		for _, p := range parts {
			if delay := times * p.best; delay > s.least {
				polls += p.polls / times
				late += p.late * times
			} else {
				polls += p.running / s.least
				late += p.weight * s.least / 2
			}
		}
		return polls, late
	}
	low, high := 1e-9, 1e9
	for range 60 {
		middle := math.Sqrt(low * high)
		if _, got := at(middle); got <= late {
			low = middle
		} else {
			high = middle
		}
	}
	polls, _ := at(low)
	return polls
}
