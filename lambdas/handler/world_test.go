package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

const arn = "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1"

// lease is that of an invocation without a deadline: a minute and the margin.
const lease = 65 * time.Second

var key = startrecord.Key{ExecutionARN: arn, Poller: "default"}

// clock moves when a test says so.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// world is a Handler with everything around it.
type world struct {
	*handler.Handler

	clock   *clock
	store   *store
	service *service
}

// classes are the ways in which a service protects a job.
var classes = map[string]jobs.Idempotency{
	"token":       {Class: jobs.ByToken},
	"token 8h":    {Class: jobs.ByToken, Window: 8 * time.Hour},
	"natural key": {Class: jobs.ByNaturalKey},
	"none":        {Class: jobs.NoProtection},
}

// newWorld returns a world whose store is in memory, unless it is changed.
func newWorld(t require.TestingT, class string, change ...func(*handler.Config)) *world {
	c := &clock{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	return newWorldOn(t, c, memstore.New(c.Now), class, change...)
}

func newWorldOn(t require.TestingT, c *clock, records startrecord.Store, class string, change ...func(*handler.Config)) *world {
	w := &world{clock: c, service: &service{clock: c, idempotency: classes[class], output: map[string]any{"State": "RUNNING"}}}
	w.store = &store{Store: records}
	var driver jobs.Driver = w.service
	switch class {
	case "natural key":
		driver = searchable{w.service}
	case "stoppable":
		w.service.idempotency = classes["token"]
		driver = stoppable{w.service}
	}
	registry, err := jobs.NewRegistry(driver)
	require.NoError(t, err)
	cfg := handler.Config{
		Store: w.store, Jobs: registry, Now: c.Now,
		Random:  func(n int64) int64 { return n - 1 }, // the longest wait
		NoDwell: true,                                 // the clock does not move by itself
	}
	for _, f := range change {
		f(&cfg)
	}
	w.Handler, err = handler.New(cfg)
	require.NoError(t, err)
	return w
}

// advance moves the clock and has what is due on the way come at its time.
func (w *world) advance(d time.Duration) {
	end := w.clock.Now().Add(d)
	for {
		e, ok := w.service.due(end)
		if !ok {
			break
		}
		w.clock.set(e.at)
		e.do()
	}
	w.clock.set(end)
}

// record returns what is stored under the key, which must be there.
func (w *world) record(t require.TestingT, key startrecord.Key) startrecord.Record {
	stored, err := w.store.Store.Load(context.Background(), key)
	require.NoError(t, err)
	return stored.Record
}

// bare is the context object as AWS sends it, with the request as the
// execution's input.
func bare(request string) string {
	return fmt.Sprintf(`{
		"Execution": {
			"Id": %q, "Input": %s, "Name": "run-1", "RoleArn": "arn:aws:iam::123456789012:role/r",
			"StartTime": "2026-11-20T09:30:13.5Z", "RedriveCount": 0, "NewMember": [1]
		},
		"State": {"EnteredTime": "2026-11-20T09:30:14Z", "Name": "RunJob", "RetryCount": 3},
		"StateMachine": {"Id": "arn:aws:states:us-east-1:123456789012:stateMachine:ExportOrders", "Name": "ExportOrders"},
		"NewMember": {"a": null}
	}`, arn, request)
}

// call is the form that has Context. more is further members, with a comma
// before each.
func call(more string) string {
	return fmt.Sprintf(`{"Context": {"Execution": {"Id": %q, "StartTime": "2026-11-20T09:30:13.5Z"}, "State": {"Name": "S", "RetryCount": 2}}%s}`, arn, more)
}

// redriven is the payload after a redrive.
func redriven(payload string, count int, at time.Time) string {
	return strings.Replace(payload, `"RedriveCount": 0`,
		fmt.Sprintf(`"RedriveCount": %d, "RedriveTime": %q`, count, at.Format(time.RFC3339Nano)), 1)
}

const request = `{"job": "test:Job", "maxWaitSeconds": 1800}`

func (w *world) runJob(t require.TestingT, payload string) *handler.Result {
	result, err := w.RunJob(context.Background(), json.RawMessage(payload))
	require.NoError(t, err)
	return result
}

func (w *world) checkStatus(t require.TestingT, payload string) *handler.Result {
	result, err := w.CheckStatus(context.Background(), json.RawMessage(payload))
	require.NoError(t, err)
	return result
}

// named returns what aws-lambda-go reports of a handler's error: it must be
// its own error type, by value and not wrapped.
func named(t require.TestingT, err error) messages.InvokeResponse_Error {
	reported, ok := err.(messages.InvokeResponse_Error) //nolint:errorlint // aws-lambda-go looks no deeper
	require.True(t, ok, "%T: %v", err, err)
	return reported
}

func requireError(t require.TestingT, err error, name string, parts ...string) {
	reported := named(t, err)
	require.Equal(t, name, reported.Type, reported.Message)
	for _, part := range parts {
		require.Contains(t, reported.Message, part)
	}
}

// jsonOf is the form in which a caller gets a result.
func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
