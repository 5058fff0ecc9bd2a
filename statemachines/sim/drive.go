package sim

import (
	"context"
	"time"
)

// Advance moves the clock to a time, through all timers on its way, and returns
// when all that is due by then has run and no call is in flight. A clock that is
// there already runs what is due. It does not wait for tokens, and refuses to go beyond
// the year 9999. Any other error is that of ctx, which bounds the wait for calls in
// flight, or that of the World's journal, which keeps the move before it happens.
func (c *Clock) Advance(ctx context.Context, to time.Time) error {
	if err := checkTime(to); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.rouse)()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.goal != nil {
		if ctx.Err() != nil {
			c.changed.Broadcast() // somebody else goes on with what this goroutine did
			return ctx.Err()
		}
		c.step(nil)
	}
	if err := c.noteMove(to); err != nil {
		return err
	}
	c.anchor()
	g := &goal{to: to}
	c.goal = g
	c.stopWake()
	defer func() {
		c.since, c.goal = time.Now(), nil
		c.promote()
		c.setWake()
		c.changed.Broadcast()
	}()
	for !g.done {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.step(nil)
	}
	return nil
}

// step does the next thing on the clock, or waits until there may be one. r is the
// run whose goroutine this is; nil: that of a World or of Advance.
func (c *Clock) step(r *run) {
	if !c.runDue(r, nobody) && !c.jump() {
		c.wait()
	}
}

// runDue runs the first function that is due, on the goroutine of a run or of a worker.
func (c *Clock) runDue(r *run, worker int) bool {
	if r != nil && r.actor.missed > 0 && !r.actor.busy {
		r.actor.missed--
		c.workOn(&r.actor)
		return true
	}
	for c.due.len() > 0 {
		e := c.due.pop(worker)
		a, t := e.actor, e.timer
		switch {
		case a == nil:
			if t.f == nil {
				continue
			}
			c.runPlain(t, r)
			return true
		case t == nil:
			if a.queued = false; len(a.due) > 0 && !a.busy {
				c.workBursts(a, worker)
				return true
			}
		case a.gone:
		case a.busy, a.pinned && (r == nil || a != &r.actor):
			if a.missed++; a.pinned && !a.busy && !a.away && a.missed == 1 {
				c.active++
				c.changed.Broadcast()
			}
		case a.due[0].f == nil:
			a.due.take()
		default:
			c.active++
			c.workOn(a)
			return true
		}
	}
	return r == nil && c.help()
}

// workOn runs what is due for an actor, which counts as active.
func (c *Clock) workOn(a *actor) {
	a.busy = true
	c.running++
	c.wakeToWork() // to what is left
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
	t := a.due.take()
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
	a.run.fire(t, f)
}

// runPlain runs a function of the caller where the clock jumps: here, or in a World on
// a goroutine that runs them one after the other, so that no worker waits for it.
func (c *Clock) runPlain(t *timer, r *run) {
	c.holds++
	switch {
	case c.workers > 0:
		if c.plain = append(c.plain, t); len(c.plain) == 1 {
			go c.runPlains()
		}
	case r == nil:
		c.mu.Unlock()
		defer c.mu.Lock()
		c.callPlain(t)
		c.endCall()
	default:
		c.runTimerOf(r, t)
	}
}

// runTimerOf runs a function of the caller on the goroutine of a run. The clock does
// not wait meanwhile for the run itself: the function may run another.
func (c *Clock) runTimerOf(r *run, t *timer) {
	r.actor.away = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.unhold()
		if r.actor.away = false; r.actor.missed > 0 {
			c.active++
		}
	}()
	r.guardTimer(func() { c.callPlain(t) })
}

// endCall ends a call in flight.
func (c *Clock) endCall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unhold()
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
	c.wakeToJump()
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
	case c.workers > 0 && c.timers[0].at.After(lastTime): // its executions wait for ever
		return false
	}
	c.model = c.timers[0].at
	c.idle.stays = true // this goroutine, which works on what is due now
	c.promote()
	c.idle.stays = false
	return true
}

// post lets f run for an actor now, behind all that is due for it.
func (c *Clock) post(a *actor, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.postLocked(a, f)
}

func (c *Clock) postLocked(a *actor, f func()) {
	c.schedule(&timer{at: c.now(), f: f, actor: a, index: -1})
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
		c.active--
		if a.run.world != nil {
			c.settle(a.run)
			c.enqueueActor(a)
			c.wakeToJump()
			return
		}
		for ; a.missed > 0; a.missed-- { // what a worker found too early
			c.due.push(nobody, dueEntry{a, &timer{actor: a, index: -1}})
		}
		c.changed.Broadcast()
	}()
	t := &timer{at: a.run.now, f: f} // when it was made: the start of its execution
	if a.run.world == nil {
		a.run.fire(t, f)
		return
	}
	b := &a.run.burst
	b.at, b.now = t.at, append(b.now, t)
	for _, call := range a.run.performBurst() {
		call()
	}
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

// employ counts the workers of a World.
func (c *Clock) employ(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers += n
}

// serve works on the clock until ctx ends.
func (c *Clock) serve(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	worker := c.due.employ()
	for spun := false; ctx.Err() == nil; {
		switch {
		case c.runDue(nil, worker) || c.jump():
			spun = false
		case !spun && c.spin():
			spun = true
		default:
			c.wait()
			spun = false
		}
	}
	c.changed.Broadcast()
}

// waitForToken counts the Tasks that wait for an answer from outside.
func (c *Clock) waitForToken(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens += n
	if c.tokens == 0 {
		c.wakeToJump()
	}
}
