package plan

import (
	"math"
	"slices"
)

// How many times the grid of the exact programme has: quantiles, times that grow by the
// same factor, and even times.
const (
	gridQuantiles = 350
	gridGrowth    = 300
	gridEven      = 250
	// gridNear is how many more there are for each poll in the later rounds, around it.
	gridNear   = 16
	gridRounds = 3
	// gridRare is the share of the jobs that run longer than the grid.
	gridRare = 1e-5
)

// findExact finds the schedule of the lowest cost by dynamic programming over a grid of
// times: from the last poll back, the best next poll for each. The formula of the cost
// is that of Barlow, Hunter and Proschan (1963).
func (s *search) findExact() (candidate, bool) {
	if s.d.learned {
		return candidate{}, false
	}
	best, found := candidate{}, false
	end := max(s.least, math.Ceil(s.d.quantile(1-gridRare)))
	times := s.coarse(end)
	for range gridRounds {
		g := s.grid(times, end)
		c, ok := s.tune(func(price float64) candidate {
			times, then := g.best(s, price)
			return s.schedule(Exact, times, then)
		})
		if !ok {
			break
		}
		if !found || c.score < best.score {
			best, found = c, true
		}
		times = around(best)
	}
	return best, found
}

// around are the times around the polls of a schedule, for a finer grid.
func around(c candidate) []float64 {
	var times []float64
	now := 0.0
	for _, delay := range c.planned.Delays {
		gap := delay.Seconds()
		now += gap
		for i := range gridNear {
			times = append(times, max(0, now+gap*(float64(i)/gridNear-0.5)))
		}
	}
	return times
}

// grid has the times at which polls may be, and the integrals up to them.
type grid struct {
	times  []float64
	points []point
}

// coarse are the times of the first grid.
func (s *search) coarse(end float64) []float64 {
	d := s.d
	var times []float64
	for i := range gridQuantiles {
		times = append(times, d.quantile(float64(i+1)/gridQuantiles*(1-1e-3)))
	}
	start, late := max(1e-9, d.quantile(gridRare)), d.quantile(0.99)
	for i := range gridGrowth {
		times = append(times, start*math.Pow(end/start, float64(i)/gridGrowth))
	}
	for i := range gridEven {
		times = append(times, start+(late-start)*float64(i)/gridEven)
	}
	return times
}

// grid rounds times to whole seconds, adds both ends and finds the integrals up to them.
func (s *search) grid(times []float64, end float64) grid {
	d := s.d
	times = append(times, 0, end)
	for i, t := range times {
		times[i] = min(max(0, math.Ceil(t)), end)
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
	g.points[0] = point{} // before the first poll, none is seen
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
	value[n-1] = (1 - last.below) * (left/then + price*s.weight(g.times[n-1])*then/2)
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
			cost := 1 - from.below + price*(g.times[j]*(to.weight-from.weight)-(to.weighed-from.weighed))
			if cost > value[i] { // and a later poll costs still more
				break
			}
			if cost += value[j]; cost < value[i] {
				value[i], choice[i] = cost, j
			}
		}
		if choice[i] == 0 { // too near to the end of the grid for another poll
			value[i] = value[n-1]
		}
	}
	for i := choice[0]; i > 0 && len(times) < s.delays; i = choice[i] {
		times = append(times, g.times[i])
		then = s.tail(g.times[i], g.points[i], price)
		if g.points[i].below >= enough {
			break
		}
	}
	return times, then
}
