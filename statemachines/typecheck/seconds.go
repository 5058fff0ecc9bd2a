package typecheck

import (
	"slices"

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
