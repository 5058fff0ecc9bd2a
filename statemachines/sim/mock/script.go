// Package mock answers the Tasks of a simulated state machine: by a script of
// results and failures, by a simulated job, or by a file, AWS's
// MockConfigFile.json among them.
package mock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Script answers calls one after the other. Each step is for one call, or for
// as many as Times says; the last step is for all further calls, unless Times
// says how many. Make one with New; it is safe for concurrent use.
//
// Its methods can be chained. A mistake, such as Times before any step, is told
// by Check and by every call.
type Script struct {
	mu      sync.Mutex
	steps   []step
	calls   []sim.Call
	mistake error
}

// step is the answer to one or more calls. The members of reply but Output and
// Never are for failures and functions too.
type step struct {
	reply    sim.Reply
	fail     *sim.TaskError
	throttle bool
	handler  sim.Handler
	echoes   map[string]string // of the output: see Echo
	missing  bool              // there is no answer to these calls
	times    int               // 0: one, or all if it is the last
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

// Call adds a step that is a function, such as [Job.Describe].
func (s *Script) Call(h sim.Handler) *Script { return s.add(step{handler: h}) }

// Times says for how many calls the last step added is, 1 at least.
func (s *Script) Times(n int) *Script {
	return s.change("Times", n > 0, func(last *step) { last.times = n })
}

// After says how long the last step added takes on a virtual clock.
func (s *Script) After(d time.Duration) *Script {
	return s.change("After", d >= 0, func(last *step) { last.reply.Latency = d })
}

// Submit says what the request of the last step added is answered with, for
// a Task that ends later (".sync", ".waitForTaskToken").
func (s *Script) Submit(value any) *Script {
	return s.change("Submit", true, func(last *step) { last.reply.Submitted = value })
}

// Heartbeats says in which interval the last step added sends heartbeats, for a
// Task with HeartbeatSeconds.
func (s *Script) Heartbeats(every time.Duration) *Script {
	return s.change("Heartbeats", every > 0, func(last *step) { last.reply.HeartbeatEvery = every })
}

// Check tells what is wrong with the script.
func (s *Script) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mistake == nil && len(s.steps) == 0 {
		return errors.New("a script needs at least one step, such as Return")
	}
	return s.mistake
}

// Calls returns the calls so far.
func (s *Script) Calls() []sim.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Handle answers a call: it is the script as a sim.Handler. A call that the
// script has no step for is an error, which ends the run.
func (s *Script) Handle(ctx context.Context, call sim.Call) (sim.Reply, error) {
	next, err := s.next(call)
	if err != nil {
		return sim.Reply{}, err
	}
	return next.answer(ctx, call)
}

// answer is what the step says to a call.
func (s *step) answer(ctx context.Context, call sim.Call) (sim.Reply, error) {
	reply, err := s.reply, error(nil)
	switch {
	case s.handler != nil:
		if reply, err = s.handler(ctx, call); err == nil {
			reply = s.adapt(reply)
		}
	case s.throttle:
		err = throttleCall(call)
	case s.fail != nil:
		err = s.fail
	case len(s.echoes) > 0:
		if reply.Output, err = copyOf(reply.Output); err == nil {
			reply.Output, err = Echo(reply.Output, call.Arguments, s.echoes)
		}
	}
	failed, ok := errors.AsType[*sim.TaskError](err)
	if !ok {
		return reply, err
	}
	copied := *failed
	as := s.adapt(sim.Reply{Latency: failed.Latency, Submitted: failed.Submitted, HeartbeatEvery: reply.HeartbeatEvery})
	copied.Latency, copied.Submitted = as.Latency, as.Submitted
	return sim.Reply{HeartbeatEvery: as.HeartbeatEvery}, &copied
}

// adapt returns the reply with what was said of the step.
func (s *step) adapt(reply sim.Reply) sim.Reply {
	if s.reply.Latency > 0 {
		reply.Latency = s.reply.Latency
	}
	if s.reply.Submitted != nil {
		reply.Submitted = s.reply.Submitted
	}
	if s.reply.HeartbeatEvery > 0 {
		reply.HeartbeatEvery = s.reply.HeartbeatEvery
	}
	return reply
}

func (s *Script) add(next step) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, next)
	return s
}

// change changes the last step. A mistake is kept: the first.
func (s *Script) change(method string, valid bool, f func(last *step)) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mistake != nil:
	case len(s.steps) == 0:
		s.mistake = fmt.Errorf("%s must follow a step, such as Return", method)
	case !valid:
		s.mistake = fmt.Errorf("%s of step %d of the script is too small", method, len(s.steps))
	default:
		f(&s.steps[len(s.steps)-1])
	}
	return s
}

// next is the step for the call.
func (s *Script) next(call sim.Call) (*step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("call %d of state %q (%s): %w", len(s.calls), call.State, call.Resource, fmt.Errorf(format, args...))
	}
	if s.mistake != nil {
		return nil, refuse("%w", s.mistake)
	}
	n := len(s.calls)
	for i, at := range s.steps {
		last := i == len(s.steps)-1 && at.times == 0
		if n -= max(at.times, 1); n > 0 && !last {
			continue
		}
		if at.missing {
			return nil, refuse("the mock has no answer for it")
		}
		return &at, nil
	}
	return nil, refuse("the mock has answers for %d calls; add one, or remove the number of times of the last", len(s.calls)-n)
}
