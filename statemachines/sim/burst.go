package sim

import (
	"slices"
	"time"
)

// mostInBurst is how many functions a worker runs for an execution before it looks
// after others.
const mostInBurst = 64

// workBurst runs what is due for an actor of a World at one instant, and what that lets
// be due at the same instant, as far as a burst goes.
func (c *Clock) workBurst(a *actor) {
	at, n := a.due[0].at, 1
	for n < len(a.due) && n < mostInBurst && a.due[n].at.Equal(at) {
		n++
	}
	whole := n == len(a.due) || a.due[n].at.After(at)
	r := a.run
	r.burst.now = append(r.burst.now, a.due[:n]...)
	a.due = slices.Delete(a.due, 0, n)
	a.busy = true
	c.active++
	c.running++
	c.wakeToWork() // to what is left
	c.mu.Unlock()
	defer func() {
		c.settle(r)
		a.busy = false
		c.running--
		c.active--
		c.idle.stays = true // this goroutine, which goes on with what is due
		c.enqueueActor(a)
		c.idle.stays = false
	}()
	defer c.mu.Lock()
	calls := r.performBurst(at, whole)
	if len(calls) > 0 {
		c.settleFirst(r)
	}
	for _, call := range calls {
		call()
	}
}

// performBurst runs the functions of the burst. Where it is the whole of what is due at
// this instant, what they let be due at it follows. It returns what is to be called
// behind it, which ends the burst.
func (r *run) performBurst(at time.Time, whole bool) (calls []func()) {
	r.actor.mu.Lock()
	defer r.actor.mu.Unlock()
	r.moveTo(at)
	b := &r.burst
	for _, t := range b.now {
		t.local = true
	}
	b.open, b.follow = true, whole && at.Equal(r.now)
	n := 0
	for ; n < len(b.now) && n < mostInBurst && len(r.calls) == 0; n++ {
		t := b.now[n]
		f := t.f
		if t.f = nil; f != nil && r.world.Err() == nil { // else its executions stand still
			r.guard(t, f)
		}
	}
	b.open = false
	rest := copy(b.now, b.now[n:])
	clear(b.now[rest:])
	b.now = b.now[:rest]
	calls, r.calls = r.calls, nil
	return calls
}

// settleFirst settles a burst before somebody is called.
func (c *Clock) settleFirst(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(r)
}

// settle tells the clock of the timers of a burst.
func (c *Clock) settle(r *run) {
	b := &r.burst
	c.holds += b.holds
	b.holds = 0
	for _, t := range b.stopped {
		c.stop(t)
	}
	for _, timers := range [][]*timer{b.now, b.later} {
		for _, t := range timers {
			if t.local = false; t.f != nil {
				c.schedule(t)
			}
		}
	}
	for _, timers := range []*[]*timer{&b.now, &b.later, &b.stopped} {
		clear(*timers)
		*timers = (*timers)[:0]
	}
}
