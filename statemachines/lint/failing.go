package lint

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// failingLap is one time around a loop on the way of an error.
type failingLap struct {
	task string // whose call fails
	turn Turn
}

// failingLaps are the laps of calls that fail each time, where a Catch leads them back to what
// no bound ends. Their retries count.
func (c *checker) failingLaps(b *bounds) []failingLap {
	var all []failingLap
	for _, open := range b.open() {
		all = append(all, c.failingLapsOf(open)...)
	}
	return all
}

// failingLapsOf are those of a loop, one for each catcher that leads back.
func (c *checker) failingLapsOf(l *loop) []failingLap {
	var all []failingLap
	for _, s := range l.states {
		for i := range s.Catch {
			if turn := c.failingTurn(l, s, i); turn.Events > 0 {
				all = append(all, failingLap{s.Name, turn})
			}
		}
	}
	return all
}

// failingTurn is a lap in which the call of a state fails, and the catcher of that number takes
// its error; empty if that does not lead back.
func (c *checker) failingTurn(l *loop, s *asl.State, catcher int) Turn {
	fails := func(from *asl.State, way asl.Transition) bool {
		caught := way.Kind == asl.TransitionCatch && way.Rule == catcher
		return l.taken(from, way) && (from == s && caught || from != s && way.Kind != asl.TransitionCatch)
	}
	for _, lap := range loops(l.flow, l.states, fails) {
		if !lap.inside[s.Name] || lap.first(asl.TypeWait) == nil {
			continue
		}
		return withRetries(c.turn(lap, s), s, s.Catch[catcher].ErrorEquals)
	}
	return Turn{}
}

// withRetries is a turn with the retries of a call that fails each time with one of some errors,
// at most as many as a history has room for.
func withRetries(t Turn, s *asl.State, caught []string) Turn {
	room := max(0, mostEvents-t.Events) / retriedEvents
	for i := range s.Retry {
		r := &s.Retry[i]
		if !meets(r.ErrorEquals, caught) {
			continue
		}
		for n := 1; int64(n) <= r.MaxAttempts && n <= room; n++ {
			delay := delayOf(*r, int64(n))
			t.Events, t.Transitions, t.Wait, t.retries = t.Events+retriedEvents, t.Transitions+1, t.Wait+delay, append(t.retries, delay)
			if t.Wait > asl.MaxStandardTime {
				t.Wait = asl.MaxStandardTime
				return t
			}
		}
		break // the errors of one retrier
	}
	return t
}

// delayOf is the time before the n-th retry.
func delayOf(r asl.Retrier, n int64) time.Duration {
	return time.Duration(min(r.Delay(n), asl.MaxSeconds) * float64(time.Second))
}
