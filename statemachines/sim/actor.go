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

	worker int // the last that worked on it
	due    dueTimers
	queued bool // it is in the clock's queue: an actor of a World, which is there once
	missed int  // entries in the clock's queue that found it at work
	busy   bool
	pinned bool // only the goroutine of its Run works on it
	away   bool // that goroutine is in a function of the caller, where it does not hold the clock
	gone   bool // nothing is left to do for it, ever
}

// nobody is the number of a goroutine that works on a clock and is no worker of a World.
const nobody = -1

// dueQueues is what is due. A worker goes on with the actors that it had before, which
// are in the cache of its processor, and takes those of others when it has none.
type dueQueues struct {
	common dueQueue // timers
	own    []*workerQueue
	count  int
	taken  int
}

// workerQueue is what is due for the actors of a worker.
type workerQueue struct {
	dueQueue
	bunch bunch
}

// othersFirst is how often a worker looks at the actors of others before its own, as
// they may be long at work.
const othersFirst = 16

func (q *dueQueues) len() int { return q.count }

// employ makes a queue for one more worker.
func (q *dueQueues) employ() (worker int) {
	q.own = append(q.own, &workerQueue{})
	return len(q.own) - 1
}

func (q *dueQueues) push(worker int, e dueEntry) {
	q.count++
	if e.timer != nil || len(q.own) == 0 {
		q.common.push(e)
		return
	}
	q.own[max(worker, 0)%len(q.own)].push(e)
}

// pop takes an entry for a worker, if there is one.
func (q *dueQueues) pop(worker int) dueEntry {
	q.count--
	if q.common.len() > 0 {
		return q.common.pop()
	}
	worker = max(worker, 0)
	if q.taken++; q.taken%othersFirst == 0 {
		worker++
	}
	for q.own[worker%len(q.own)].len() == 0 {
		worker++
	}
	return q.own[worker%len(q.own)].pop()
}

// nextOf takes one more actor of a worker that has something due; nil: there is none.
func (c *Clock) nextOf(own *workerQueue) *actor {
	for own.len() > 0 {
		c.due.count--
		a := own.pop().actor
		if a.queued = false; len(a.due) > 0 && !a.busy {
			return a
		}
	}
	return nil
}

// dueQueue is a queue, first in, first out.
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
