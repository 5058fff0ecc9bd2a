package sim

import (
	"container/heap"
	"time"
)

// timer is a function that waits for its time.
type timer struct {
	at       time.Time
	sequence uint64
	f        func() // nil once it is stopped or done
	actor    *actor // nil: a function of the caller
	index    int32  // in the heap; -1 if it is not there
	slot     int    // among the timers of its run
	counted  bool   // it is one of those
	local    bool   // its run has it, and the clock has not
}

// timerHeap orders timers by time, then by registration. Each has up to four below it,
// and the keys lie in the heap: what it compares is in few cache lines.
type timerHeap []heapEntry

type heapEntry struct {
	at       time.Time
	sequence uint64
	timer    *timer
}

const heapWidth = 4

func (e *heapEntry) before(other *heapEntry) bool {
	if c := e.at.Compare(other.at); c != 0 {
		return c < 0
	}
	return e.sequence < other.sequence
}

func (h *timerHeap) push(t *timer) {
	*h = append(*h, heapEntry{})
	h.up(len(*h)-1, heapEntry{t.at, t.sequence, t})
}

// remove takes out the timer at the index.
func (h *timerHeap) remove(i int) *timer {
	entries := *h
	t, last := entries[i].timer, entries[len(entries)-1]
	entries[len(entries)-1] = heapEntry{}
	*h = entries[:len(entries)-1]
	if last.timer != t {
		h.down(i, last)
	}
	t.index = -1
	return t
}

// up puts an entry at a free place, or above it.
func (h *timerHeap) up(i int, e heapEntry) {
	for i > 0 {
		parent := (i - 1) / heapWidth
		if !e.before(&(*h)[parent]) {
			break
		}
		h.put(i, (*h)[parent])
		i = parent
	}
	h.put(i, e)
}

// down puts an entry at a free place, or below or above it.
func (h *timerHeap) down(i int, e heapEntry) {
	entries := *h
	for {
		first := i*heapWidth + 1
		if first >= len(entries) {
			break
		}
		for next := first + 1; next < min(i*heapWidth+1+heapWidth, len(entries)); next++ {
			if entries[next].before(&entries[first]) {
				first = next
			}
		}
		if !entries[first].before(&e) {
			break
		}
		h.put(i, entries[first])
		i = first
	}
	h.up(i, e)
}

func (h *timerHeap) put(i int, e heapEntry) {
	(*h)[i] = e
	e.timer.index = int32(i) //nolint:gosec // there is no room for more
}

// dueTimers are those that have had their time, the first of which is next. It implements
// heap.Interface: a Map lets thousands be due at once.
type dueTimers []*timer //nolint:recvcheck // as package heap has it

func (h dueTimers) Len() int           { return len(h) }
func (h dueTimers) Less(i, j int) bool { return h[i].before(h[j]) }
func (h dueTimers) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueTimers) Push(x any) { *h = append(*h, x.(*timer)) } //nolint:forcetypeassert // no other is pushed

// Pop implements heap.Interface.
func (h *dueTimers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

func (h *dueTimers) add(t *timer) { heap.Push(h, t) }

// take takes out the first.
func (h *dueTimers) take() *timer { return heap.Pop(h).(*timer) } //nolint:forcetypeassert // there is no other

func (t *timer) before(other *timer) bool {
	if c := t.at.Compare(other.at); c != 0 {
		return c < 0
	}
	return t.sequence < other.sequence
}
