package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// Ways of an event that is told when the job ends.
const (
	toldInTime = "an event in time"
	toldTwice  = "an event twice"
)

// collected is one run of a machine, and what becomes of its messages and events.
type collected struct {
	*machine
	*localloop.Collector

	service *signaledService
	driver  jobs.Driver
	draw    *rand.Rand
	job     *signaledJob
	others  []*signaledJob
	form    form
	quiet   bool // no event is delivered
	ways    []string

	handler *handler.Handler
	clock   *sim.Clock
	lost    int           // the number of the message that is lost; 0 for none
	doubled time.Duration // how much later each message comes once more; 0 for never
	deaths  []int         // by the numbers of the calls at which the collector dies
	calls   int
	dying   sync.Mutex
	inside  bool // of the collector
	dead    bool
	died    int
	answers int // that Tasks got
}

var errDied = errors.New("the function died")

type deathOf struct{}

// Send loses and doubles messages.
func (c *collected) Send(ctx context.Context, messages []handler.Message) (errs []error) {
	_ = c.around(ctx, nil, func() error {
		for _, m := range messages {
			if c.lost--; c.lost != 0 {
				c.Collector.Send(ctx, []handler.Message{m})
			}
			if c.doubled > 0 {
				m.Delay = min(m.Delay+c.doubled, handler.MaxMessageDelay)
				c.Collector.Send(ctx, []handler.Message{m})
			}
		}
		return nil
	})
	return nil
}

func (c *collected) Succeed(ctx context.Context, token string, output json.RawMessage) error {
	return c.around(ctx, nil, func() error { return c.count(c.Collector.Succeed(ctx, token, output)) })
}

func (c *collected) Fail(ctx context.Context, token, name, cause string) error {
	return c.around(ctx, nil, func() error { return c.count(c.Collector.Fail(ctx, token, name, cause)) })
}

// prepare makes a sequence one of time, and draws what becomes of the signals.
func (c *collected) prepare(s *responses.Sequencer, q *responses.Sequence) error {
	var err error
	if c.job, err = newSignaledJob(c.entry, 0, &player{Sequence: q}); err != nil {
		return err
	}
	if err := c.job.ask(nil); err != nil {
		return err
	}
	if err := c.job.fit(s, q); err != nil {
		return err
	}
	total := c.options.MaxWait
	q.Timed, q.Endless, q.Latency = true, false, 0
	q.End = time.Duration(c.draw.Int64N(int64(total - time.Minute))).Round(time.Second)
	switch {
	case q.Want.State == pollcore.Retry || c.draw.IntN(8) == 0 && len(q.Answers) > 1:
		q.End = 100 * time.Hour
		c.note("never ends")
	case len(q.Answers) == 1:
		q.End = 0
	}
	forms := c.strategy.forms()
	c.form = forms[c.draw.IntN(len(forms))]
	if c.draw.IntN(4) == 0 {
		c.lost = 1 + c.draw.IntN(3)
		c.note("a message is lost")
	}
	if c.draw.IntN(4) == 0 {
		c.doubled = time.Duration(1+c.draw.IntN(90)) * time.Second
		c.note("messages come twice")
	}
	if c.draw.IntN(3) == 0 {
		c.deaths = append(c.deaths, 1+c.draw.IntN(12))
		c.note("the collector dies")
	}
	if c.entry.Job.Batch == nil {
		return nil
	}
	for n := range c.draw.IntN(4) { // whose answers are those of the job, with other ids
		other, err := newSignaledJob(c.entry, n+1, &player{Sequence: &responses.Sequence{}})
		if err != nil {
			return err
		}
		if err := other.ask(nil); err != nil {
			return err
		}
		*other.Sequence = *q
		other.Answers = nil
		for _, a := range q.Answers {
			a.Output = copied(a.Output)
			if err := other.complete(a.Output); err != nil {
				return err
			}
			other.Answers = append(other.Answers, a)
		}
		c.others = append(c.others, other)
	}
	if len(c.others) > 0 {
		c.note("others are described with it")
	}
	if c.job.hidden = c.draw.IntN(4) == 0; c.job.hidden && len(c.others) > 0 {
		c.note("its id is missing")
	}
	return nil
}

func (c *collected) note(way string) { c.ways = append(c.ways, way) }

// around lets the collector die before or after a call.
func (c *collected) around(_ context.Context, _ *localloop.Call, do func() error) error {
	if c.dies() {
		panic(deathOf{})
	}
	err := do()
	if c.dies() {
		panic(deathOf{})
	}
	return err
}

func (c *collected) dies() bool {
	c.dying.Lock()
	defer c.dying.Unlock()
	if !c.inside {
		return false
	}
	if c.calls++; !c.dead && slices.Contains(c.deaths, c.calls) {
		c.dead = true
		c.died++
	}
	return c.dead
}

// collect invokes the collector, which may die.
func (c *collected) collect(ctx context.Context, payload json.RawMessage) (collected *handler.Collected, err error) {
	c.inside, c.dead = true, false
	defer func() {
		c.inside = false
		if p := recover(); p != nil {
			if _, died := p.(deathOf); !died {
				panic(p)
			}
			collected, err = nil, errDied
		}
	}()
	return c.handler.Collect(ctx, payload)
}

func (c *collected) count(err error) error {
	if err == nil {
		c.answers++
	}
	return err
}

