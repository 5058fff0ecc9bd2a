package handler

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Collected says which messages SQS is to deliver again
// (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
type Collected struct {
	BatchItemFailures []BatchItemFailure `json:"batchItemFailures"`
}

// BatchItemFailure names a message by its ID.
type BatchItemFailure struct {
	ItemIdentifier string `json:"itemIdentifier"`
}

// Calls of one invocation that may be under way at once, to the store and to services.
const (
	storeCalls   = 16
	serviceCalls = 4
)

// Collect answers Tasks that wait for a callback. Its payload is a batch of messages of
// SQS, or one event of EventBridge. A message is that of a wait, or holds an event. For
// each wait Collect reads the start record. It describes the jobs that are due, together
// where it can, judges them as CheckStatus does, answers the Tasks of those that have
// ended, and sends a message for each of the others. The messages that it returns are to
// be delivered again.
func (p *Handler) Collect(ctx context.Context, payload json.RawMessage) (*Collected, error) {
	work, _, cancel := limitWork(ctx, defaultInvocation)
	defer cancel()
	c := &collection{Handler: p, counts: map[outcome]int{}, collected: &Collected{BatchItemFailures: []BatchItemFailure{}}}
	err := c.collect(work, payload)
	c.log(ctx, err)
	if err != nil {
		return nil, border(err)
	}
	return c.collected, nil
}

// collection is one invocation of Collect.
type collection struct {
	*Handler

	mu        sync.Mutex
	counts    map[outcome]int
	unknown   int // events of jobs that no record waits for
	collected *Collected
	problem   error // of an event that came by itself
}

func (c *collection) collect(ctx context.Context, payload json.RawMessage) error {
	if c.Queue == nil || c.Tasks == nil {
		return fail(ErrorConfiguration, "this function has no queue: set %s", word(EnvQueueURL))
	}
	deliveries, err := readDeliveries(payload)
	if err != nil {
		return err
	}
	opened, unopened := make([][]*visit, len(deliveries)), make([][]step, len(deliveries))
	leave := func(i int, err error) {
		unopened[i] = []step{{visit: &visit{Handler: c.Handler, body: deliveries[i].body, id: deliveries[i].id}, err: err}}
	}
	each(len(deliveries), storeCalls, func(i int) {
		var err error
		if opened[i], err = c.open(ctx, deliveries[i]); err != nil {
			leave(i, err)
		}
	}, leave)
	c.run(ctx, slices.Concat(opened...), slices.Concat(unopened...))
	return c.problem
}

// open returns the visits of a message or an event: none for an event that nobody waits
// for.
func (c *collection) open(ctx context.Context, d delivery) (visits []*visit, err error) {
	wake, event, err := d.read()
	if err != nil {
		return nil, err
	}
	if wake != nil {
		return []*visit{{Handler: c.Handler, body: d.body, id: d.id, key: wake.key(), wake: wake}}, nil
	}
	if c.index == nil {
		return nil, fail(ErrorConfiguration, "the store of this function does not find a record by its job: keep the start records in DynamoDB (%s)", word(EnvTable))
	}
	for job, announcer := range c.announcers() {
		id, ok := announcer.ReadEvent(event)
		if !ok {
			continue
		}
		switch key, err := c.index.Find(ctx, indexID(job, id)); {
		case errors.Is(err, startrecord.ErrNotFound):
		case err != nil:
			return nil, storeError(err)
		default:
			visits = append(visits, &visit{Handler: c.Handler, body: d.body, id: d.id, key: key})
		}
	}
	if visits == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unknown++
	}
	return visits, nil
}

// run does the visits: it reads their records, describes the jobs that are due, and sends
// the messages of the waits that go on, and of those that could not be opened.
func (c *collection) run(ctx context.Context, visits []*visit, unopened []step) {
	steps := make([]step, len(visits))
	each(len(visits), storeCalls, func(i int) {
		n, err := visits[i].load(ctx)
		steps[i] = step{visits[i], n, err}
	}, func(i int, err error) { steps[i] = step{visit: visits[i], err: err} })
	var due []*visit
	for _, s := range steps {
		if s.err == nil && s.next.outcome == pending {
			due = append(due, s.visit)
		}
	}
	groups := groupVisits(c.choose(due))
	polled := make([][]step, len(groups))
	polls, cancel := callLimit(ctx) // services that do not answer leave time to send the messages
	defer cancel()
	each(len(groups), serviceCalls, func(i int) { polled[i] = groups[i].poll(polls) },
		func(i int, err error) { polled[i] = groups[i].fail(err) })
	c.leave(ctx, slices.Concat(unopened, steps, slices.Concat(polled...)))
}

