package compile

import (
	"math"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// stretch is a part of a wait in which the polls are evenly spaced. Times are
// in seconds since the start.
type stretch struct {
	first float64 // time of the first poll, on average
	sigma float64 // standard deviation of the times
	delay float64 // after each poll
	polls int
}

// pace returns the polls of a job that does not end, with the mean of each
// delay. The number of stretches grows with the logarithm of the longest delay
// alone.
func (t timing) pace(by delays) []stretch {
	if by == even && t.planned == nil {
		first, delay, others := float64(t.initial), float64(t.low), t.calls()-1
		return []stretch{{first, 0, delay, others}, {first + float64(others)*delay, 0, 0, 1}}
	}
	s := t.rule()
	s.Random = middle
	if by != drawn { // neither a Retry block nor a count cuts its delays at the deadline
		s.Total = math.MaxInt64
	}
	var all []stretch
	now, variance, total := float64(t.initial), 0.0, float64(t.total)
	for n := 1; now < total; n++ {
		lo, hi := s.Bounds(pollcore.Progress{Attempts: n})
		// The last delays before the deadline are cut to fit.
		if even := int((total-now)/lo.Seconds()) - 2; t.steady(n, lo) && even > 0 {
			all = append(all, stretch{now, math.Sqrt(variance), lo.Seconds(), even})
			now += float64(even) * lo.Seconds()
		}
		delay := s.Next(pollcore.Retry, pollcore.Progress{Attempts: n, Elapsed: time.Duration(now * float64(time.Second))}).Delay.Seconds()
		if by == picked {
			delay = t.pick(total-now, delay)
		}
		all = append(all, stretch{now, math.Sqrt(variance), delay, 1})
		now += delay
		if by == drawn && lo < hi { // evenly, and then rounded to whole seconds
			spread := (hi - lo).Seconds() / 2
			variance += spread*spread/3 + 1.0/12
		}
	}
	return append(all, stretch{now, 0, 0, 1})
}

// pick returns the shortest delay of a planned schedule that takes at least the seconds
// left, if that is shorter than delay. Else it returns delay.
func (t timing) pick(left, delay float64) float64 {
	if t.planned == nil {
		return delay
	}
	for _, d := range t.differentDelays() {
		if float64(d) >= left {
			return min(delay, float64(d))
		}
	}
	return delay
}

// expectDrawn is expect, over the first delays that the jitter makes, with how often a
// job goes on to another phase.
func (p *plan) expectDrawn(from, to float64) (polls, phases, lateness float64) {
	const most = 64 // first delays that are looked at
	parts := min(p.jitter+1, most)
	for part := range parts {
		t := p.timing
		drawn := int((float64(part) + 0.5) / float64(parts) * float64(p.jitter+1))
		t.initial, t.jitter = t.initial+drawn, 0
		if p.delays == even { // it counts its calls, whatever is drawn
			t.total += drawn
		}
		calls, late := expect(t.pace(p.delays), from, to)
		polls += calls / float64(parts)
		lateness += late / float64(parts)
		for _, end := range endsOf(time.Duration(t.initial)*time.Second, p.phases()) {
			phases += stretch{first: end.Seconds()}.share(0, from, to) / float64(parts)
		}
	}
	return polls, phases, lateness
}

// expect returns the mean number of polls, and of seconds from the end of a job
// to the poll that sees it, over jobs that end evenly between two times.
//
// A job has one poll more for each that comes before its end, and is seen as
// many delays later than the first poll. So both are sums over all polls of the
// share of jobs that end behind them.
func expect(pace []stretch, from, to float64) (polls, lateness float64) {
	others, last := pace[:len(pace)-1], pace[len(pace)-1].first
	polls, seen := 1.0, pace[0].first
	for _, s := range others {
		before := s.shares(from, to)
		polls += before
		seen += before * s.delay
	}
	// A job that ends behind the last poll is not seen late.
	ended := min(from, last)
	if from < to {
		ended = last - (square(last-from)-square(last-to))/2/(to-from)
	}
	return polls, seen - ended
}

// square is that of a positive number, and otherwise 0.
func square(x float64) float64 { return max(0, x) * max(0, x) }

// shares adds up, over the polls, the share of jobs that end behind each.
func (s stretch) shares(from, to float64) float64 {
	const certain = 5 // standard deviations
	// before is how many polls are before a time.
	before := func(t float64) int { return max(0, min(s.polls, int(math.Ceil((t-s.first)/s.delay)))) }
	all, none := before(from-certain*s.sigma), before(to+certain*s.sigma)
	linear, bent := before(from+certain*s.sigma), before(to-certain*s.sigma)
	if linear >= bent {
		linear, bent = none, none
	}
	sum := float64(all)
	for n := all; n < linear; n++ {
		sum += s.share(n, from, to)
	}
	if n := float64(bent - linear); n > 0 { // an arithmetic series
		middle := s.first + (float64(linear)+(n-1)/2)*s.delay
		sum += n * (to - middle) / (to - from)
	}
	for n := bent; n < none; n++ {
		sum += s.share(n, from, to)
	}
	return sum
}

// share is the share of jobs that end behind a poll, whose time is normally
// distributed: a sum of independent draws nearly is.
func (s stretch) share(poll int, from, to float64) float64 {
	t := s.first + float64(poll)*s.delay
	if from == to {
		if s.sigma == 0 {
			return map[bool]float64{true: 1}[t < from]
		}
		return normal((from - t) / s.sigma)
	}
	// remains is the mean of what is left from the poll to a time.
	remains := func(end float64) float64 {
		if s.sigma == 0 {
			return max(0, end-t)
		}
		z := (end - t) / s.sigma
		return (end-t)*normal(z) + s.sigma*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
	}
	return (remains(to) - remains(from)) / (to - from)
}

// normal is the standard normal distribution.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
