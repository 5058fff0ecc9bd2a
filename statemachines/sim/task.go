package sim

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runTask calls the Task once. Each retry calls it again, with arguments that are
// evaluated anew.
func (s *strand) runTask() *failure {
	t := s.state.Task
	a := &attempt{strand: s, integration: s.x.run.integrationOf(t.Resource)}
	if s.token = ""; a.integration.token {
		s.token = s.newToken()
	}
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	d := data{input: input}
	arguments, f := s.applyParameters(d)
	if f != nil {
		return f
	}
	if s.tooLarge(arguments) {
		return sizeFailure(s.state.Name, false)
	}
	if f := s.checkArguments(arguments); f != nil || !s.alive() {
		return f
	}
	var timeout, heartbeat int64
	if timeout, f = s.seconds(t.TimeoutSeconds, input, 1); f != nil {
		return f
	}
	if heartbeat, f = s.seconds(t.HeartbeatSeconds, input, 1); f != nil {
		return f
	}
	credentials, f := s.applyTemplate("Credentials", t.Credentials, d, nil)
	if f != nil {
		return f
	}
	a.timeout, a.heartbeat = time.Duration(timeout)*time.Second, time.Duration(heartbeat)*time.Second
	a.schedule(arguments, timeout, heartbeat, credentials)
	if !s.alive() {
		return nil
	}
	call := Call{
		Resource: t.Resource, State: s.state.Name, Arguments: arguments.Value(), Context: s.context(), RetryCount: s.retryCount,
		TaskToken: s.token, Answer: a.answer, Iterations: s.iterations, Time: s.x.run.clock.Now(),
	}
	if credentials != nil {
		call.Credentials = credentials.Value()
	}
	s.attempt = a
	s.x.run.root.result.Calls[s.state.Name]++
	a.start(call)
	return nil
}

// newToken makes up a task token: the same for the same attempt.
func (s *strand) newToken() string {
	return uuidOf(s.x.result.ExecutionARN, strconv.FormatInt(s.entered, 10), strconv.Itoa(s.retryCount))
}

// attempt is one call of a Task under way.
type attempt struct {
	strand             *strand
	integration        *integration
	timeout, heartbeat time.Duration // 0: none
	submitted          bool          // the handler has returned
	answered           func()        // what Call.Answer ends the attempt with
	done               bool
	cancel             context.CancelFunc // on a real clock
	stops              []func()           // the timers that wait
}

func (a *attempt) schedule(arguments *Payload, timeout, heartbeat int64, credentials *Payload) {
	d := Details{TimeoutInSeconds: timeout, HeartbeatInSeconds: heartbeat, TaskCredentials: taskCredentials(credentials)}
	if a.integration.service {
		d.Parameters, d.Region = arguments, a.strand.x.run.options.Region
	} else {
		d.Input, d.Resource = arguments, a.integration.resource
	}
	a.strand.record(a.integration.scheduled, a.integration.details(d))
	a.strand.record(a.integration.started, a.integration.details(Details{}))
}

// taskCredentials are credentials as the history shows them.
func taskCredentials(credentials *Payload) *Payload {
	if credentials == nil {
		return nil
	}
	object, _ := credentials.Value().(map[string]any)
	return newPayload(map[string]any{"roleArn": object["RoleArn"]})
}

// after calls f once d has passed, unless the attempt is over by then.
func (a *attempt) after(d time.Duration, f func()) {
	a.stops = append(a.stops, a.strand.x.run.after(d, func() {
		if !a.done && a.strand.alive() {
			f()
		}
	}))
}

// abandon ends the attempt without an outcome.
func (a *attempt) abandon() {
	a.done = true
	for _, stop := range a.stops {
		stop()
	}
	if a.cancel != nil {
		a.cancel()
	}
}

// start calls the handler: on a virtual clock at once, and the reply takes
// effect when its latency has passed; on a real clock on a goroutine.
func (a *attempt) start(call Call) {
	o := &a.strand.x.run.options
	handler := o.handler(call.State, call.Resource)
	if a.timeout > 0 {
		// A reply that comes at the very instant still counts.
		a.after(a.timeout, func() { a.after(0, func() { a.expire(false) }) })
	}
	if !a.strand.x.run.clock.Virtual() {
		a.startReal(handler, call)
		return
	}
	reply, err := a.strand.x.run.handle(handler, call)
	latency, submitted := reply.Latency, reply.Submitted
	if failed, ok := errors.AsType[*TaskError](err); ok {
		latency, submitted = failed.Latency, failed.Submitted
	}
	a.submit(submitted, err)
	if a.heartbeat > 0 && (reply.HeartbeatEvery == 0 || reply.HeartbeatEvery > a.heartbeat) {
		a.after(a.heartbeat, func() { a.after(0, func() { a.expire(true) }) })
	}
	switch {
	case reply.Never && err == nil:
	case latency > 0:
		a.after(latency, func() { a.finish(reply, err) })
	default:
		a.finish(reply, err)
	}
}

