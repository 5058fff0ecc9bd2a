package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// queue is a queue of SQS in virtual time.
type queue struct {
	clock *clock

	mu       sync.Mutex
	sent     int
	messages []*queued
	dead     []*queued // in the dead-letter queue
}

type queued struct {
	id       string
	body     string
	at       time.Time // when it is visible
	receives int
}

const (
	visibility  = 3 * time.Minute
	maxReceives = 20
)

var _ handler.Queue = (*queue)(nil)

func (q *queue) Send(ctx context.Context, messages []handler.Message) []error {
	errs := make([]error, len(messages))
	for i, m := range messages {
		_, errs[i] = operate(ctx, "Send", errLost, nil, func() (any, error) {
			if m.Delay < 0 || m.Delay > handler.MaxMessageDelay || m.Delay%time.Second != 0 {
				return nil, &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: m.Delay.String(), Fault: smithy.FaultClient}
			}
			q.mu.Lock()
			defer q.mu.Unlock()
			q.sent++
			q.messages = append(q.messages, &queued{id: fmt.Sprintf("m-%d", q.sent), body: m.Body, at: q.clock.Now().Add(m.Delay)})
			return nil, nil
		})
	}
	return errs
}

// first returns the message that is visible next.
func (q *queue) first() *queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.messages) == 0 {
		return nil
	}
	return slices.MinFunc(q.messages, func(a, b *queued) int { return a.at.Compare(b.at) })
}

// receive takes up to n messages that are visible now. They are visible again later,
// unless they are deleted.
func (q *queue) receive(n int) []*queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken []*queued
	now := q.clock.Now()
	for _, m := range q.messages {
		if !m.at.After(now) && len(taken) < n {
			m.at = now.Add(visibility)
			m.receives++
			taken = append(taken, m)
		}
	}
	for _, m := range taken {
		if m.receives > maxReceives {
			q.dead = append(q.dead, m)
		}
	}
	isDead := func(m *queued) bool { return m.receives > maxReceives }
	q.messages = slices.DeleteFunc(q.messages, isDead)
	return slices.DeleteFunc(taken, isDead)
}

func (q *queue) remove(m *queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = slices.DeleteFunc(q.messages, func(other *queued) bool { return other == m })
}

// tasks are the Tasks of executions, by their tokens.
type tasks struct {
	mu    sync.Mutex
	waits map[string]bool // false: nobody waits any more
	ends  []end
	gone  int // answers for which nobody waited
}

// end is an answer that a Task got.
type end struct {
	token, name, cause string
	output             string
}

var _ handler.Tasks = (*tasks)(nil)

func (s *tasks) Succeed(ctx context.Context, token string, output json.RawMessage) error {
	return s.end(ctx, end{token: token, output: string(output)})
}

func (s *tasks) Fail(ctx context.Context, token, name, cause string) error {
	return s.end(ctx, end{token: token, name: name, cause: cause})
}

func (s *tasks) end(ctx context.Context, e end) error {
	_, err := operate(ctx, "Answer", errLost, nil, func() (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.waits[e.token] {
			s.gone++
			return nil, &smithy.GenericAPIError{Code: "TaskTimedOut", Message: "Task Timed Out: 'Provided task does not exist anymore'", Fault: smithy.FaultClient}
		}
		s.waits[e.token] = false
		s.ends = append(s.ends, e)
		return nil, nil
	})
	return err
}

func (s *tasks) wait(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[token] = true
}

func (s *tasks) abandon(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[token] = false
}

// announcing is a driver whose service sends events, and describes many jobs at once.
type announcing struct{ of *service }

const testSource = "test.jobs"

func (announcing) JobIDs(ref jobs.Ref) ([]string, error) { return []string{ref["Id"]}, nil }

func (announcing) ReadEvent(event map[string]any) (id string, ok bool) {
	detail, _ := event["detail"].(map[string]any)
	id, ok = detail["id"].(string)
	return id, ok && event["source"] == testSource
}

func (announcing) Batch(jobs.Ref) (jobs.Batch, error) {
	return jobs.Batch{Group: "all", Size: 1, Max: 5}, nil
}

func (a announcing) DescribeBatch(ctx context.Context, refs []jobs.Ref) ([]any, error) {
	return operate(ctx, "DescribeBatch", errLost, nil, func() ([]any, error) {
		a.of.mu.Lock()
		defer a.of.mu.Unlock()
		a.of.batches = append(a.of.batches, len(refs))
		outputs := make([]any, len(refs))
		for i, ref := range refs {
			if output, err := a.of.timeline(ref["Id"]); err == nil {
				outputs[i] = output
			}
		}
		return outputs, nil
	})
}

// collectWorld is a world whose Tasks wait for callbacks.
type collectWorld struct {
	*world

	queue *queue
	tasks *tasks
	begun time.Time
}

