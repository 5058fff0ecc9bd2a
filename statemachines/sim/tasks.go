package sim

import (
	"container/list"
	"sync"
)

// tasks are those of a World that wait for tokens.
type tasks struct {
	mu      sync.Mutex
	waiting map[string]*attempt // by token
	queues  map[string]*queue   // by ARN of the activity
	ended   map[string]struct{} // the tokens of Tasks that have ended lately
	order   []string            // of them, a ring
	next    int                 // place in the ring
}

// mostEnded is how many tokens of Tasks that have ended a World knows.
const mostEnded = 100_000

func newTasks() tasks {
	return tasks{waiting: map[string]*attempt{}, queues: map[string]*queue{}, ended: map[string]struct{}{}}
}

func (w *World) keepToken(a *attempt) {
	w.tasks.mu.Lock()
	defer w.tasks.mu.Unlock()
	w.tasks.waiting[a.call.TaskToken] = a
}

func (w *World) forgetToken(a *attempt) {
	if a.waits {
		a.waits = false
		a.strand.x.run.clock.waitForToken(-1) // where it was counted: a run that is replayed has a clock of its own
	}
	t := &w.tasks
	t.mu.Lock()
	defer t.mu.Unlock()
	token := a.call.TaskToken
	if t.waiting[token] != a {
		return
	}
	if a.place != nil {
		t.queueOf(a.call.Resource).attempts.Remove(a.place)
		a.place = nil
		t.tidy(a.call.Resource)
	}
	delete(t.waiting, token)
	t.ended[token] = struct{}{}
	if len(t.order) < mostEnded {
		t.order = append(t.order, token)
		return
	}
	delete(t.ended, t.order[t.next])
	t.order[t.next] = token
	t.next = (t.next + 1) % mostEnded
}

// queue is what an activity has to do, and the workers that wait for it.
type queue struct {
	attempts list.List // of *attempt
	pollers  list.List // of chan *attempt: each has room for one
}

// queue leaves an attempt to the workers of its activity.
func (w *World) queue(a *attempt) {
	if a.strand.x.run.replay != nil {
		return // until Resume
	}
	w.tasks.mu.Lock()
	defer w.tasks.mu.Unlock()
	w.tasks.offer(a, false)
}

// offer gives an attempt to the worker that waits longest, or leaves it in the queue.
func (t *tasks) offer(a *attempt, first bool) {
	q := t.queueOf(a.call.Resource)
	switch poller := q.pollers.Front(); {
	case poller != nil:
		poller.Value.(chan *attempt) <- a //nolint:forcetypeassert // the list has no others
		q.pollers.Remove(poller)
	case first:
		a.place = q.attempts.PushFront(a)
	default:
		a.place = q.attempts.PushBack(a)
	}
}

func (t *tasks) queueOf(activity string) *queue {
	q := t.queues[activity]
	if q == nil {
		q = &queue{}
		t.queues[activity] = q
	}
	return q
}

// tidy forgets a queue that is empty.
func (t *tasks) tidy(activity string) {
	if q := t.queues[activity]; q != nil && q.attempts.Len()+q.pollers.Len() == 0 {
		delete(t.queues, activity)
	}
}
