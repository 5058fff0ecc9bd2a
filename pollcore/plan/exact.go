package plan

import (
	"math"
	"slices"
)

// How many times the grid of the exact programme has: quantiles, the same closer and
// closer to the longest job, and even times.
const (
	gridQuantiles = 400
	gridTail      = 100
	gridEven      = 300
)

// findExact finds the schedule of the lowest cost by dynamic programming over a grid of
// times: from the last poll back, the best next poll for each. The formula of the cost
// is that of Barlow, Hunter and Proschan (1963).
func (s *search) findExact() (candidate, bool) {
	if s.d.learned {
		return candidate{}, false
	}
	g := s.grid()
	return s.tune(func(price float64) candidate {
		times, then := g.best(s, price)
		return s.schedule(Exact, times, then)
	})
}

// grid has the times at which polls may be, and the integrals up to them.
type grid struct {
	times  []float64
	points []point
}

func (s *search) grid() grid {
	d := s.d
	const rare = 1e-5
	end := math.Ceil(d.quantile(1 - rare))
	times := []float64{0, end}
	for i := range gridQuantiles {
		times = append(times, d.quantile(float64(i+1)/gridQuantiles*(1-1e-3)))
	}
	for i := range gridTail {
		times = append(times, d.quantile(1-1e-3*math.Pow(rare/1e-3, float64(i)/gridTail)))
	}
	start := d.quantile(rare)
	for i := range gridEven {
		times = append(times, start+(end-start)*float64(i)/gridEven)
	}
	for i, t := range times {
		times[i] = min(math.Ceil(t), end)
	}
	slices.Sort(times)
	g := grid{times: slices.Compact(times)}
	c := cursor{d: d}
	for _, t := range g.times {
		p := c.at(t)
		if s.goal.Share == 0 { // a second counts the same for all jobs
			p.weight, p.weighed = p.below, p.partial
		}
		g.points = append(g.points, p)
	}
	return g
}

// best returns the polls of the lowest cost for a price of a second, and the delay
// after them.
func (g grid) best(s *search, price float64) (times []float64, then float64) {
	n := len(g.times)
	value, choice := make([]float64, n), make([]int, n)
	last := g.points[n-1]
	then = s.tail(g.times[n-1], last, price)
	// Few jobs run on after the grid. A fixed delay polls them.
	left := s.residual(g.times[n-1], last)
	value[n-1] = (1 - last.below) * (left/then + 0.5 + price*s.weight(g.times[n-1])*then/2)
	for i := n - 2; i >= 0; i-- {
		value[i] = math.Inf(1)
		from := g.points[i]
		for j := i + 1; j < n; j++ {
			delay := g.times[j] - g.times[i]
			if delay < s.least {
				continue
			}
			if delay > s.most && choice[i] > 0 {
				break
			}
			to := g.points[j]
			cost := 1 - from.below + price*(g.times[j]*(to.weight-from.weight)-(to.weighed-from.weighed)) + value[j]
			if cost < value[i] {
				value[i], choice[i] = cost, j
			}
		}
		if choice[i] == 0 { // too near to the end of the grid for another poll
			value[i] = value[n-1]
		}
	}
	for i := choice[0]; i > 0 && len(times) < s.list; i = choice[i] {
		times = append(times, g.times[i])
		if g.points[i].below >= enough && i < n-1 {
			return times, s.tail(g.times[i], g.points[i], price)
		}
	}
	return times, then
}
