package lint

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// countByClock follows a job that never ends until the time that ends its loop, by a clock that goes on
// with each Wait; nil if it is not known how long one waits.
func (c *checker) countByClock(l *loop, r *reading) *laps {
	types := c.clocked()
	if types == nil || c.boundsOf(l).length == 0 {
		return nil
	}
	var longest laps
	for _, value := range r.pollingValues() {
		for _, from := range c.arrivalsAt(types, l, 0) {
			run := lapRun{loop: l, reading: r, value: value, types: types, ticks: true}
			ran, known := run.untilTime(c, from, c.boundsOf(l).length)
			if !known {
				return nil
			}
			ran.atMost = ran.atMost || from.about
			if longest.polls == 0 {
				longest = ran
			} else {
				longest.join(&ran)
			}
		}
	}
	return &longest
}

// untilTime follows laps from the start of the execution on, until they leave the loop some time later.
func (run *lapRun) untilTime(c *checker, from arrival, length time.Duration) (ran laps, known bool) {
	run.follow(&path{laps: laps{ahead: from.ahead.Seconds()}, at: from.entry})
	var before, lap laps
	alike := 0 // laps before this one that take the same
	for {
		if !run.lap(c) {
			return laps{}, false
		}
		if len(run.polling) == 0 {
			return *run.left, true
		}
		for _, p := range run.polling {
			if p.events > fartherThanHistory*asl.MaxEvents {
				return laps{}, false
			}
			p.polls++
		}
		if len(run.polling) == 1 && run.left == nil {
			p := run.polling[0]
			now := p.laps
			last := now.since(&before)
			if alike++; !last.takesAs(&lap) {
				alike = 0
			}
			switch {
			case p.at.env.Equal(p.last):
				p.skip(&last, length)
			case alike >= steadyLaps:
				p.skip(&last, length)
				p.atMost = p.atMost || run.reading.Turn.Wait == 0 // a later lap may wait longer
			}
			before, lap = now, last
		}
		for _, p := range run.polling {
			p.last = p.at.env
		}
		run.open, run.polling, run.taken = run.polling, nil, nil
	}
}

// steadyLaps are enough that take the same: the delays of a loop that counts its polls have grown by then.
const steadyLaps = 64

// since counts the laps behind the first ones.
func (n *laps) since(first *laps) laps {
	return laps{
		waits: n.waits - first.waits, events: n.events - first.events,
		transitions: n.transitions - first.transitions, seconds: n.seconds - first.seconds,
	}
}

// takesAs tells whether two laps take the same.
func (n *laps) takesAs(o *laps) bool {
	return n.waits == o.waits && n.events == o.events && n.transitions == o.transitions && n.seconds == o.seconds
}

// skip goes on for as many laps as the last as are over before a time, but for one.
func (p *path) skip(lap *laps, length time.Duration) {
	left := length.Seconds() - p.ahead - p.seconds
	if lap.seconds <= 0 || left < 2*lap.seconds {
		return
	}
	n := int(left/lap.seconds) - 1
	p.polls, p.waits = p.polls+n, p.waits+n*lap.waits
	p.events, p.transitions, p.seconds = p.events+n*lap.events, p.transitions+n*lap.transitions, p.seconds+float64(n)*lap.seconds
}
