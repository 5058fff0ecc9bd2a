package lint

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// pollsOnErrors notes a Catch that leads every error of a poll back to it, such as that of a denied call, which does not pass by
// itself. Where nothing ends that, unbounded-loop says so.
func (c *checker) pollsOnErrors(l *loop, s *asl.State) {
	if c.limitOf(l.flow).kind == Unbounded && len(c.failingLaps(c.boundsOf(l))) > 0 {
		return
	}
	for i, catcher := range s.Catch {
		if !takesAll(catcher.ErrorEquals) {
			continue
		}
		if l.waitsFor(catcher.Next, s) {
			c.reportAs(diag.Note, LoopingDefault, s, fmt.Sprintf("/Catch/%d/Next", i), "every error leads back to %q: one that does not pass by itself, "+
				"such as that of a denied call, is polled until something else ends the loop; "+
				"name the errors that pass in \"ErrorEquals\", and lead the others to a Fail state", catcher.Next)
		}
		return
	}
}

// waitsFor tells whether a state of the loop leads to another one whatever happens: no Choice is on the way.
func (l *loop) waitsFor(name string, to *asl.State) bool {
	for range l.states {
		s := l.flow.State(name)
		switch {
		case s == to:
			return true
		case s == nil || !l.inside[s.Name] || s.Type != asl.TypeWait && s.Type != asl.TypePass:
			return false
		}
		name = s.Next
	}
	return false
}