// submit records the answer to the request of a Task that ends later.
func (a *attempt) submit(submitted any, err error) {
	if a.submitted = true; a.answered != nil {
		defer a.after(0, a.answered)
	}
	if !a.integration.submits || submitted == nil && err != nil {
		return
	}
	value, failed := normalize(submitted)
	if failed != nil {
		a.strand.x.run.fail(a.notJSON("submitted", failed))
		return
	}
	a.strand.record(TaskSubmitted, a.integration.details(Details{Output: newPayload(value)}))
}

// notJSON is the error of a handler whose answer is not JSON.
func (a *attempt) notJSON(what string, err error) error {
	return fmt.Errorf("state %q: handler of %q: %s is not JSON: %w", a.strand.state.Name, a.strand.state.Task.Resource, what, err)
}

func (a *attempt) startReal(handler Handler, call Call) {
	r := a.strand.x.run
	ctx, cancel := context.WithCancel(r.ctx)
	a.cancel = cancel
	r.others.Go(func() {
		defer cancel()
		reply, err := handler(ctx, call)
		r.mailbox.put(func() {
			if a.done || !a.strand.alive() {
				return
			}
			submitted := reply.Submitted
			if failed, ok := errors.AsType[*TaskError](err); ok {
				submitted = failed.Submitted
			}
			a.submit(submitted, err)
			if !reply.Never || err != nil {
				a.finish(reply, err)
			}
		})
	})
}

// answer is Call.Answer.
func (a *attempt) answer(reply Reply, err error) bool {
	r := a.strand.x.run
	if r.clock.Virtual() {
		return a.takeAnswer(reply, err)
	}
	waits := make(chan bool, 1)
	r.mailbox.put(func() { waits <- a.takeAnswer(reply, err) })
	select {
	case waited := <-waits:
		return waited
	case <-r.ctx.Done():
		return false
	}
}

// takeAnswer lets an answer end the attempt, once its handler has returned.
func (a *attempt) takeAnswer(reply Reply, err error) bool {
	if a.done || a.answered != nil || !a.strand.alive() {
		return false
	}
	if a.answered = func() { a.finish(reply, err) }; a.submitted {
		a.after(0, a.answered)
	}
	return true
}

// expire ends the attempt at its timeout, or where a heartbeat did not come. An answer at
// the same instant is in time.
func (a *attempt) expire(heartbeat bool) {
	if a.answered == nil {
		a.end(func() *failure {
			return a.fails(&failure{name: asl.ErrorTimeout, fromTask: true, heartbeat: heartbeat})
		})
	}
}

// finish ends the attempt with what the handler returned.
func (a *attempt) finish(reply Reply, err error) {
	a.end(func() *failure {
		r := a.strand.x.run
		if err == nil {
			return a.succeeds(reply)
		}
		if failed, ok := errors.AsType[*TaskError](err); ok {
			if failed.Name != "" || a.integration.token {
				return a.fails(&failure{name: failed.Name, cause: failed.Cause, fromTask: true})
			}
			err = fmt.Errorf("a TaskError needs a Name: %w", err)
		}
		if r.caller.Err() == nil { // else the run is about to be aborted
			r.fail(fmt.Errorf("state %q: handler of %q: %w", a.strand.state.Name, a.strand.state.Task.Resource, err))
		}
		return nil
	})
}

func (a *attempt) end(f func() *failure) {
	if a.done || !a.strand.alive() {
		return
	}
	a.abandon()
	a.strand.x.run.current = a.strand
	a.strand.failState(f())
}

func (a *attempt) succeeds(reply Reply) *failure {
	s := a.strand
	value, err := normalize(reply.Output)
	if err != nil {
		s.x.run.fail(a.notJSON("output", err))
		return nil
	}
	result := newPayload(value)
	if s.checkResult(result); !s.alive() {
		return nil
	}
	if s.tooLarge(result) {
		return a.fails(sizeFailure(a.integration.name(), true))
	}
	s.record(a.integration.succeeded, a.integration.details(Details{Output: result}))
	if !s.alive() {
		return nil
	}
	s.token = ""
	return s.complete(result)
}

func (a *attempt) fails(f *failure) *failure {
	event := a.integration.failed
	if f.name == asl.ErrorTimeout {
		event = a.integration.timedOut
	}
	a.strand.record(event, a.integration.details(Details{Error: f.name, Cause: f.cause}))
	return f
}
