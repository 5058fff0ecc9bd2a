package plan

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// search looks for schedules for a goal.
type search struct {
	d           *Distribution
	all         *Distribution // with the jobs of unseen lengths
	goal        Goal
	least, most float64 // delay, in seconds
	delays      int     // at most
	more        int     // delays where they save many calls
	jitter      float64 // of the first delay, in seconds
	late        float64 // seconds that a schedule for a quantile may be late on average
	tolerated   float64 // share of a lateness that is nothing
	trust       float64 // in the durations: from 0 for 9 past jobs to 1 for many, or a statement
}

// candidate is a schedule that meets the goal.
type candidate struct {
	method       Method
	planned      pollcore.Planned
	calls, score float64
}

func newSearch(d Distribution, g Goal, limits Limits) (*search, error) {
	if limits.MinDelay < 0 || limits.MaxDelay < 0 || limits.Delays < 0 || limits.Delays > pollcore.MaxPlannedDelays {
		return nil, fmt.Errorf("limits must not be negative, and of at most %d delays", pollcore.MaxPlannedDelays)
	}
	if limits.MinDelay > pollcore.MaxPlannedDelay {
		return nil, fmt.Errorf("shortest delay must be at most %s, got %s", pollcore.MaxPlannedDelay, limits.MinDelay)
	}
	if limits.Jitter < 0 || limits.Jitter > MaxJitter || limits.Jitter%time.Second != 0 {
		return nil, fmt.Errorf("jitter must be whole seconds from 0 to %s, got %s", MaxJitter, limits.Jitter)
	}
	s := &search{
		d: &d, goal: g, late: math.Inf(1), least: max(1, math.Ceil(limits.MinDelay.Seconds())),
		delays: limits.Delays, more: limits.Delays, jitter: limits.Jitter.Seconds(), tolerated: tolerated, trust: 1,
	}
	if d.IsKnown() {
		s.d = d.lessJitter(s.jitter)
		s.all = s.d
		if d.mixed != nil {
			s.all = d.mixed.lessJitter(s.jitter)
			s.tolerated, s.trust = toleratedLearned, 1-d.unseen/unseenShare
		}
	}
	if s.most = math.Floor(limits.MaxDelay.Seconds()); limits.MaxDelay == 0 {
		s.most = pollcore.MaxPlannedDelay.Seconds()
	}
	s.most = min(max(s.most, s.least), pollcore.MaxPlannedDelay.Seconds())
	if s.delays == 0 {
		s.delays, s.more = fewDelays, pollcore.MaxPlannedDelays
	}
	return s, nil
}

func (c candidate) polls(d *Distribution) polls {
	p := polls{then: c.planned.Then.Seconds()}
	now := time.Duration(0)
	for _, delay := range c.planned.Delays {
		now += delay
		p.times = append(p.times, now.Seconds())
	}
	return p.spread(d)
}

func (c candidate) measure(d *Distribution) Cost { return measure(d, []polls{c.polls(d)}) }

// schedule makes a candidate of times of polls and the delay after them: whole seconds,
// in bounds. The last delays are left out where they are as the delay after them.
func (s *search) schedule(method Method, times []float64, then float64) candidate {
	c := candidate{method: method, planned: pollcore.Planned{Jitter: duration(s.jitter)}}
	most := pollcore.MaxPlannedDelay.Seconds()
	if method == Hazard || method == Exact {
		most = s.most
	}
	bounded := func(seconds float64) time.Duration {
		return time.Duration(min(max(math.Round(seconds), s.least), most)) * time.Second
	}
	c.planned.Then = bounded(then)
	now := time.Duration(0)
	for _, t := range times[:min(len(times), s.delays)] {
		delay := bounded(t - now.Seconds())
		now += delay
		c.planned.Delays = append(c.planned.Delays, delay)
	}
	if len(c.planned.Delays) == 0 {
		c.planned.Delays = []time.Duration{bounded(then - math.Round(s.jitter/2))}
	}
	count := len(c.planned.Delays)
	for count > 1 && c.planned.Delays[count-1] == c.planned.Then {
		count--
	}
	c.planned.Delays = c.planned.Delays[:count]
	c.planned.Delays[0] = min(c.planned.Delays[0], pollcore.MaxPlannedDelay-c.planned.Jitter)
	return c
}

// The shares of a lateness that are nothing: delays of a second are half a second late,
// though sums of parts come out a little different. Past jobs do not tell a mean to a
// percent, and delays of twice the goal are a little later than the goal.
const (
	tolerated        = 1e-4
	toleratedLearned = 0.01
)

// What a plan from past jobs does for jobs of unseen lengths.
const (
	// unseenLateness is how much later than the goal it may be with them, as a share of the
	// goal, if the others are trusted.
	unseenLateness = 1.0
	// unseenGap is the longest delay, once jobs have ended, as a share of the time that the
	// job has run, where the goal does not justify a longer one.
	unseenGap = 0.5
)

// meets scores a candidate, and tells whether it meets the goal.
func (s *search) meets(c *candidate) bool {
	p := c.polls(s.d)
	cost := p.cost(s.d)
	c.calls, c.score = cost.calls, cost.calls
	g := s.goal
	switch {
	case g.Price > 0:
		cost = s.costOfAll(c)
		c.score = cost.calls + g.Price*cost.late
		return true
	case g.At == Mean && g.Share > 0:
		return cost.share <= g.Share*(1+s.tolerated) && s.findsUnseen(c)
	case g.At == Mean:
		return cost.late <= g.Late.Seconds()*(1+s.tolerated) && s.findsUnseen(c)
	default:
		exceeding := 0.5
		if g.At == P95 {
			exceeding = 0.05
		}
		// The jobs that the goal leaves out count by the mean: else all of them could be hours late.
		return cost.late <= s.late*(1+s.tolerated) && p.later(s.d, g.Late.Seconds(), g.Share) <= exceeding && s.findsUnseen(c)
	}
}

