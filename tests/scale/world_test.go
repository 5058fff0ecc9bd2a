package scale_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// setting is what happens in a world.
type setting struct {
	// shares are how many of a hundred jobs are of a kind.
	shares map[string]int
	// starts is how many executions are started in a second, and lasts draws for how many
	// seconds a job runs.
	starts int
	lasts  func(random *rand.Rand, number int) int64
	// delay is that between two polls, and maxWait the max wait, in seconds.
	delay, maxWait int
	told           bool    // events tell of ends
	faults         float64 // the share of messages and events with a fault: lost, doubled, early or failed
	metered        bool    // the store counts
}

// world is jobs whose Tasks wait for callbacks, in virtual time.
type world struct {
	setting

	handler  *handler.Handler
	clock    *clock
	queue    *queue
	tasks    *tasks
	store    *meteredStore // nil unless it is metered
	services map[string]*service
	jobs     []*job
	events   map[int64][]string // that are yet to come, by the second
	random   *rand.Rand

	visits, invocations, doubled, lost int
}

func newWorld(t *testing.T, count int, s setting) *world {
	t.Helper()
	c := &clock{}
	w := &world{
		setting: s, clock: c, queue: newQueue(c), tasks: newTasks(c), services: map[string]*service{},
		jobs: make([]*job, count), events: map[int64][]string{}, random: rand.New(rand.NewPCG(19, 23)),
	}
	var drivers []jobs.Driver
	var kindOf []*service // of a hundred jobs
	for _, name := range sortedKeys(s.shares) {
		made, err := newService(name, c.second.Load, w.jobs)
		require.NoError(t, err)
		w.services[name] = made
		drivers = append(drivers, made)
		kindOf = append(kindOf, slices.Repeat([]*service{made}, s.shares[name])...)
	}
	require.Len(t, kindOf, 100)
	for i := range w.jobs {
		w.jobs[i] = w.draw(i, kindOf[i*37%100])
	}
	registry, err := jobs.NewRegistry(drivers...)
	require.NoError(t, err)
	records := startrecord.Indexed(memstore.New(c.Now))
	if s.metered {
		w.store = &meteredStore{Indexed: records}
		records = w.store
	}
	w.handler, err = handler.New(handler.Config{
		Store: records, Jobs: registry, Queue: w.queue, Tasks: w.tasks, Now: c.Now, NoDwell: true,
		Random: func(n int64) int64 { return n / 2 },
	})
	require.NoError(t, err)
	return w
}

// draw draws a job, and what AWS does of it.
func (w *world) draw(number int, of *service) *job {
	j := &job{number: number, of: of, token: "T" + strconv.Itoa(number), ends: pollcore.Succeeded, startsAt: int64(number / w.starts)}
	j.endsAt = j.startsAt + w.lasts(w.random, number)
	j.seenAt = j.endsAt
	switch {
	case j.endsAt > j.startsAt+int64(w.maxWait):
		j.ends = pollcore.TimedOut
		return j
	case w.happens():
		j.ends = pollcore.Failed
	}
	if w.happens() { // its service announces the end before its answers have it
		j.seenAt += 1 + w.random.Int64N(5)
	}
	if !w.told {
		return j
	}
	if w.happens() && !of.sure {
		w.lost++
		return j
	}
	w.announce(j, 0)
	if w.happens() {
		w.announce(j, 1+w.random.Int64N(60))
	}
	return j
}

func (w *world) happens() bool { return w.random.Float64() < w.faults }

func (w *world) announce(j *job, late int64) {
	w.events[j.endsAt+late] = append(w.events[j.endsAt+late], j.event())
}

// run lets time pass until all Tasks have their answers and no message is left.
func (w *world) run(t *testing.T) {
	t.Helper()
	last := w.jobs[len(w.jobs)-1].startsAt
	for open := true; open; {
		now := w.clock.second.Load()
		w.startDue(t)
		for _, body := range w.events[now] {
			w.queue.Send(t.Context(), []handler.Message{{Body: body}})
		}
		delete(w.events, now)
		w.queue.turn(w.random)
		w.collect(t)
		w.clock.second.Add(1)
		require.Less(t, now, last+int64(w.maxWait)+2*3600, "%d messages live for ever", w.queue.count)
		open = now <= last || w.queue.count > 0 || len(w.events) > 0
	}
}

