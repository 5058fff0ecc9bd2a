package sim

import (
	"container/heap"
	"sync"
	"time"
)

// Clock is the time of a run and its event heap. It is safe for concurrent
// use.
//
// A virtual clock moves only while a run drives it: when nothing is left to do
// at one instant, it jumps to the next timer. One run at a time drives a
// virtual clock; runs after each other share its time and its timers.
type Clock struct {
	virtual bool

	mu       sync.Mutex
	now      time.Time
	sequence uint64
	timers   timerHeap
	driven   bool
}

// timer is a function that waits for its time on a virtual clock.
type timer struct {
	at       time.Time
	sequence uint64
	index    int // in the heap; -1 once it has left it
	f        func()
}

// NewVirtualClock returns a clock that stands at start until a run drives it.
func NewVirtualClock(start time.Time) *Clock { return &Clock{virtual: true, now: start} }

// NewRealClock returns a clock that shows the time of the machine.
func NewRealClock() *Clock { return &Clock{} }

// Virtual tells whether the clock is virtual.
func (c *Clock) Virtual() bool { return c.virtual }

// Now returns the current time of the clock.
func (c *Clock) Now() time.Time {
	if !c.virtual {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f once d has passed on this clock; a negative d counts as
// 0. On a virtual clock f runs on the goroutine that drives the run, in the
// order of time and, at the same time, of registration. On a real clock f runs
// on a goroutine of its own, as with time.AfterFunc. stop prevents the call,
// and tells whether it did.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if !c.virtual {
		return time.AfterFunc(d, f).Stop
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(max(d, 0)), sequence: c.sequence, f: f}
	c.sequence++
	heap.Push(&c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if t.index < 0 {
			return false
		}
		heap.Remove(&c.timers, t.index)
		return true
	}
}

// next moves a virtual clock to its earliest timer and returns the timer's
// function, or nil if there is none.
func (c *Clock) next() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return nil
	}
	t := heap.Pop(&c.timers).(*timer)
	c.now = t.at
	return t.f
}

// drive claims a virtual clock for a run.
func (c *Clock) drive() (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.driven {
		return nil, false
	}
	c.driven = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.driven = false
	}, true
}

// timerHeap orders timers by time, then by registration.
type timerHeap []*timer

func (h *timerHeap) Len() int { return len(*h) }

func (h *timerHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if c := a.at.Compare(b.at); c != 0 {
		return c < 0
	}
	return a.sequence < b.sequence
}

func (h *timerHeap) Swap(i, j int) {
	timers := *h
	timers[i], timers[j] = timers[j], timers[i]
	timers[i].index, timers[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
