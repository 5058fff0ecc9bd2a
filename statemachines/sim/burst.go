package sim

import "sync/atomic"

// mostInBurst is how many functions a worker runs for an execution before it looks
// after others.
const mostInBurst = 64

// mostInBunch is how many actors a worker takes at once, if there are four times as many.
const mostInBunch = 8

// bunch are actors that a worker works on, one after the other. Others may take from it
// those that it has not begun.
type bunch struct {
	actors []*actor
	begun  atomic.Int32
	done   []*actor
}

// take begins with the next actor; nil: there is none.
func (b *bunch) take() *actor {
	if i := int(b.begun.Load()); i >= len(b.actors) {
		return nil
	}
	if i := int(b.begun.Add(1)) - 1; i < len(b.actors) {
		return b.actors[i]
	}
	return nil
}

// workBursts runs what is due for an actor of a World, and for some others that the
// worker is to look after.
func (c *Clock) workBursts(a *actor, worker int) {
	if worker == nobody {
		c.loadBurst(a)
		c.runBunch(&bunch{actors: []*actor{a}})
		return
	}
	own := c.due.own[worker]
	b := &own.bunch
	b.begun.Store(0)
	for n := min(mostInBunch, (c.due.len()+1)/4); ; n-- {
		c.loadBurst(a)
		a.worker = worker
		b.actors = append(b.actors, a)
		if n <= 1 {
			break
		}
		if a = c.nextOf(own); a == nil {
			break
		}
	}
	c.runBunch(b)
	clear(b.actors)
	b.actors = b.actors[:0]
}

// loadBurst takes what is due for an actor of a World at one instant.
func (c *Clock) loadBurst(a *actor) {
	at, b := a.due[0].at, &a.run.burst
	for n := 0; n < mostInBurst && len(a.due) > 0 && a.due[0].at.Equal(at); n++ {
		b.now = append(b.now, a.due.take())
	}
	b.at, b.follow = at, len(a.due) == 0 || a.due[0].at.After(at)
	a.busy = true
	c.active++
}

// runBunch works on a bunch.
func (c *Clock) runBunch(b *bunch) {
	c.running++
	c.wakeToWork() // to what is left
	c.performBunch(b)
	c.idle.stays = true // this goroutine, which goes on with what is due
	for _, a := range b.done {
		c.settle(a.run)
		a.busy = false
		c.active--
		c.enqueueActor(a)
	}
	c.idle.stays = false
	c.running--
	clear(b.done)
	b.done = b.done[:0]
}

func (c *Clock) performBunch(b *bunch) {
	c.mu.Unlock()
	defer c.mu.Lock()
	for a := b.take(); a != nil; a = b.take() {
		b.done = append(b.done, a)
		calls := a.run.performBurst()
		if len(calls) > 0 {
			c.settleFirst(a.run)
		}
		for _, call := range calls {
			call()
		}
	}
}

// help takes an actor from the bunch of a worker that is long at another.
func (c *Clock) help() bool {
	for _, own := range c.due.own {
		if a := own.bunch.take(); a != nil {
			c.runBunch(&bunch{actors: []*actor{a}})
			return true
		}
	}
	return false
}

// performBurst runs the functions of the burst. Where it is the whole of what is due at
// this instant, what they let be due at it follows. It returns what is to be called
// behind it, which ends the burst.
func (r *run) performBurst() (calls []func()) {
	r.actor.mu.Lock()
	defer r.actor.mu.Unlock()
	b := &r.burst
	r.moveTo(b.at)
	for _, t := range b.now {
		t.local = true
	}
	b.open, b.follow = true, b.follow && b.at.Equal(r.now)
	n := 0
	for ; n < len(b.now) && n < mostInBurst && len(r.calls) == 0; n++ {
		t := b.now[n]
		f := t.f
		if t.f = nil; f != nil && r.world.Err() == nil { // else its executions stand still
			r.guard(t, f)
		}
	}
	b.open, b.follow = false, false
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
