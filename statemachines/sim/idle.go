package sim

import (
	"runtime"
	"sync/atomic"
	"time"
)

// idle are the goroutines of a clock that have nothing to do. To wake one takes longer
// than most functions run, so none is woken for a little that a goroutine at work gets to
// soon.
type idle struct {
	waiting  int          // goroutines that wait for work
	woken    bool         // one of them is on its way
	spinning bool         // one more looks for work without a break
	stays    bool         // who holds the lock works on what is due next
	late     *time.Timer  // looks whether those at work have got to what is due
	looks    bool         // late runs
	queued   atomic.Int64 // how much is due, for the one that spins
}

const (
	// muchDue is for how many entries of the queue a goroutine is woken at once.
	muchDue = 8
	// longest is how long fewer entries wait for the goroutines at work.
	longest = time.Millisecond
	// mostSpins is how often a goroutine looks for work before it waits: some 50 µs.
	mostSpins = 500
)

// wakeToWork has somebody look at what is due, unless somebody does soon.
func (c *Clock) wakeToWork() {
	i := &c.idle
	if i.stays || c.due.len() == 0 {
		return
	}
	i.queued.Store(int64(c.due.len()))
	switch {
	case i.waiting == 0 || i.woken || i.spinning:
	case c.running == 0 || c.due.len() >= muchDue:
		c.wakeOne()
	case i.looks:
	case i.late == nil:
		i.looks = true
		i.late = time.AfterFunc(longest, c.lookLate)
	default:
		i.looks = true
		i.late.Reset(longest)
	}
}

// lookLate wakes a goroutine for what is still due.
func (c *Clock) lookLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle.looks = false; c.due.len() > 0 && c.idle.waiting > 0 && !c.idle.woken {
		c.wakeOne()
	}
}

// jumps tells whether the clock goes from timer to timer.
func (c *Clock) jumps() bool { return c.virtual || c.goal != nil }

// wakeToJump has somebody look whether the clock can jump, unless somebody does soon.
func (c *Clock) wakeToJump() {
	if i := &c.idle; c.jumps() && i.waiting > 0 && !i.woken && !i.spinning && c.running == 0 {
		c.wakeOne()
	}
}

func (c *Clock) wakeOne() {
	c.idle.woken = true
	c.changed.Signal()
}

// wait waits until there may be something to do.
func (c *Clock) wait() {
	c.idle.waiting++
	c.changed.Wait()
	c.idle.waiting--
	c.idle.woken = false
}

// spin looks for work for a moment if others are at work, who may make some. It tells
// whether it did.
func (c *Clock) spin() bool {
	if c.active == 0 || c.idle.spinning {
		return false
	}
	c.idle.spinning = true
	c.idle.queued.Store(int64(c.due.len()))
	c.mu.Unlock()
	for n := 0; n < mostSpins && c.idle.queued.Load() == 0; n++ {
		runtime.Gosched()
	}
	c.mu.Lock()
	c.idle.spinning = false
	return true
}
