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
