package compile

import (
	"sort"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// rule is the schedule that the states follow, in whole seconds. Those of Loop
// wait the shortest delay each time, and those of RetryTask and LambdaRetry do
// not draw.
func (p *poller) rule() pollcore.Schedule {
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	return pollcore.Schedule{Total: seconds(p.total), Initial: seconds(p.initial), Min: seconds(p.low), Max: seconds(p.hi)}
}

// growing is how many delays are shorter than the longest.
func (p *poller) growing() int {
	s, n := p.rule(), 0
	for {
		lo, _ := s.Bounds(pollcore.Progress{Attempts: n + 1})
		if lo == s.Max {
			return n
		}
		n++
	}
}

// count is how many delays it takes to pass so much time, by the delay after each
// number of calls.
func (p *poller) count(passes time.Duration, delay func(lo, hi time.Duration) time.Duration) int {
	s := p.rule()
	for n := 1; ; n++ {
		lo, hi := s.Bounds(pollcore.Progress{Attempts: n})
		if passes <= 0 {
			return n - 1
		}
		if lo == s.Max { // as all that follow
			return n - 1 + int((passes+s.Max-1)/s.Max)
		}
		passes -= delay(lo, hi)
	}
}

// undrawn is the delay without a draw.
func undrawn(lo, hi time.Duration) time.Duration { return (lo + hi) / 2 }

// fits refuses a schedule that can fill the poller's share of the history, and
// finds the delays with which it does not: a longer longest delay, which makes
// only long jobs wait, or else a longer shortest one.
func (p *poller) fits() {
	share := p.options.Events
	if share == 0 {
		share = DefaultEvents
	}
	t := p.turn()
	needs := func() int { return p.worstPolls()*t.events + t.most.events }
	events := needs()
	if events <= share {
		return
	}
	low, hi := p.low, p.hi
	// stretch is the least of the delays from one on that fits, if one does.
	stretch := func(from int, set func(delay int)) bool {
		delays := max(0, p.total-from) + 1
		n := sort.Search(delays, func(n int) bool {
			set(from + n)
			return needs() <= share
		})
		set(from + min(n, delays-1))
		return n < delays
	}
	longer := p.options.Strategy != Loop && stretch(hi, func(delay int) { p.hi = delay })
	if !longer && !stretch(low, func(delay int) { p.low, p.hi = delay, max(hi, delay) }) {
		p.refuse("with any delay it can take %d events of the history, more than its share of %d", needs(), share)
		return
	}
	if p.options.Fit {
		return
	}
	which, delay, before := "shortest", p.low, low
	if longer {
		which, delay, before = "longest", p.hi, hi
		p.maxFits = p.rule().Max
	} else {
		p.minFits = p.rule().Min
	}
	p.refuse("it can take %d events of the history, more than its share of %d: with a %s delay of %d s instead of %d it fits",
		events, share, which, delay, before)
}
