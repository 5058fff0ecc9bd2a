package typecheck

import (
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// NeverWaits tells whether a Wait waits for no time: its seconds are 0 over all ways to it.
func (c *Checker) NeverWaits(s *asl.State) bool {
	in := c.Input(s)
	if s.Wait == nil || s.Wait.Seconds == nil || !in.IsReachable() {
		return false
	}
	if s.Wait.Seconds.Literal != nil {
		return s.Wait.Seconds.Literal == int64(0)
	}
	x := c.newScene(s, in, false)
	v := x.with(x.inputPath()).scalar(s.Wait.Seconds, "")
	return v.kinds() == numbers && slices.Equal(v.set.number, []float64{0})
}

// SteadyWait is how long a Wait waits, if it waits for the same number of seconds over all ways to it.
func (c *Checker) SteadyWait(s *asl.State) (waits time.Duration, ok bool) {
	if s.Wait == nil || s.Wait.Seconds == nil {
		return 0, false
	}
	if in := c.Input(s); s.Wait.Seconds.Literal != nil || in.IsReachable() {
		return c.waitTime(s, in)
	}
	return 0, false
}

// draws are what WaitTime lets $random() give, in turn: the least, and nearly the most.
var draws = []float64{0, 1 - 1e-9}

// WaitTime is how long a Wait waits at least, and at most, that is entered with an environment, at the time
// of StartedAt and SetNow; not ok if that is not known. Both differ where the length is drawn.
func (c *Checker) WaitTime(s *asl.State, in Env) (least, most time.Duration, ok bool) {
	if least, ok = c.waitTime(s, in); ok || c.clock == nil {
		return least, least, ok
	}
	defer func() { c.clock.drawn = nil }()
	for i := range draws {
		c.clock.drawn = &draws[i]
		waits, ok := c.waitTime(s, in)
		if !ok {
			return 0, 0, false
		}
		if i == 0 {
			least, most = waits, waits
		}
		least, most = min(least, waits), max(most, waits)
	}
	return least, most, true
}

func (c *Checker) waitTime(s *asl.State, in Env) (waits time.Duration, ok bool) {
	x := c.newScene(s, in, false)
	here := x.with(x.inputPath())
	if until := s.Wait.Timestamp; until != nil {
		at, known := until.Literal.(time.Time)
		if !known {
			at, known = timeOf(here.scalar(until, ""))
		}
		if !known || c.clock == nil {
			return 0, false
		}
		return max(0, at.Sub(c.clock.now)), true
	}
	if seconds, known := s.Wait.Seconds.Literal.(int64); known {
		return time.Duration(seconds) * time.Second, true
	}
	n, known := oneNumber(here.scalar(s.Wait.Seconds, ""))
	if !known || n < 0 || n != math.Trunc(n) || n > asl.MaxSeconds {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}