// startDue starts the executions of this second.
func (w *world) startDue(t *testing.T) {
	t.Helper()
	first := min(len(w.jobs), int(w.clock.second.Load())*w.starts)
	due := w.jobs[first:min(len(w.jobs), first+w.starts)]
	errs := make([]error, len(due))
	together(len(due), func(i int) { errs[i] = w.start(t.Context(), due[i]) })
	require.NoError(t, errors.Join(errs...))
}

// start invokes RunJob for a Task that waits for a callback.
func (w *world) start(ctx context.Context, j *job) error {
	w.tasks.wait(j)
	now := w.clock.Now().Format(time.RFC3339)
	_, err := w.handler.RunJob(ctx, fmt.Appendf(nil, `{
		"Context": {
			"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:Nightly:run-%d", "StartTime": %q},
			"State": {"Name": "RunJob", "EnteredTime": %q, "RetryCount": 0},
			"Task": {"Token": %q}
		},
		"Input": {"job": %q, "arguments": %s, "maxWaitSeconds": %d, "minDelay": %d, "maxDelay": %d, "onTimeout": "leave"}
	}`, j.number, now, now, j.token, j.of.name, argumentsOf(j), w.maxWait, w.delay, w.delay))
	return err
}

// invocation is one of Collect, with the messages that it is to delete.
type invocation struct {
	messages  []*message
	payload   []byte
	collected *handler.Collected
	err       error
}

// collect invokes Collect with the messages of this second. Each is delivered at least
// once.
func (w *world) collect(t *testing.T) {
	t.Helper()
	var all []*invocation
	for len(all) < maxConcurrency {
		messages := w.queue.receive()
		if len(messages) == 0 {
			break
		}
		all = append(all, w.invocation(t, messages))
	}
	together(len(all), func(n int) {
		i := all[n]
		i.collected, i.err = w.handler.Collect(t.Context(), i.payload)
	})
	for _, i := range all {
		require.NoError(t, i.err)
		w.invocations++
		for _, m := range i.messages {
			switch {
			case slices.Contains(i.collected.BatchItemFailures, handler.BatchItemFailure{ItemIdentifier: m.id}):
				w.queue.keep(m, visibility)
			case w.happens(): // SQS has forgotten that it is deleted
				w.doubled++
				w.queue.keep(m, 1+w.random.Int64N(60))
			}
		}
	}
}

func (w *world) invocation(t *testing.T, messages []*message) *invocation {
	t.Helper()
	type record struct {
		MessageID   string `json:"messageId"`
		Body        string `json:"body"`
		EventSource string `json:"eventSource"`
	}
	var batch struct {
		Records []record `json:"Records"`
	}
	for _, m := range messages {
		batch.Records = append(batch.Records, record{m.id, m.body, "aws:sqs"})
		if w.happens() {
			w.doubled++
			batch.Records = append(batch.Records, batch.Records[len(batch.Records)-1])
		}
	}
	w.visits += len(batch.Records)
	payload, err := json.Marshal(batch)
	require.NoError(t, err)
	return &invocation{messages: messages, payload: payload}
}

// together calls do for 0 to n-1, as many at once as there are processors.
func together(n int, do func(i int)) {
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// late is how many seconds after its end, or its deadline, a job's Task got its answer.
func (w *world) late(j *job) int64 { return j.answeredAt - min(j.endsAt, j.startsAt+int64(w.maxWait)) }

// requireEnds requires that each Task got one answer, with the right status, in time, and
// that no message is in the dead-letter queue.
func (w *world) requireEnds(t *testing.T) {
	t.Helper()
	require.Empty(t, w.tasks.wrong)
	require.Empty(t, w.queue.dead)
	for _, j := range w.jobs {
		require.NotZero(t, j.answeredAt, "job %d has no answer", j.number)
		require.GreaterOrEqual(t, w.late(j), int64(0), "job %d", j.number)
	}
}
