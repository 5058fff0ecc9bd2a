package sim

import (
	"fmt"
	"math"
	"sync"
	"time"
)

// Clock is the time of any number of executions, and their timers. It is safe
// for concurrent use.
//
// A virtual clock moves only while a run or a World drives it: when nothing is
// left to do at one instant, it jumps to the next timer. Any other clock moves by
// itself, at a factor of the machine's time; with the factor 0 it stands still
// until Advance moves it.
type Clock struct {
	mu      sync.Mutex
	changed sync.Cond // of mu

	virtual bool
	machine bool      // shows the time of the machine
	factor  float64   // of a clock that is not virtual
	model   time.Time // the time at since, or, where the clock jumps, now
	since   time.Time // on the machine
	goal    *goal     // where Advance leads; nil: nobody advances it

	sequence uint64
	timers   timerHeap
	wake     *time.Timer // for the first of timers, on a clock that moves by itself

	due     dueQueues
	plain   []*timer // functions of the callers that wait for their goroutine
	running int      // goroutines that work on a function and come back for the next
	idle    idle     // those that have nothing to do
	active  int      // actors that work, or have to
	holds   int      // calls in flight, and functions of the callers
	tokens  int      // Tasks that wait for an answer from outside
	workers int      // of Worlds

	moves func(time.Time) error // is told before somebody moves the clock to a time, and may refuse it
}

// goal is where a call of Advance leads.
type goal struct {
	to   time.Time
	done bool
}

// NewVirtualClock returns a clock that stands at start until a run or a World
// drives it.
func NewVirtualClock(start time.Time) *Clock {
	c := newClock()
	c.virtual, c.model = true, start
	return c
}

// NewRealClock returns a clock that shows the time of the machine.
func NewRealClock() *Clock {
	c := newClock()
	c.machine, c.factor = true, 1
	return c
}

// NewClock returns a clock that shows start and goes by the factor: 1 is the pace of
// the machine, 60 makes a minute a second, and 0 stands still until Advance. It stands
// still at the end of the year 9999, which timestamps cannot exceed.
func NewClock(start time.Time, factor float64) (*Clock, error) {
	if err := checkFactor(factor); err != nil {
		return nil, err
	}
	if err := checkTime(start); err != nil {
		return nil, err
	}
	c := newClock()
	c.model, c.since, c.factor = start, time.Now(), factor
	return c, nil
}

func newClock() *Clock {
	c := &Clock{}
	c.changed.L = &c.mu
	return c
}

// mostFactor is a year in 31 seconds.
const mostFactor = 1_000_000

func checkFactor(factor float64) error {
	if !(factor >= 0 && factor <= mostFactor) || math.IsNaN(factor) {
		return fmt.Errorf("the factor of a clock is %v; use a number from 0 to %d", factor, mostFactor)
	}
	return nil
}

// lastTime is the end of all clocks that a World has a journal for: RFC 3339 has no later
// year.
var lastTime = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func checkTime(to time.Time) error {
	if to.After(lastTime) {
		return fmt.Errorf("a clock ends at %s, and cannot show %s", lastTime.Format(time.RFC3339), to.UTC().Format(time.RFC3339))
	}
	return nil
}

// Virtual tells whether the clock is virtual.
func (c *Clock) Virtual() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.virtual
}

// Now returns the current time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// SetFactor lets the clock go on from where it stands by the factor, as NewClock
// has it. A virtual clock is virtual no longer.
func (c *Clock) SetFactor(factor float64) error {
	if err := checkFactor(factor); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.noteMove(c.now()); err != nil {
		return err
	}
	c.anchor()
	c.virtual, c.factor = false, factor
	c.promote()
	c.setWake()
	c.changed.Broadcast()
	return nil
}

// SetVirtual makes the clock virtual from where it stands.
func (c *Clock) SetVirtual() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.noteMove(c.now()) // if it fails, the World says so
	c.anchor()
	c.virtual = true
	c.promote()
	c.setWake()
	c.changed.Broadcast()
}

// ClockState is what a clock shows and waits for.
type ClockState struct {
	Now     time.Time
	Virtual bool
	Factor  float64   // of a clock that is not virtual
	Next    time.Time // the first timer; zero if there is none before the year 10000
	Calls   int       // of handlers in flight
	Tokens  int       // Tasks that wait for an answer from outside
}

// State returns what the clock shows and waits for.
func (c *Clock) State() ClockState {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := ClockState{Now: c.now(), Virtual: c.virtual, Calls: max(c.holds, 0), Tokens: c.tokens}
	if !c.virtual {
		state.Factor = c.factor
	}
	if len(c.timers) > 0 && !c.timers[0].at.After(lastTime) {
		state.Next = c.timers[0].at
	}
	return state
}

