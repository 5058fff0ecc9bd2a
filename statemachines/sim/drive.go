package sim

import (
	"context"
	"slices"
	"sync"
)

// actor is an execution tree to its clock: one goroutine at a time works on it, and
// what is due for it runs in the order of time and, at the same time, of
// registration. All but mu belongs to the clock.
type actor struct {
	mu  sync.Mutex // held while a goroutine works on it
	run *run

	due    []*timer // what is due for it, in order
	missed int      // entries in the clock's queue that found it at work
	busy   bool
	pinned bool // only the goroutine of its Run works on it
	away   bool // that goroutine is in a function of the caller, where it does not hold the clock
	gone   bool // nothing is left to do for it, ever
}

// dueQueue is what is due, first in, first out.
type dueQueue struct {
	entries []*timer
	first   int
}

func (q *dueQueue) len() int { return len(q.entries) - q.first }

func (q *dueQueue) push(t *timer) { q.entries = append(q.entries, t) }

func (q *dueQueue) pop() *timer {
	t := q.entries[q.first]
	q.entries[q.first] = nil
	if q.first++; q.first == len(q.entries) || q.first > 1024 && q.first > len(q.entries)/2 {
		rest := copy(q.entries, q.entries[q.first:])
		clear(q.entries[rest:])
		q.entries, q.first = q.entries[:rest], 0
	}
	return t
}

// fire makes a timer due.
func (c *Clock) fire(t *timer) {
	switch a := t.actor; {
	case a == nil && !c.jumps():
		go c.callPlain(t)
		return
	case a == nil:
	case a.gone:
		t.f = nil
		return
	default:
		i := len(a.due)
		for i > 0 && t.before(a.due[i-1]) {
			i--
		}
		a.due = slices.Insert(a.due, i, t)
	}
	c.due.push(t)
	if c.waiting > 0 && c.due.len() > c.running {
		c.changed.Signal()
	}
}

// callPlain calls a function of the caller.
func (c *Clock) callPlain(t *timer) {
	c.mu.Lock()
	f := t.f
	t.f = nil
	c.mu.Unlock()
	if f != nil {
		f()
	}
}

// step does the next thing on the clock, or waits until there may be one. r is the
// run whose goroutine this is; nil: that of a World or of Advance.
func (c *Clock) step(r *run) {
	if c.runDue(r) || c.jump() {
		return
	}
	c.waiting++
	c.changed.Wait()
	c.waiting--
}

// runDue runs the first function that is due.
func (c *Clock) runDue(r *run) bool {
	if r != nil && r.actor.missed > 0 && !r.actor.busy {
		r.actor.missed--
		c.workOn(&r.actor)
		return true
	}
	for c.due.len() > 0 {
		t := c.due.pop()
		a := t.actor
		switch {
		case a == nil:
			if t.f == nil {
				continue
			}
			c.runPlain(t, r)
			return true
		case a.gone:
		case a.busy, a.pinned && (r == nil || a != &r.actor):
			if a.missed++; a.pinned && !a.busy && !a.away && a.missed == 1 {
				c.active++
				c.changed.Broadcast()
			}
		case a.due[0].f == nil:
			a.due = slices.Delete(a.due, 0, 1)
		default:
			c.active++
			c.workOn(a)
			return true
		}
	}
	return false
}

// workOn runs what is due for an actor, which counts as active.
func (c *Clock) workOn(a *actor) {
	a.busy = true
	c.running++
	defer func() {
		a.busy = false
		c.running--
		c.active--
	}()
	c.workFirst(a)
	c.workMissed(a)
}

// workMissed runs what became due for an actor while it was at work.
func (c *Clock) workMissed(a *actor) {
	for a.missed > 0 {
		a.missed--
		c.workFirst(a)
	}
}

func (c *Clock) workFirst(a *actor) {
	if a.gone {
		return
	}
	t := a.due[0]
	a.due = slices.Delete(a.due, 0, 1)
	if t.f != nil {
		c.call(a, t)
	}
}

// call runs one function of an actor.
func (c *Clock) call(a *actor, t *timer) {
	f := t.f
	t.f = nil
	c.mu.Unlock()
	defer c.mu.Lock()
	a.run.act(t.at, f)
}

