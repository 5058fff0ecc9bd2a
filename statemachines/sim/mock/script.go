// Package mock answers the Tasks of a simulated state machine: by a script of
// results and failures, by a simulated job, or by a file, AWS's
// MockConfigFile.json among them.
package mock

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Script answers calls one after the other. Each step is for one call, or for
// as many as Times says; the last step is for all further calls, unless Times
// says how many. Make one with New; it is safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	steps []step
	calls []sim.Call
}

// step is the answer to one or more calls.
type step struct {
	reply    sim.Reply
	fail     *sim.TaskError
	throttle bool
	handler  sim.Handler
	times    int // 0: one, or all if it is the last
}

// New returns a script without steps.
func New() *Script { return &Script{} }

// Return adds a step that returns the value: anything that encoding/json takes.
func (s *Script) Return(value any) *Script { return s.add(step{reply: sim.Reply{Output: value}}) }

// Fail adds a step that fails with the error name and cause.
func (s *Script) Fail(name, cause string) *Script {
	return s.add(step{fail: &sim.TaskError{Name: name, Cause: cause}})
}

// Throttle adds a step that fails as the service does when it is called too
// often.
func (s *Script) Throttle() *Script { return s.add(step{throttle: true}) }

// Never adds a step that gives no answer: only a timeout ends the Task.
func (s *Script) Never() *Script { return s.add(step{reply: sim.Reply{Never: true}}) }

// Call adds a step that is a function.
func (s *Script) Call(h sim.Handler) *Script { return s.add(step{handler: h}) }

// Times says for how many calls the last step added is.
func (s *Script) Times(n int) *Script {
	return s.change("Times", func(last *step) { last.times = max(n, 1) })
}

// After says how long the last step added takes on a virtual clock.
func (s *Script) After(d time.Duration) *Script {
	return s.change("After", func(last *step) {
		last.reply.Latency = d
		if last.fail != nil {
			last.fail.Latency = d
		}
	})
}

// Submitted says what the request of the last step added is answered with, for
// a Task that ends later (".sync", ".waitForTaskToken").
func (s *Script) Submitted(value any) *Script {
	return s.change("Submitted", func(last *step) {
		last.reply.Submitted = value
		if last.fail != nil {
			last.fail.Submitted = value
		}
	})
}

// Heartbeats says in which interval the last step added sends heartbeats.
func (s *Script) Heartbeats(every time.Duration) *Script {
	return s.change("Heartbeats", func(last *step) { last.reply.HeartbeatEvery = every })
}

// Calls returns the calls so far.
func (s *Script) Calls() []sim.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Handle answers a call: it is the script as a sim.Handler. A call that the
// script has no step for is an error.
func (s *Script) Handle(ctx context.Context, call sim.Call) (sim.Reply, error) {
	next, err := s.next(call)
	if err != nil {
		return sim.Reply{}, err
	}
	switch {
	case next.handler != nil:
		return next.handler(ctx, call)
	case next.throttle:
		return sim.Reply{}, throttled(call, next.reply)
	case next.fail != nil:
		failed := *next.fail
		return sim.Reply{}, &failed
	default:
		return next.reply, nil
	}
}

func (s *Script) add(next step) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, next)
	return s
}

func (s *Script) change(method string, f func(last *step)) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steps) == 0 {
		panic("mock: " + method + " has to follow a step such as Return")
	}
	f(&s.steps[len(s.steps)-1])
	return s
}

// next is the step for the call.
func (s *Script) next(call sim.Call) (step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	n := len(s.calls)
	for i, at := range s.steps {
		if i == len(s.steps)-1 && at.times == 0 {
			return at, nil
		}
		if n -= max(at.times, 1); n <= 0 {
			return at, nil
		}
	}
	return step{}, fmt.Errorf("call %d of state %q (%s): the mock has answers for %d calls; add a step, or leave Times out of the last",
		len(s.calls), call.State, call.Resource, len(s.calls)-n)
}

// throttling is how integrations of AWS's own fail when they are called too
// often.
var throttling = map[string]sim.TaskError{
	"lambda":   {Name: "Lambda.TooManyRequestsException", Cause: "Rate Exceeded. (Service: AWSLambda; Status Code: 429; Error Code: TooManyRequestsException)"},
	"dynamodb": {Name: "DynamoDB.ProvisionedThroughputExceededException", Cause: "The table is throttled (Service: AmazonDynamoDBv2; Status Code: 400)"},
	"sqs":      {Name: "SQS.AmazonSQSException", Cause: "Request is throttled. (Service: AmazonSQS; Status Code: 403; Error Code: RequestThrottled)"},
	"sns":      {Name: "SNS.ThrottledException", Cause: "Rate exceeded (Service: AmazonSNS; Status Code: 429; Error Code: Throttled)"},
	"glue":     {Name: "Glue.ConcurrentRunsExceededException", Cause: "Concurrent runs exceeded for the job (Service: AWSGlue; Status Code: 400)"},
	"athena":   {Name: "Athena.TooManyRequestsException", Cause: "Rate exceeded (Service: AmazonAthena; Status Code: 400; Error Code: TooManyRequestsException)"},
}

// throttled is the failure of a call that came too soon after others. The error
// code of most services is not modeled: then all that is left of it is the name
// of the service.
func throttled(call sim.Call, reply sim.Reply) error {
	resource := asl.ParseResource(call.Resource)
	failed, ok := throttling[resource.Service]
	if prefix := resource.ErrorPrefix(); prefix != "" {
		failed, ok = sim.TaskError{
			Name: prefix + "." + prefix + "Exception", Cause: "Rate exceeded (Service: " + prefix + ", Status Code: 400)",
		}, true
	}
	if !ok {
		return fmt.Errorf("state %q: it is not known how %q fails when it is throttled; use Fail with the name of the error", call.State, call.Resource)
	}
	failed.Latency = reply.Latency
	return &failed
}