// Next returns when the first timer is due.
func (c *Clock) Next() (at time.Time, ok bool) {
	next := c.State().Next
	return next, !next.IsZero()
}

// AfterFunc calls f once d has passed on this clock; a negative d counts as 0.
// Where the clock jumps, f runs before the clock goes on, in the order of time and,
// at the same time, of registration, on the goroutine that drives the clock, or on
// one of its own in a World. On a clock that moves by itself f runs on a goroutine of
// its own, as with time.AfterFunc. stop prevents the call, and tells whether it did.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now().Add(max(d, 0)), f: f, index: -1}
	c.schedule(t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.stop(t)
	}
}

func (c *Clock) now() time.Time {
	switch {
	case c.jumps() || c.factor == 0:
		return c.model
	case c.machine:
		return time.Now()
	default:
		now := c.model.Add(scale(time.Since(c.since), c.factor))
		if now.After(lastTime) {
			return lastTime
		}
		return now
	}
}

// scale is a duration times a factor, as long as there is such a duration.
func scale(d time.Duration, factor float64) time.Duration {
	product := float64(d) * factor
	if product >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(product)
}

// tellMoves has f told to which time somebody moves the clock, before it moves.
func (c *Clock) tellMoves(f func(time.Time) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moves = f
}

// noteMove tells the journal of a World where the clock goes.
func (c *Clock) noteMove(to time.Time) error {
	if c.moves == nil {
		return nil
	}
	if now := c.now(); now.After(to) {
		to = now
	}
	return c.moves(to)
}

// anchor notes what the clock shows now, for a change of its pace.
func (c *Clock) anchor() { c.model, c.since, c.machine = c.now(), time.Now(), false }

// rouse lets all that wait for the clock look again.
func (c *Clock) rouse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// schedule lets a timer run at its time.
func (c *Clock) schedule(t *timer) {
	if t.sequence == 0 {
		c.sequence++
		t.sequence = c.sequence
	}
	if t.at.After(c.now()) {
		c.timers.push(t)
		if c.timers[0].timer == t {
			c.setWake()
			c.wakeToJump()
		}
		return
	}
	if !c.jumps() && len(c.timers) > 0 && !c.timers[0].at.After(t.at) {
		c.promote() // what is due before
	}
	c.fire(t)
}

// stop prevents the call of a timer, and tells whether it did.
func (c *Clock) stop(t *timer) bool {
	if t.f == nil {
		return false
	}
	t.f = nil
	if t.index >= 0 {
		first := t.index == 0
		c.timers.remove(int(t.index))
		if first {
			c.setWake()
		}
	}
	return true
}

// promote makes due what has its time.
func (c *Clock) promote() {
	now := c.now()
	if len(c.timers) == 0 || c.timers[0].at.After(now) {
		return
	}
	for len(c.timers) > 0 && !c.timers[0].at.After(now) {
		c.fire(c.timers.remove(0))
	}
	c.setWake()
}

// setWake lets a clock that moves by itself look at its timers when the first is
// due.
func (c *Clock) setWake() {
	if c.jumps() || c.factor == 0 || len(c.timers) == 0 || c.timers[0].at.After(lastTime) {
		c.stopWake()
		return
	}
	wait := c.timers[0].at.Sub(c.now())
	if c.factor != 1 {
		if wait = scale(wait, 1/c.factor); wait < math.MaxInt64 {
			wait++ // no earlier than the timer
		}
	}
	if c.wake == nil {
		c.wake = time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.jumps() {
				c.promote()
				c.setWake()
			}
		})
		return
	}
	c.wake.Reset(wait)
}

func (c *Clock) stopWake() {
	if c.wake != nil {
		c.wake.Stop()
	}
}

// fire makes a timer due.
func (c *Clock) fire(t *timer) {
	switch a := t.actor; {
	case a == nil && !c.jumps():
		go c.callPlain(t)
		return
	case a == nil:
		c.enqueue(nobody, dueEntry{timer: t})
	case a.gone:
		t.f = nil
	default:
		a.due.add(t)
		if a.run.world != nil {
			c.enqueueActor(a)
			return
		}
		c.enqueue(nobody, dueEntry{a, t})
	}
}

// enqueueActor queues an actor of a World that nobody works on and that has something due.
func (c *Clock) enqueueActor(a *actor) {
	if !a.busy && !a.queued && len(a.due) > 0 {
		a.queued = true
		c.enqueue(a.worker, dueEntry{actor: a})
	}
}

func (c *Clock) enqueue(worker int, e dueEntry) {
	c.due.push(worker, e)
	c.wakeToWork()
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
