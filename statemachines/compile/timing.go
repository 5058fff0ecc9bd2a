package compile

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// timing is when a machine polls, in seconds.
type timing struct {
	total, initial int
	jitter         int // the initial delay is longer by up to it
	low, hi        int // bounds of the delay
	// planned has the delays where they are neither drawn nor all the same; low and hi
	// are the least and the longest of those between calls.
	planned *pollcore.Planned
}

// schedule is the waiter's, with what options say instead.
func schedule(w *pollcore.Waiter, o Options) pollcore.Schedule {
	s := pollcore.NewSchedule(w, o.MaxWait)
	if o.Schedule != nil {
		held, _ := o.Strategy.Hold(*o.Schedule)
		s.Planned = &held
		return s
	}
	if o.MinDelay != 0 {
		s.Min = o.MinDelay
	}
	s.Max = max(s.Max, s.Min)
	if o.MaxDelay != 0 {
		s.Max = o.MaxDelay
		s.Min = min(s.Min, s.Max) // Options.Validate refuses a MinDelay above it
	}
	s.Initial = o.InitialDelay
	return s
}

// newTiming is the schedule in whole seconds.
func newTiming(s pollcore.Schedule) timing {
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	first, latest := s.FirstBounds()
	t := timing{total: seconds(s.Total), initial: seconds(first), jitter: seconds(latest - first), low: seconds(s.Min), hi: seconds(s.Max)}
	p := s.Planned
	if p == nil {
		return t
	}
	between := listBetween(*p)
	least, most := p.Then, p.Then
	for _, d := range between {
		least, most = min(least, d), max(most, d)
	}
	t.low, t.hi = seconds(least), seconds(most)
	if len(between) > 0 {
		t.planned = &pollcore.Planned{Delays: p.Delays[:1+len(between)], Then: p.Then}
	}
	return t
}

// differentDelays are the delays between calls of a planned schedule, in seconds, the
// shortest first.
func (t timing) differentDelays() []int {
	all := []int{int(t.planned.Then / time.Second)}
	for _, d := range t.planned.Delays[1:] {
		all = append(all, int(d/time.Second))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rule is the schedule that the states follow, in whole seconds.
func (t timing) rule() pollcore.Schedule {
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	s := pollcore.Schedule{Total: seconds(t.total), Initial: seconds(t.initial), Min: seconds(t.low), Max: seconds(t.hi), Planned: t.planned}
	if t.jitter > 0 {
		planned := pollcore.Planned{Delays: []time.Duration{s.Initial}, Then: s.Min}
		if t.planned != nil {
			planned = *t.planned
		}
		planned.Jitter = seconds(t.jitter)
		s.Planned = &planned
	}
	return s
}

// steady tells whether the delay after so many calls, which is lo at least, is that
// of all later ones.
func (t timing) steady(calls int, lo time.Duration) bool {
	if t.planned != nil {
		return calls >= len(t.planned.Delays)
	}
	return lo == t.rule().Max
}

// growing is how many delays are shorter than the longest.
func (t timing) growing() int {
	s, n := t.rule(), 0
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
func (t timing) count(passes time.Duration, delay func(lo, hi time.Duration) time.Duration) int {
	s := t.rule()
	for n := 1; ; n++ {
		lo, hi := s.Bounds(pollcore.Progress{Attempts: n})
		if passes <= 0 {
			return n - 1
		}
		if t.steady(n, lo) {
			return n - 1 + int((passes+lo-1)/lo)
		}
		passes -= delay(lo, hi)
	}
}

// middle is the delay without a draw.
func middle(lo, hi time.Duration) time.Duration { return (lo + hi) / 2 }

// wholeAttempts are the attempts that pass so many seconds with delays cut to
// whole ones.
func (t timing) wholeAttempts(seconds int) int {
	return t.count(time.Duration(seconds)*time.Second, func(lo, hi time.Duration) time.Duration { return middle(lo, hi).Truncate(time.Second) })
}

// calls is how many calls there are with even delays: the first is made at once,
// and the last when the time is over.
func (t timing) calls() int {
	if t.planned != nil {
		return t.count(time.Duration(t.total-t.initial)*time.Second, middle) + 1
	}
	return (t.total-t.initial+t.low-1)/t.low + 1
}

// pollsByDraw is the most polls with delays that are drawn.
func (t timing) pollsByDraw() int {
	shortest := func(lo, _ time.Duration) time.Duration { return lo.Round(time.Second) }
	return t.count(time.Duration(t.total-t.initial)*time.Second, shortest) + 1
}

// fit finds the delays with which the schedule cannot fill the poller's share of the
// history: a longer longest delay, which makes only long jobs wait, or else a longer
// shortest one. It refuses to lengthen a delay that options name, unless they say Fit.
func (p *plan) fit() {
	share := p.options.share()
	t := p.turn()
	needs := func() int { return p.strategy.polls(p)*t.events + t.most.events }
	events := needs()
	if events <= share {
		return
	}
	p.events = events
	if p.options.Schedule != nil {
		p.refuse("it can take %d events of the history, and its share is %d: give the schedule longer delays, or wait less", events, share)
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
	longer := p.delays != even && stretch(hi, func(delay int) { p.hi = delay })
	if !longer && !stretch(low, func(delay int) { p.low, p.hi = delay, max(hi, delay) }) {
		p.refuse("even with the longest delay it can take %d events of the history, and its share is %d", needs(), share)
		return
	}
	which, delay, before := "shortest delay", p.low, low
	switch {
	case longer:
		which, delay, before = "longest delay", p.hi, hi
	case p.low > hi: // then all delays are the same
		which = "delay"
	}
	if o := p.options; o.Fit || o.MaxDelay == 0 && (longer || o.MinDelay == 0) {
		p.choice = choice(which, fmt.Sprintf("%d s", delay), fmt.Sprintf("%d s", before), events, share)
		return
	}
	if longer {
		p.maxDelay = p.rule().Max
	} else {
		p.minDelay = p.rule().Min
	}
	p.refuse("it can take %d events of the history, and its share is %d: it fits with a %s of %d s instead of %d",
		events, share, which, delay, before)
}

// waits is a retrier with the schedule's delays, without a draw.
func (t timing) waits(names []string, attempts int) retrier {
	r := retrier{ErrorEquals: names, IntervalSeconds: t.low, MaxAttempts: attempts, BackoffRate: 1}
	if t.hi > t.low {
		r.BackoffRate, r.MaxDelaySeconds = pollcore.Growth, t.hi
	}
	return r
}