// runPlain runs a function of the caller where the clock jumps: here, or in a World on
// a goroutine that runs them one after the other, so that no worker waits for it.
func (c *Clock) runPlain(t *timer, r *run) {
	c.holds++
	if c.workers == 0 {
		if r != nil {
			r.actor.away = true
		}
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			c.unhold()
			if r == nil {
				return
			}
			if r.actor.away = false; r.actor.missed > 0 {
				c.active++
			}
		}()
		c.callPlain(t)
		return
	}
	if c.plain = append(c.plain, t); len(c.plain) == 1 {
		go c.runPlains()
	}
}

func (c *Clock) runPlains() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.plain) > 0 {
		t := c.plain[0]
		c.mu.Unlock()
		c.callPlain(t)
		c.mu.Lock()
		c.plain = c.plain[1:]
		c.unhold()
	}
	c.plain = nil
}

// unhold ends a call in flight.
func (c *Clock) unhold() {
	c.holds--
	if c.waiting > 0 {
		c.changed.Signal()
	}
}

// jump moves a clock that jumps to its first timer, if nothing is left to do before it.
func (c *Clock) jump() bool {
	if !c.jumps() || c.due.len() > 0 || c.active > 0 || c.holds > 0 {
		return false
	}
	next := len(c.timers) > 0
	switch {
	case c.goal != nil && c.goal.done:
		return false
	case c.goal != nil && (!next || c.timers[0].at.After(c.goal.to)):
		if c.goal.to.After(c.model) {
			c.model = c.goal.to
		}
		c.goal.done = true
		c.changed.Broadcast()
		return true
	case !next || c.goal == nil && c.tokens > 0:
		return false
	}
	c.model = c.timers[0].at
	c.promote()
	return true
}

// post lets f run for an actor now, behind all that is due for it.
func (c *Clock) post(a *actor, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.postLocked(a, f)
}

func (c *Clock) postLocked(a *actor, f func()) {
	if !c.jumps() {
		c.promote()
	}
	c.schedule(c.now(), a, f)
}

// begin runs f on an actor that nobody else works on yet.
func (c *Clock) begin(a *actor, f func()) {
	c.mu.Lock()
	a.busy = true
	c.active++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		a.busy = false
		for ; a.missed > 0; a.missed-- { // what a worker found too early
			c.due.push(&timer{actor: a, index: -1})
		}
		c.active--
		c.changed.Broadcast()
	}()
	a.run.act(a.run.now, f) // when it was made: the start of its execution
}

// drive works on the clock, on this goroutine, until the run is over or ctx ends.
// Calls in flight do not hold a virtual clock meanwhile: one of them may be this.
func (c *Clock) drive(ctx context.Context, r *run) {
	defer context.AfterFunc(ctx, c.rouse)()
	c.mu.Lock()
	defer c.mu.Unlock()
	holds := c.holds
	c.holds = 0
	defer func() {
		a := &r.actor
		if a.missed > 0 && !a.busy {
			c.active--
		}
		a.gone, a.due, a.missed = true, nil, 0
		c.holds += holds
		c.changed.Broadcast()
	}()
	for !r.over && ctx.Err() == nil {
		c.step(r)
	}
}

// release lets the clock go on without an actor while its goroutine is in a handler,
// and then runs what has become due for it.
func (c *Clock) release(handler func()) {
	c.mu.Lock()
	c.running--
	c.active--
	c.changed.Broadcast()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.running++
		c.active++
		c.mu.Unlock()
	}()
	handler()
}

// catchUp runs f for an actor whose goroutine comes back from a handler: behind all that
// became due for it meanwhile.
func (c *Clock) catchUp(a *actor, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.missed > 0 {
		c.postLocked(a, f)
		c.workMissed(a)
		return
	}
	c.call(a, &timer{at: c.now(), f: f})
}

// hold counts a call in flight, which holds a clock that jumps.
func (c *Clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds++
}

// reply ends a call in flight with a function for its actor.
func (c *Clock) reply(a *actor, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.postLocked(a, f)
	c.unhold()
}
