package plan

import "math"

// sightings are the polls of jobs of some durations. They hold what is the same however
// late a job may be seen.
type sightings struct {
	polls
	d     *Distribution
	below []float64 // share of the jobs that have ended by each poll
}

func (p polls) meet(d *Distribution) sightings {
	s := sightings{p, d, make([]float64, len(p.times))}
	c := cursor{d: d}
	for i, t := range p.times {
		s.below[i] = c.share(t)
	}
	return s
}

// later is the share of the jobs that one of several sightings, each as likely, is later
// for than a goal allows: seconds, or a share of the job's length.
func later(all []sightings, seconds, share float64) float64 {
	sum := 0.0
	for i := range all {
		sum += all[i].later(seconds, share)
	}
	return sum / float64(len(all))
}

func (s *sightings) later(seconds, share float64) float64 {
	sum, from, before, last := 0.0, cursor{d: s.d}, 0.0, min(0, s.d.edges[0])
	for i, t := range s.times {
		limit := t - seconds // jobs that end before it are seen too late
		if share > 0 {
			if limit = t / (1 + share); limit < shortest {
				limit = t - share*shortest
			}
		}
		if limit > last {
			sum += max(0, from.share(limit)-before)
		}
		before, last = s.below[i], t
	}
	if s.then > 0 {
		c := cursor{d: s.d}
		start, end := c.at(last), c.at(math.Inf(1))
		if share == 0 {
			return sum + (end.below-start.below)*max(0, 1-seconds/s.then)
		}
		if until := s.then / share; until > last {
			end = from.at(until)
			sum += end.below - start.below - share/s.then*(end.partial-start.partial)
		}
	}
	return sum
}