// begun sends the events of the job, as they are drawn.
func (c *collected) begun(j *signaledJob) {
	event := c.entry.Job.Event
	if event == nil || j != c.job || c.quiet {
		return
	}
	say := func(way string, at time.Duration, body map[string]any) {
		c.note(way)
		c.send(at, body)
	}
	hi, ends := pollcore.NewSchedule(c.entry.Waiter, c.options.MaxWait).Max, j.End
	if c.options.MaxDelay > 0 {
		hi = c.options.MaxDelay
	}
	late := min(ends, c.options.MaxWait) + 2*hi
	for _, body := range eventsOf(event, j.asked, true) {
		switch c.draw.IntN(6) {
		case 0:
			c.note("the event is lost")
		case 1:
			say(toldInTime, ends, body)
		case 2:
			say(toldTwice, ends, body)
			c.send(ends+time.Duration(c.draw.IntN(60))*time.Second, body)
		case 3:
			say("an event before the answers have the end", max(0, ends-time.Duration(1+c.draw.IntN(60))*time.Second), body)
		case 4:
			say("an event before the record", -1, body)
		default:
			say("a late event", late, body)
		}
	}
	if c.draw.IntN(3) == 0 {
		other := maps.Clone(j.asked)
		for name, value := range other {
			other[name] = marked(value, nil, "x")
		}
		for _, body := range eventsOf(event, other, true) {
			say("an event of another job", time.Duration(c.draw.Int64N(int64(late))), body)
		}
	}
	if c.draw.IntN(3) == 0 {
		for _, body := range eventsOf(event, j.asked, false) {
			say("an event while the job runs", time.Duration(c.draw.Int64N(int64(late))), body)
		}
	}
}

// send delivers an event: by the queue, or by itself. A negative time is now.
func (c *collected) send(at time.Duration, body map[string]any) {
	if at < 0 {
		c.deliver(body, 0)
		return
	}
	if c.draw.IntN(2) == 0 {
		if err := c.Announce(body, at); err != nil {
			panic(err) // it is JSON
		}
		return
	}
	c.clock.AfterFunc(at, func() { c.deliver(body, 2) })
}

// deliver invokes the collector with an event, and again a minute later where it dies.
func (c *collected) deliver(body map[string]any, again int) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it is JSON
	}
	if _, err := c.collect(context.Background(), text); err != nil && again > 0 {
		c.clock.AfterFunc(time.Minute, func() { c.deliver(body, again-1) })
	}
}

// run executes the machine.
func (c *collected) run(t *testing.T) *run {
	t.Helper()
	c.clock = sim.NewVirtualClock(sim.DefaultStart())
	c.Collector = localloop.NewCollector(c.clock, 10)
	service := c.service
	service.now, service.jobs, service.batches, service.begun = c.clock.Now, map[string]*signaledJob{}, nil, c.begun
	registry, err := jobs.NewRegistry(localloop.AroundDriver(c.driver, c.around))
	require.NoError(t, err)
	jitter := rand.New(rand.NewPCG(c.draw.Uint64(), 0))
	var drawing sync.Mutex
	c.handler, err = handler.New(handler.Config{
		Store: localloop.AroundStore(memstore.New(c.clock.Now), c.around), Jobs: registry, Now: c.clock.Now, NoDwell: true, Queue: c, Tasks: c,
		Random: func(n int64) int64 {
			drawing.Lock()
			defer drawing.Unlock()
			return jitter.Int64N(n)
		},
	})
	require.NoError(t, err)
	c.Start(c.collect)
	invoke := sim.LambdaInvoke(localloop.Functions(c.handler))
	r := &run{player: c.job.player, form: c.form}
	r.compiled, err = c.compile(c.form)
	require.NoError(t, err)
	definition := r.compiled.Machine
	if c.form != whole {
		definition = host(t, r.compiled, c.form)
	}
	arguments := c.job.arguments(c.draw)
	for i, other := range c.others {
		service.begins = other
		c.start(t, i, other.arguments(c.draw))
	}
	service.begins = c.job
	input, err := json.Marshal(arguments)
	require.NoError(t, err)
	r.result, err = sim.Run(t.Context(), definition, input, sim.Options{Clock: c.clock, Handlers: map[string]sim.Handler{
		"arn:aws:states:::lambda:invoke": invoke, "arn:aws:states:::lambda:invoke.waitForTaskToken": c.Handler(invoke),
	}})
	require.NoError(t, err)
	r.attempts, r.elapsed = c.job.polls, r.result.Duration()
	c.read(t, r, c.form != whole)
	return r
}

// start starts the job of another execution, for whose answer nobody waits here.
func (c *collected) start(t *testing.T, i int, arguments any) {
	t.Helper()
	at := sim.DefaultStart().Format(time.RFC3339)
	payload, err := json.Marshal(map[string]any{
		"Context": map[string]any{
			"Execution": map[string]any{"Id": fmt.Sprintf("arn:aws:states:us-east-1:123456789012:execution:Other:%d", i), "StartTime": at},
			"State":     map[string]any{"Name": "RunJob", "EnteredTime": at, "RetryCount": 0}, "Task": map[string]any{"Token": fmt.Sprint("other-", i)},
		},
		"Input": map[string]any{
			"job": c.call.Job, "arguments": arguments, "maxWaitSeconds": int(c.options.MaxWait.Seconds()), "waiter": c.driver.Waiter(),
		},
	})
	require.NoError(t, err)
	_, err = localloop.Functions(c.handler)[statemachines.RunJobFunction](t.Context(), payload)
	require.NoError(t, err)
}
