package scale_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// clock is virtual time in whole seconds.
type clock struct{ second atomic.Int64 }

var epoch = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

func (c *clock) Now() time.Time { return epoch.Add(time.Duration(c.second.Load()) * time.Second) }

// The event source mapping of the collector, as package cdkapp makes it, apart from the
// window: messages are gathered for a second. Polls of 100,000 jobs a minute need more
// concurrency than its default.
const (
	batchSize      = 100 // messages of an invocation
	maxConcurrency = 50  // invocations at once, each of which takes a second
	visibility     = 185 // seconds until a message comes again that is not deleted
	maxReceives    = 10  // more of them bring it into the dead-letter queue
)

// queue is a standard queue of SQS in virtual time.
type queue struct {
	clock *clock

	mu       sync.Mutex
	sent     int
	requests int
	count    int // messages that it holds
	later    map[int64][]*message
	ready    []*message // that are visible
	dead     []*message
}

type message struct {
	id, body string
	receives int
}

var _ handler.Queue = (*queue)(nil)

func newQueue(c *clock) *queue { return &queue{clock: c, later: map[int64][]*message{}} }

// Send implements handler.Queue.
func (q *queue) Send(_ context.Context, messages []handler.Message) []error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests += requestsFor(len(messages))
	var errs []error
	for i, m := range messages {
		if m.Delay < 0 || m.Delay > handler.MaxMessageDelay || m.Delay%time.Second != 0 {
			if errs == nil {
				errs = make([]error, len(messages))
			}
			errs[i] = &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: m.Delay.String(), Fault: smithy.FaultClient}
			continue
		}
		q.sent++
		q.put(&message{id: strconv.Itoa(q.sent), body: m.Body}, int64(m.Delay/time.Second))
	}
	return errs
}

// requestsFor is how many requests so many messages take.
func requestsFor(messages int) int { return (messages + 9) / 10 }

// put lets a message be visible after a delay.
func (q *queue) put(m *message, delay int64) {
	q.count++
	if delay == 0 {
		q.ready = append(q.ready, m)
		return
	}
	at := q.clock.second.Load() + delay
	q.later[at] = append(q.later[at], m)
}

// turn takes what has become visible in this second. A standard queue keeps no order.
func (q *queue) turn(random *rand.Rand) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.second.Load()
	q.ready = append(q.ready, q.later[now]...)
	delete(q.later, now)
	random.Shuffle(len(q.ready), func(i, j int) { q.ready[i], q.ready[j] = q.ready[j], q.ready[i] })
}

// receive takes the messages of one invocation.
func (q *queue) receive() []*message {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(batchSize, len(q.ready))
	taken := q.ready[:n:n]
	q.ready = q.ready[n:]
	q.count -= n
	q.requests += 2 * requestsFor(n) // the other deletes them
	for _, m := range taken {
		m.receives++
	}
	return taken
}

// keep lets a message come again that was not deleted.
func (q *queue) keep(m *message, delay int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if m.receives >= maxReceives {
		q.dead = append(q.dead, m)
		return
	}
	q.put(m, delay)
}
