package plan

import "slices"

// draws is how many jitters are looked at where an integral has no formula.
const draws = 24

// lessJitter returns the durations less the jitter, down to below 0: polls without a jitter
// cost for these what polls with it cost for d. A poll that comes a drawn time later finds a
// job when a poll without the jitter finds one that is so much shorter.
func (d Distribution) lessJitter(jitter float64) *Distribution {
	if jitter == 0 {
		return &d
	}
	// What is drawn is whole seconds, each as often: as if from half a second less.
	low, high := -0.5, jitter+0.5
	all := make([]float64, 0, 2*len(d.edges))
	for _, x := range d.edges {
		all = append(all, x-high, x-low)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	below := make([]float64, len(all))
	early, late := cursor{d: &d}, cursor{d: &d}
	for i, x := range all {
		if below[i] = (late.integral(x+high) - early.integral(x+low)) / (high - low); i > 0 {
			below[i] = max(below[i], below[i-1])
		}
	}
	y := histogram(d.text, all, below)
	y.learned, y.of, y.jitter = d.learned, &d, jitter
	clear(y.weight)
	for draw := range draws {
		c := cursor{d: &d}
		by := low + (high-low)*(float64(draw)+0.5)/draws
		for i, x := range all {
			y.weight[i] += c.at(x+by).weight / draws
		}
	}
	for i := range len(all) - 1 {
		y.weighed[i+1] = y.weighed[i] + (y.weight[i+1]-y.weight[i])*(all[i]+all[i+1])/2
	}
	return &y
}

// integral is that of the share of the jobs below, up to x.
func (c *cursor) integral(x float64) float64 {
	p := c.at(x)
	return max(0, x*p.below-p.partial)
}

// draw returns the polls with each jitter, for what depends on a job's length: d.of has the
// lengths, from which no jitter is taken off.
func (p polls) draw(d *Distribution) []sightings {
	if d.of == nil {
		return []sightings{p.meet(d)}
	}
	all := make([]sightings, draws)
	for draw := range all {
		moved := polls{slices.Clone(p.times), p.then}
		by := -0.5 + (d.jitter+1)*(float64(draw)+0.5)/draws
		for i := range moved.times {
			moved.times[i] += by
		}
		all[draw] = moved.meet(d.of)
	}
	return all
}