func newCollectWorld(t require.TestingT, class string, change ...func(*handler.Config)) *collectWorld {
	c := &clock{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	records := memstore.New(c.Now)
	w := &collectWorld{queue: &queue{clock: c}, tasks: &tasks{waits: map[string]bool{}}, begun: c.now}
	w.world = newWorldOn(t, c, records, class, func(cfg *handler.Config) {
		first, ok := cfg.Store.(*store)
		require.True(t, ok)
		cfg.Store = &indexed{first, records}
		cfg.Queue, cfg.Tasks = w.queue, w.tasks
		driver, err := cfg.Jobs.Driver(jobName)
		require.NoError(t, err)
		cfg.Jobs, err = jobs.NewRegistry(withEvents(driver))
		require.NoError(t, err)
		for _, f := range change {
			f(cfg)
		}
	})
	w.service.stopped = map[string]bool{}
	w.service.timeline = func(string) (any, error) { return stateRunning, nil }
	return w
}

// withEvents adds events and batches to a driver.
func withEvents(driver jobs.Driver) jobs.Driver {
	switch d := driver.(type) {
	case searchable:
		return struct {
			searchable
			announcing
		}{d, announcing{d.service}}
	case stoppable:
		return struct {
			stoppable
			announcing
		}{d, announcing{d.service}}
	case *service:
		return struct {
			*service
			announcing
		}{d, announcing{d}}
	default:
		panic(fmt.Sprintf("%T", driver))
	}
}

// endsAt lets jobs end when that long has passed.
func (w *collectWorld) endsAt(after time.Duration, output map[string]any) {
	w.service.timeline = func(id string) (any, error) {
		switch at := w.begun.Add(after); {
		case w.service.stopped[id]:
			return stateCanceled, nil
		case w.clock.Now().Before(at):
			return stateRunning, nil
		default:
			ended := maps.Clone(output)
			ended["EndedAt"] = at.Format(time.RFC3339)
			return ended, nil
		}
	}
}

// try is one try of a Task that waits for a callback.
type try struct {
	execution  string // the last part of its ARN; empty for that of arn
	token      string
	retry      int
	redrive    int
	redrivenAt time.Time
	request    string
}

func (w *collectWorld) event(r try) string {
	id := arn
	if r.execution != "" {
		id = arn[:len(arn)-1] + r.execution
	}
	redrive := ""
	if r.redrive > 0 {
		redrive = fmt.Sprintf(`, "RedriveCount": %d, "RedriveTime": %q`, r.redrive, r.redrivenAt.Format(time.RFC3339Nano))
	}
	return fmt.Sprintf(`{
		"Context": {
			"Execution": {"Id": %q, "StartTime": "2026-11-20T09:30:13.5Z"%s},
			"State": {"Name": "Export", "EnteredTime": "2026-11-20T09:30:14Z", "RetryCount": %d},
			"Task": {"Token": %q}
		},
		"Input": %s
	}`, id, redrive, r.retry, r.token, r.request)
}

// start invokes RunJob for a try of a Task.
func (w *collectWorld) start(ctx context.Context, r try) (died bool, err error) {
	w.tasks.wait(r.token)
	_, died, err = invoke(ctx, w.RunJob, w.event(r))
	if died || err != nil {
		w.tasks.abandon(r.token)
	}
	return died, err
}

// deliver invokes Collect with messages, and deletes those that it is done with.
func (w *collectWorld) deliver(ctx context.Context, messages []*queued) (*handler.Collected, error) {
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
	}
	payload, err := json.Marshal(batch)
	if err != nil {
		return nil, err
	}
	collected, err := w.collect(ctx, string(payload))
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if !slices.Contains(collected.BatchItemFailures, handler.BatchItemFailure{ItemIdentifier: m.id}) {
			w.queue.remove(m)
		}
	}
	return collected, nil
}

var errKilled = errors.New("killed")

// collect invokes Collect. An invocation that dies does nothing after.
func (w *collectWorld) collect(ctx context.Context, payload string) (collected *handler.Collected, err error) {
	var mu sync.Mutex
	dead := false
	if decide, ok := ctx.Value(decideKey{}).(func(op string) fate); ok {
		ctx = deciding(ctx, func(op string) fate {
			mu.Lock()
			defer mu.Unlock()
			if dead {
				return diesBefore
			}
			f := decide(op)
			dead = f == diesBefore || f == diesAfter
			return f
		})
	}
	defer func() {
		if p := recover(); p != nil {
			if _, died := p.(killed); !died {
				panic(p)
			}
		}
		if dead { // the panic of a visit does not end the others
			collected, err = nil, errKilled
		}
	}()
	return w.Collect(ctx, json.RawMessage(payload))
}

// announce delivers an event of a job.
func (w *collectWorld) announce(ctx context.Context, id string) error {
	_, err := w.collect(ctx, eventOf(id))
	return err
}

func eventOf(id string) string {
	return `{"version": "0", "source": "` + testSource + `", "detail-type": "Job State Change", "detail": {"id": ` + strconv.Quote(id) + `}}`
}

// drain moves the clock from message to message and delivers each, until there are no
// more or the time is over.
func (w *collectWorld) drain(t require.TestingT, until time.Time) {
	for {
		m := w.queue.first()
		if m == nil || m.at.After(until) {
			return
		}
		w.advance(max(0, m.at.Sub(w.clock.Now())))
		if batch := w.queue.receive(10); len(batch) > 0 { // else it was one for the dead-letter queue
			_, err := w.deliver(context.Background(), batch)
			require.NoError(t, err)
		}
	}
}

// key returns the key of an execution's record.
func (r try) key() startrecord.Key {
	k := key
	if r.execution != "" {
		k.ExecutionARN = arn[:len(arn)-1] + r.execution
	}
	return k
}
