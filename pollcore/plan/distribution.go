package plan

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Distribution is how long jobs take: what a person states ([Parse]) or what past
// jobs tell ([Learn]). The zero value knows nothing: a plan for it is a fixed delay.
type Distribution struct {
	// Between two edges, in seconds, durations are uniform. below has the share of
	// the durations up to each edge: 0 at the first, 1 at the last.
	edges, below []float64
	// partial is the part of the mean up to each edge.
	partial []float64
	// weight and weighed are the same two integrals with each duration weighed by
	// its inverse: of a lateness that counts as a share of the job's length.
	weight, weighed []float64
	text            string
	learned         bool
	// mixed is a learned distribution with the share of jobs of unseen lengths.
	mixed  *Distribution
	unseen float64
	// of is what durations are without the jitter, where they are less a jitter.
	of     *Distribution
	jitter float64
}

// shortest is the length, in seconds, that shorter jobs count as where lateness is a
// share of the job's length: 5 % of a job of a second is nothing that polls can meet.
const shortest = 10

// longest is the longest duration, in seconds, that time.Duration holds.
const longest = float64(math.MaxInt64 / int64(time.Second))

// mixture returns the distribution of durations that have one shape or another.
func mixture(text string, parts []part) Distribution {
	var all []float64
	for _, p := range parts {
		all = append(all, edges(p.shape)...)
	}
	for i := range all {
		all[i] = min(max(all[i], 1e-9), longest)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 1 {
		all = []float64{all[0] * (1 - moment), all[0]}
	}
	below := make([]float64, len(all))
	for i, x := range all {
		for _, p := range parts {
			below[i] += p.share * p.shape.below(x)
		}
	}
	return histogram(text, all, below)
}

// histogram returns the distribution with edges and shares below them, which it
// stretches from 0 to 1. It keeps both.
func histogram(text string, edges, below []float64) Distribution {
	n := len(edges)
	first, last := below[0], below[n-1]
	for i := range below {
		below[i] = (below[i] - first) / (last - first)
	}
	d := Distribution{
		text: text, edges: edges, below: below,
		partial: make([]float64, n), weight: make([]float64, n), weighed: make([]float64, n),
	}
	for i := range n - 1 {
		at := inside(&d, i, edges[i+1])
		d.partial[i+1], d.weight[i+1], d.weighed[i+1] = at.partial, at.weight, at.weighed
	}
	return d
}

// point holds the integrals of a distribution up to a time.
type point struct{ below, partial, weight, weighed float64 }

// inside is the point at x, which is in cell i.
func inside(d *Distribution, i int, x float64) point {
	from, to := d.edges[i], d.edges[i+1]
	density := (d.below[i+1] - d.below[i]) / (to - from)
	p := point{
		below:   d.below[i] + density*(x-from),
		partial: d.partial[i] + density*(x-from)*(x+from)/2,
	}
	if d.of != nil { // the weight is of the length with the jitter: in a cell, constant
		more := (x - from) / (to - from) * (d.weight[i+1] - d.weight[i])
		p.weight, p.weighed = d.weight[i]+more, d.weighed[i]+more*(from+x)/2
		return p
	}
	// Up to the shortest length the weight is constant, then it is the inverse.
	split := min(max(shortest, from), x)
	short, long := split-from, x-split
	p.weight = d.weight[i] + density*short/shortest
	p.weighed = d.weighed[i] + density*(short*(split+from)/2/shortest+long)
	if long > 0 {
		p.weight += density * log1p(long/split)
	}
	return p
}

// log1p is [math.Log1p], and quick where x is small, as in most cells.
func log1p(x float64) float64 {
	if x > 0.02 {
		return math.Log1p(x)
	}
	return x * (1 - x/2 + x*x/3)
}

// cursor finds points at times that do not fall.
type cursor struct {
	d    *Distribution
	cell int
}

func (c *cursor) at(x float64) point {
	d, n := c.d, len(c.d.edges)
	if x <= d.edges[0] {
		return point{}
	}
	if x >= d.edges[n-1] {
		return point{below: 1, partial: d.partial[n-1], weight: d.weight[n-1], weighed: d.weighed[n-1]}
	}
	c.move(x)
	return inside(d, c.cell, x)
}

// share is the share of the jobs below x.
func (c *cursor) share(x float64) float64 {
	d, n := c.d, len(c.d.edges)
	if x <= d.edges[0] {
		return 0
	}
	if x >= d.edges[n-1] {
		return 1
	}
	c.move(x)
	i := c.cell
	return d.below[i] + (d.below[i+1]-d.below[i])*(x-d.edges[i])/(d.edges[i+1]-d.edges[i])
}

// move goes to the cell of x, which is inside the edges.
func (c *cursor) move(x float64) {
	d := c.d
	for steps := 0; d.edges[c.cell+1] < x; steps++ {
		if steps > 8 {
			c.cell += sort.SearchFloat64s(d.edges[c.cell+1:], x)
			break
		}
		c.cell++
	}
}

// IsKnown reports whether anything is known of the durations.
func (d Distribution) IsKnown() bool { return len(d.edges) > 0 }

// IsLearned reports whether past jobs tell the durations. What happened seldom or never
// among them is not known, so the exact programme does not take them.
func (d Distribution) IsLearned() bool { return d.learned }

// String is the text that [Parse] reads, or says how many jobs the distribution is
// learned from.
func (d Distribution) String() string { return d.text }

// Mean is the mean duration, 0 if nothing is known.
func (d Distribution) Mean() time.Duration { return duration(d.mean()) }

// Variation is the standard deviation as a share of the mean.
func (d Distribution) Variation() float64 {
	mean, variance := d.mean(), 0.0
	if mean == 0 {
		return 0
	}
	for i := range len(d.edges) - 1 {
		from, to := d.edges[i]-mean, d.edges[i+1]-mean
		variance += (d.below[i+1] - d.below[i]) * (from*from + from*to + to*to) / 3
	}
	return math.Sqrt(variance) / mean
}

// Below is the share of the jobs that take t at most.
func (d Distribution) Below(t time.Duration) float64 {
	if !d.IsKnown() {
		return 0
	}
	c := cursor{d: &d}
	return c.at(t.Seconds()).below
}

// Quantile is the duration that the share p of the jobs does not exceed: the median
// for 0.5. It is 0 if nothing is known.
func (d Distribution) Quantile(p float64) time.Duration { return duration(d.quantile(p)) }

func (d Distribution) quantile(p float64) float64 {
	if !d.IsKnown() {
		return 0
	}
	i := sort.SearchFloat64s(d.below, p) // the first edge with at least p below
	switch {
	case i == 0 || math.IsNaN(p):
		return d.edges[0]
	case i == len(d.below):
		return d.edges[i-1]
	}
	inCell := (p - d.below[i-1]) / (d.below[i] - d.below[i-1])
	return d.edges[i-1] + inCell*(d.edges[i]-d.edges[i-1])
}

func (d Distribution) mean() float64 {
	if !d.IsKnown() {
		return 0
	}
	return d.partial[len(d.partial)-1]
}

// duration is the time.Duration of seconds, or the nearest there is.
func duration(seconds float64) time.Duration {
	switch {
	case math.IsNaN(seconds) || seconds <= 0:
		return 0
	case seconds >= longest:
		return math.MaxInt64
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