// longestAt is the longest delay, in seconds, that a schedule may have for a job that runs
// at time t, when others have ended.
func (s *search) longestAt(t float64) float64 {
	if s.all == s.d {
		return pollcore.MaxPlannedDelay.Seconds()
	}
	return max(s.allowAt(t), t*math.Log1p(unseenGap)) // at this rate delays reach the share
}

func (s *search) costOfAll(c *candidate) sum { return c.polls(s.all).cost(s.all) }

// findsUnseen tells whether a candidate is not much later with the jobs of unseen lengths
// than the goal allows. The fewer the past jobs, the less later.
func (s *search) findsUnseen(c *candidate) bool {
	if s.all == s.d {
		return true
	}
	cost, factor := s.costOfAll(c), (1+s.trust*unseenLateness)*(1+s.tolerated)
	switch g := s.goal; {
	case g.At != Mean:
		return cost.late <= factor*s.late
	case g.Share > 0:
		return cost.share <= factor*g.Share
	default:
		return cost.late <= factor*g.Late.Seconds()
	}
}

// statistic is the statistic of the lateness of a candidate that the goal is about.
func (s *search) statistic(c candidate) string {
	cost := c.measure(s.d)
	late, share := cost.Mean, cost.MeanShare
	switch s.goal.At {
	case P50:
		late, share = cost.P50, cost.P50Share
	case P95:
		late, share = cost.P95, cost.P95Share
	case Worst:
		late = cost.Worst
	case Mean:
	}
	if s.goal.Share > 0 {
		return percent(share)
	}
	return late.Round(time.Millisecond).String() //nolint:mnd // what people read
}

// tune returns the candidate with the fewest calls that meets the goal, of those that
// build gives for a price of a second, in calls. The dearer a second, the more calls.
func (s *search) tune(build func(price float64) candidate) (candidate, bool) {
	if s.goal.Price > 0 {
		c := build(s.goal.Price)
		s.meets(&c)
		return c, true
	}
	best, found := candidate{score: math.Inf(1)}, false
	var late candidate // of those that do not meet it, the one with the most calls
	try := func(price float64) bool {
		c := build(price)
		ok := s.meets(&c)
		switch {
		case ok && c.score < best.score:
			best, found = c, true
		case !ok && c.score > late.score:
			late = c
		}
		return ok
	}
	s.bisect(try)
	if !found || late.score == 0 {
		return best, found
	}
	for _, c := range slices.Concat(s.splice(best, late), s.splice(late, best)) {
		if s.meets(&c) && c.score < best.score {
			best = c
		}
	}
	return best, true
}

// bisect tries prices, closer and closer to the lowest one that meets the goal.
func (s *search) bisect(try func(price float64) bool) {
	// A fixed delay has the lateness of half of it, and the best one for a price is
	// the root of twice the mean over the price.
	delay := 2 * s.lateness()
	price := 2 * s.meanRun() / delay / delay / s.weight(s.d.mean())
	low, high := price, price
	if try(price) {
		for range 30 {
			if low /= 4; !try(low) {
				break
			}
		}
	} else {
		for range 30 {
			if high *= 4; try(high) {
				break
			}
		}
	}
	for range 24 {
		if middle := math.Sqrt(low * high); try(middle) {
			high = middle
		} else {
			low = middle
		}
	}
}

// splice are the schedules that begin as the first one and go on as the second. If one of
// the two is a little too late and the other has calls to spare, such a schedule fits best.
func (s *search) splice(first, second candidate) []candidate {
	const joins = 200 // of a longer list some are enough
	every := 1 + len(first.planned.Delays)/joins
	var all []candidate
	var now, next time.Duration
	rest := second.planned.Delays
	for i, delay := range first.planned.Delays {
		now += delay
		for len(rest) > 0 && next+rest[0] <= now {
			next += rest[0]
			rest = rest[1:]
		}
		if len(rest) == 0 {
			break
		}
		join := next + rest[0] - now
		if i%every > 0 || i+1+len(rest) > s.delays || join.Seconds() < s.least {
			continue
		}
		c := candidate{method: first.method, planned: pollcore.Planned{Then: second.planned.Then, Jitter: first.planned.Jitter}}
		c.planned.Delays = slices.Concat(first.planned.Delays[:i+1], rest)
		c.planned.Delays[i+1] = join
		all = append(all, c)
	}
	return all
}

// lateness is about the seconds that the goal allows.
func (s *search) lateness() float64 { return s.tolerance(s.d.mean()) }

// meanRun is the mean time that jobs run, less the jitter. A job that is shorter than the
// jitter counts as none.
func (s *search) meanRun() float64 {
	c := cursor{d: s.d}
	return s.d.mean() - c.at(0).partial
}

// tolerance is the lateness in seconds that the goal allows a job of length x.
func (s *search) tolerance(x float64) float64 {
	if s.goal.Share > 0 {
		return s.goal.Share * max(shortest, x)
	}
	return s.goal.Late.Seconds()
}

// weight is how much a second of lateness counts for a job that ends at time x, less the
// jitter.
func (s *search) weight(x float64) float64 {
	if s.goal.Share > 0 {
		return 1 / max(x+s.jitter/2, shortest)
	}
	return 1
}
