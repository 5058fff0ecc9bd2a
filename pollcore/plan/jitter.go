package plan

import "slices"

// phases is how many times of the jitter are looked at where an integral has no formula.
const phases = 24

// lessJitter returns the distribution with which polls cost the same that have no jitter. Polls
// that come a drawn time later find a job as polls without it find one that is so much
// shorter. So it has durations less the jitter, down to below 0.
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
	for phase := range phases {
		c := cursor{d: &d}
		by := low + (high-low)*(float64(phase)+0.5)/phases
		for i, x := range all {
			y.weight[i] += c.at(x+by).weight / phases
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

// laterOf is the share of the jobs that are later than a share of their length, which
// the distribution without the jitter has.
func (p polls) laterOf(d *Distribution, share float64) float64 {
	sum := 0.0
	for phase := range phases {
		moved := p
		moved.times = slices.Clone(p.times)
		by := -0.5 + (d.jitter+1)*(float64(phase)+0.5)/phases
		for i := range moved.times {
			moved.times[i] += by
		}
		sum += moved.later(d.of, 0, share) / phases
	}
	return sum
}
