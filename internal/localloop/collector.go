package localloop

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Collect is the function collector, such as the Collect of a handler.
type Collect func(ctx context.Context, payload json.RawMessage) (*handler.Collected, error)

// Collector is what the function collector works with, on the clock of a run: a queue
// that delivers its messages and events, and the answers to Tasks that wait with a
// token. It is the Queue and the Tasks of a handler.
type Collector struct {
	clock     *sim.Clock
	batchSize int
	cancel    context.CancelFunc
	work      context.Context //nolint:containedctx // of the invocations, which timers begin
	under     sync.WaitGroup  // invocations on a real clock

	mu       sync.Mutex
	collect  Collect
	tasks    map[string]func(sim.Reply, error) bool // what answers a Task, by its token
	messages []*queued
	sent     int
	closed   bool
}

// queued is a message in the queue.
type queued struct {
	id, body string
	at       time.Time // when it is visible
}

// Visibility is how long a message is hidden that was delivered and not taken.
const Visibility = 3 * time.Minute

var (
	_ handler.Queue = (*Collector)(nil)
	_ handler.Tasks = (*Collector)(nil)
)

// NewCollector returns a Collector without a function. An invocation has so many messages
// at most. With one, runs on a virtual clock are the same each time: the function works on
// the messages of a batch in any order.
func NewCollector(clock *sim.Clock, batchSize int) *Collector {
	c := &Collector{clock: clock, batchSize: batchSize, tasks: map[string]func(sim.Reply, error) bool{}}
	c.work, c.cancel = context.WithCancel(context.Background())
	return c
}

// Start lets messages go to a function. They are sent only after it.
func (c *Collector) Start(collect Collect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.collect = collect
}

// Close ends the function, and waits for it.
func (c *Collector) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.under.Wait()
	return nil
}

// Send implements handler.Queue.
func (c *Collector) Send(_ context.Context, messages []handler.Message) []error {
	for _, m := range messages {
		c.put(m.Body, m.Delay)
	}
	return nil
}

// Announce lets an event of EventBridge come to the queue after a while.
func (c *Collector) Announce(event map[string]any, after time.Duration) error {
	text, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	c.put(string(text), after)
	return nil
}

// Handler lets Tasks wait for the answer that the Collector gives to their token, once
// what they invoke has returned.
func (c *Collector) Handler(invoke sim.Handler) sim.Handler {
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		c.register(call.TaskToken, call.Answer)
		reply, err := invoke(ctx, call)
		if err != nil {
			c.register(call.TaskToken, nil)
			return reply, err
		}
		return sim.Reply{Submitted: reply.Output, Never: true}, nil
	}
}

// Succeed implements handler.Tasks.
func (c *Collector) Succeed(_ context.Context, token string, output json.RawMessage) error {
	return c.answer(token, sim.Reply{Output: output}, nil)
}

// Fail implements handler.Tasks.
func (c *Collector) Fail(_ context.Context, token, name, cause string) error {
	return c.answer(token, sim.Reply{}, &sim.TaskError{Name: name, Cause: cause})
}

func (c *Collector) put(body string, delay time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	c.messages = append(c.messages, &queued{fmt.Sprintf("message-%d", c.sent), body, c.clock.Now().Add(delay)})
	c.clock.AfterFunc(delay, c.deliver)
}

// deliver invokes the function with the messages that are visible. Those that it does
// not take are visible again later.
func (c *Collector) deliver() {
	batch, collect := c.receive()
	if len(batch) == 0 {
		return
	}
	defer c.under.Done()
	type record struct {
		MessageID   string `json:"messageId"`
		Body        string `json:"body"`
		EventSource string `json:"eventSource"`
	}
	var payload struct {
		Records []record `json:"Records"`
	}
	for _, m := range batch {
		payload.Records = append(payload.Records, record{m.id, m.body, "aws:sqs"})
	}
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err) // it is text
	}
	ctx, cancel := context.WithTimeout(c.work, Timeout)
	defer cancel()
	collected, err := collect(ctx, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range batch {
		if err == nil && !slices.Contains(collected.BatchItemFailures, handler.BatchItemFailure{ItemIdentifier: m.id}) {
			continue
		}
		m.at = c.clock.Now().Add(Visibility)
		c.messages = append(c.messages, m)
		c.clock.AfterFunc(Visibility, c.deliver)
	}
}

// receive takes messages that are visible. Each has a timer of its own, so that none stays.
func (c *Collector) receive() (batch []*queued, collect Collect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil
	}
	now := c.clock.Now()
	c.messages = slices.DeleteFunc(c.messages, func(m *queued) bool {
		taken := !m.at.After(now) && len(batch) < c.batchSize
		if taken {
			batch = append(batch, m)
		}
		return taken
	})
	if len(batch) > 0 {
		c.under.Add(1)
	}
	return batch, c.collect
}

func (c *Collector) register(token string, answer func(sim.Reply, error) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer == nil {
		delete(c.tasks, token)
	} else {
		c.tasks[token] = answer
	}
}

var errGone = &smithy.GenericAPIError{Code: "TaskTimedOut", Message: "Task Timed Out: 'Provided task does not exist anymore'", Fault: smithy.FaultClient}

func (c *Collector) answer(token string, reply sim.Reply, failure error) error {
	c.mu.Lock()
	defer c.mu.Unlock() // on a virtual clock the run takes one answer at a time
	answer := c.tasks[token]
	delete(c.tasks, token)
	if answer == nil || !answer(reply, failure) {
		return errGone
	}
	return nil
}
