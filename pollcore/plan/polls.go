package plan

import (
	"iter"
	"math"
	"time"
)

// polls are the times of polls, in seconds from the start of the job.
type polls struct {
	times []float64
	// then is the delay between all later polls; 0 where there are none.
	then float64
}

// What polls cost is counted one by one for the first of them, and then, if the delay
// stays the same, is an integral.
const (
	mostPolls  = 20_000 // of a schedule to measure
	mostSpread = 1_000  // of a fixed delay that a search tries
)

// sum is what polls cost: the integrals of calls and lateness over all jobs.
type sum struct {
	calls, late, share, seen float64
	longest                  float64 // delay
}

// spread writes out the later polls, as far as there are jobs and not too many polls.
func (p polls) spread(d *Distribution) polls {
	if p.then == 0 {
		return p
	}
	last, end := 0.0, d.edges[len(d.edges)-1]
	if n := len(p.times); n > 0 {
		last = p.times[n-1]
	}
	needed := max(0, math.Ceil((end-last)/p.then))
	count := int(min(needed, mostSpread))
	all := append(make([]float64, 0, len(p.times)+count), p.times...)
	for i := range count {
		all = append(all, last+float64(i+1)*p.then)
	}
	if needed > mostSpread {
		return polls{all, p.then}
	}
	return polls{times: all}
}

// cost adds up calls and lateness of polls that are spread.
func (p polls) cost(d *Distribution) sum {
	var s sum
	c, before, last := cursor{d: d}, point{}, 0.0
	if len(p.times) > 0 {
		s.longest = p.times[0] + d.jitter
	}
	for _, t := range p.times {
		s.calls += 1 - before.below
		s.longest = max(s.longest, t-last)
		now := c.at(t)
		s.late += t*(now.below-before.below) - (now.partial - before.partial)
		s.share += t*(now.weight-before.weight) - (now.weighed - before.weighed)
		before, last = now, t
	}
	s.seen = before.below
	if p.then > 0 {
		s.longest = max(s.longest, p.then)
		end := c.at(max(last, d.edges[len(d.edges)-1]))
		left := end.below - before.below
		s.calls += (end.partial-before.partial-last*left)/p.then + left/2
		s.late += p.then / 2 * left
		s.share += p.then / 2 * (end.weight - before.weight)
		s.seen = end.below
	}
	return s
}

// later is the share of the jobs that polls, once spread, see later than a goal
// allows: seconds, or a share of the job's length.
func (p polls) later(d *Distribution, seconds, share float64) float64 {
	if share > 0 {
		return later(p.draw(d), 0, share)
	}
	return later([]sightings{p.meet(d)}, seconds, 0)
}

// walk returns the polls of delays, as far as there are jobs that still run.
func walk(d *Distribution, delays iter.Seq[time.Duration]) polls {
	p, now, end := polls{}, 0.0, d.edges[len(d.edges)-1]
	for next := range delays {
		delay := max(0, next.Seconds())
		if len(p.times) == mostPolls {
			p.then = max(delay, 1e-3)
			return p
		}
		now += delay
		p.times = append(p.times, now)
		if now >= end {
			return p
		}
	}
	return p
}
