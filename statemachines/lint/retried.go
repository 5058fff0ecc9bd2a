package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// retriedEvents are the events of the history that a failed try of a Task takes.
const retriedEvents = 3

// fewAttempts are those of a Retry that gets over a fault. One that waits for a job has
// more.
const fewAttempts = 10

// retriedTurn is one poll by a retry.
func retriedTurn(s *asl.State, polling []asl.Retrier) Turn {
	const called = 2 // a try is scheduled, and started
	t := Turn{States: []string{s.Name}, Events: retriedEvents, called: called, Transitions: 1, Wait: time.Duration(polling[0].IntervalSeconds) * time.Second}
	longest := time.Duration(0)
	for _, r := range polling {
		longest = max(longest, delayOf(r, r.MaxAttempts))
	}
	if longest > t.Wait {
		t.Longest = longest
	}
	return t
}

// retriedBound is what ends a loop in a Retry: its attempts, unless the history is full
// before, or its time is over.
func (c *checker) retriedBound(f *asl.Flow, polling []asl.Retrier, turn Turn, limit limit) Bound {
	before := c.leadTo(f, map[string]bool{turn.States[0]: true})
	b := Bound{Kind: ByCount, Polls: 1, After: before.wait, Ahead: before.wait}
	for _, r := range polling {
		for n := int64(1); n <= r.MaxAttempts && b.Kind == ByCount; n++ {
			b.addRetry(delayOf(r, n), mostEvents-before.events-1, turn, limit)
		}
	}
	b.AtMost = before.more && b.Kind == Unbounded || before.longer && b.Kind == limit.kind && limit.after > 0
	b.Events, b.Transitions = b.Polls*turn.Events, b.Polls*turn.Transitions
	b.USD = asl.TransitionCost(float64(b.Transitions))
	return b
}

// retriedRoom is how many polls there are until the history is full, or a year over, if nothing else ends them,
// and how long that takes.
func (c *checker) retriedRoom(f *asl.Flow, polling []asl.Retrier, turn Turn) (polls int, lasts time.Duration) {
	endless := slices.Clone(polling)
	endless[len(endless)-1].MaxAttempts = asl.MaxEvents
	b := c.retriedBound(f, endless, turn, limit{kind: Unbounded})
	return b.Polls, b.After
}

// reportEndlessRetry reports retries that poll, and that nothing ends before the history is full.
func (c *checker) reportEndlessRetry(s *asl.State, polling []asl.Retrier, l *Loop) {
	if l.Bound.Kind != Unbounded || l.Bound.After >= asl.MaxStandardTime || l.Express {
		return
	}
	i := slices.IndexFunc(s.Retry, func(retrier asl.Retrier) bool { return slices.Equal(retrier.ErrorEquals, polling[0].ErrorEquals) })
	c.report(UnboundedLoop, s, fmt.Sprintf("/Retry/%d", i), "the retries of %q go on %s: "+
		"lower \"MaxAttempts\", or set \"TimeoutSeconds\" of the state machine", s.Name, until(l.Bound.After))
}

// addRetry adds a retry to a bound, if there is room for its call in so many events of all tries, and time for
// it.
func (b *Bound) addRetry(delay time.Duration, room int, turn Turn, limit limit) {
	switch after := b.After + delay; {
	case limit.after > 0 && after > limit.after:
		b.Kind, b.After = limit.kind, limit.after
	case b.Polls*turn.Events+turn.called > room:
		if b.Polls*turn.Events <= room { // only the call behind the delay has none
			b.After = after
		}
		if b.Kind = Unbounded; limit.isOpen() {
			b.Kind = limit.kind
		}
	case after > asl.MaxStandardTime:
		b.Kind, b.After = Unbounded, asl.MaxStandardTime
	default:
		b.Polls, b.After = b.Polls+1, after
	}
}

// catcherOf is the catcher that takes all errors that a Task polls on; nil if none does, or
// an earlier one may take some of them.
func catcherOf(s *asl.State, polling []asl.Retrier) *asl.Catcher {
	var errors []string
	for _, r := range polling {
		errors = append(errors, r.ErrorEquals...)
	}
	i := slices.IndexFunc(s.Catch, func(k asl.Catcher) bool { return meets(k.ErrorEquals, errors) })
	if i < 0 || !takes(s.Catch[i].ErrorEquals, errors) {
		return nil
	}
	return &s.Catch[i]
}

// isFunction tells whether a Task invokes a function of Lambda and gets its errors.
func isFunction(s *asl.State) bool {
	r := asl.ParseResource(s.Task.Resource)
	return r.Pattern == "" && (r.Service == "lambda" && (r.Direct || r.Action == "invoke"))
}

// isOwnError tells whether the name of an error is one that a function raises itself.
func isOwnError(name string) bool {
	prefix, _, _ := strings.Cut(name, ".")
	return !asl.HasPlaceholder(name) && !slices.Contains([]string{"States", "Lambda", "Sandbox", "Runtime", "JobPoller"}, prefix) &&
		!awserror.ClassifyName(name, "").Passes()
}
