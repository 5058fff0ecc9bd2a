package compile

import (
	"slices"
	"time"
)

// errorWait is how long errors may be retried, in seconds, of a waiter that
// retries any: a quarter of the time after the initial delay. They cannot look at
// the clock.
func errorWait(p *plan) int {
	left := p.total - p.initial
	if left == 0 || !p.retriesErrors() {
		return 0
	}
	return max(1, left/4)
}

// phases are those of the calls behind the first, until the clock ends the wait: the
// last is cut there. Nil stands for one phase with the delays that all waits have.
func (p *plan) phases() []phase {
	if p.traits.phases == 0 || p.planned == nil {
		return nil
	}
	all := listPhases(append(slices.Clone(p.planned.Delays[1:]), p.planned.Then))
	left := p.timeForCalls()
	for i, ph := range all {
		if i == len(all)-1 || ph.span() >= left {
			all[i].calls = wholeDelays(left, ph.delay)
			return all[:i+1]
		}
		left -= ph.span()
	}
	return all
}

// timeForCalls is from the first call until the clock ends the wait.
func (p *plan) timeForCalls() time.Duration {
	return time.Duration(p.total-errorWait(p)-p.initial) * time.Second
}

// wholeDelays is how many delays pass a time.
func wholeDelays(passes, delay time.Duration) int { return int((passes + delay - 1) / delay) }

// retryErrors is how often each phase retries an error that an acceptor retries: all
// together for errorWait. A phase before the last one retries as many as it has calls to
// come, for half of that time at most: an error beyond ends the phase.
func (p *plan) retryErrors(phases []phase) []int {
	wait := time.Duration(errorWait(p)) * time.Second
	half := wait / 2
	retries := make([]int, len(phases))
	for i, ph := range phases[:len(phases)-1] {
		toCome := ph.calls
		if i > 0 {
			toCome-- // the Wait before its Task is the first delay
		}
		retries[i] = min(toCome, int(half/ph.delay))
		half -= time.Duration(retries[i]) * ph.delay
		wait -= time.Duration(retries[i]) * ph.delay
	}
	last := len(phases) - 1
	retries[last] = wholeDelays(wait, phases[last].delay)
	return retries
}