// step is a visit and what became of it.
type step struct {
	visit *visit
	next  next
	err   error
}

// choose returns one visit of each wait: that of the newest message, and not that of an
// event, for the wait needs another message only if it has lost one. The others are
// outdated.
func (c *collection) choose(due []*visit) []*visit {
	chosen, told := map[startrecord.Key]*visit{}, map[startrecord.Key]bool{}
	number := func(v *visit) int {
		if v.wake == nil {
			return 0
		}
		return v.wake.Number
	}
	for _, v := range due {
		if other := chosen[v.key]; other == nil || number(v) > number(other) {
			chosen[v.key] = v
		}
		told[v.key] = told[v.key] || v.wake == nil
	}
	c.counts[outdated] += len(due) - len(chosen)
	for key, v := range chosen {
		v.told = told[key]
	}
	return slices.DeleteFunc(due, func(v *visit) bool { return chosen[v.key] != v })
}

// leave sends the messages of the waits that go on, and counts what became of the others.
func (c *collection) leave(ctx context.Context, steps []step) {
	var goOn []step
	var messages []Message
	again := map[string]bool{} // by the body: an event may be that of several waits
	for _, s := range steps {
		switch {
		case s.err != nil && again[s.visit.body]:
			c.counts[outdated]++
		case s.err != nil && goerror.Classify(s.err) == awserror.Throttled:
			// Deliveries count, and bring a message to the dead-letter queue.
			again[s.visit.body] = true
			s.next = next{outcome: postponed, message: Message{s.visit.body, c.backOff()}}
			goOn, messages = append(goOn, s), append(messages, s.next.message)
		case s.err != nil:
			c.keep(ctx, s.visit, s.err)
		case s.next.outcome == postponed, s.next.outcome == requeued:
			goOn, messages = append(goOn, s), append(messages, s.next.message)
		default:
			c.counts[s.next.outcome]++
		}
	}
	if len(messages) == 0 {
		return
	}
	errs := c.Queue.Send(ctx, messages)
	each(len(goOn), storeCalls, func(i int) {
		s := goOn[i]
		if errs != nil && errs[i] != nil {
			c.keep(ctx, s.visit, queueError(errs[i]))
			return
		}
		if s.next.callback != nil {
			s.visit.write(ctx, *s.next.callback)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts[s.next.outcome]++
	}, func(i int, err error) { goOn[i].visit.logPanic(ctx, err) }) // of a message that is sent
}

// keep lets the message of a visit be delivered again.
func (c *collection) keep(ctx context.Context, v *visit, err error) {
	c.Log.WarnContext(ctx, "the message is to be delivered again", v.names(errorAttrs(err)...)...)
	c.Log.DebugContext(ctx, "the message is to be delivered again", v.names("error", nameOf(err), "detail", err.Error())...)
	v.logPanic(ctx, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[failed]++
	if v.id == "" {
		c.problem = err
		return
	}
	c.collected.BatchItemFailures = append(c.collected.BatchItemFailures, BatchItemFailure{v.id})
}

// log writes one record for an invocation.
func (c *collection) log(ctx context.Context, err error) {
	attrs := []any{
		"answered", c.counts[answered], "gone", c.counts[gone], "requeued", c.counts[requeued], "postponed", c.counts[postponed],
		"outdated", c.counts[outdated], "unknownEvents", c.unknown, "failed", c.counts[failed],
	}
	if err != nil {
		c.Log.WarnContext(ctx, "collector", append(attrs, errorAttrs(err)...)...)
		return
	}
	c.Log.InfoContext(ctx, "collector", attrs...)
}
