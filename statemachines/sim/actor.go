package sim

import (
	"sync"
)

// actor is an execution tree to its clock: one goroutine at a time works on it, and
// what is due for it runs in the order of time and, at the same time, of
// registration. All but mu belongs to the clock.
type actor struct {
	mu  sync.Mutex // held while a goroutine works on it
	run *run

	due    []*timer // what is due for it, in order
	queued bool     // it is in the clock's queue: an actor of a World, which is there once
	missed int      // entries in the clock's queue that found it at work
	busy   bool
	pinned bool // only the goroutine of its Run works on it
	away   bool // that goroutine is in a function of the caller, where it does not hold the clock
	gone   bool // nothing is left to do for it, ever
}

// dueQueue is what is due, first in, first out.
type dueQueue struct {
	entries []dueEntry
	first   int
}

// dueEntry is an actor of a World that has something due, or one timer.
type dueEntry struct {
	actor *actor // nil: of a function of the caller
	timer *timer // nil: whatever is due for the actor
}

func (q *dueQueue) len() int { return len(q.entries) - q.first }

func (q *dueQueue) push(e dueEntry) { q.entries = append(q.entries, e) }

func (q *dueQueue) pop() dueEntry {
	e := q.entries[q.first]
	q.entries[q.first] = dueEntry{}
	if q.first++; q.first == len(q.entries) || q.first > 1024 && q.first > len(q.entries)/2 {
		rest := copy(q.entries, q.entries[q.first:])
		clear(q.entries[rest:])
		q.entries, q.first = q.entries[:rest], 0
	}
	return e
}
