package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// integration is how the history names a Task's resource. A service
// integration ("arn:aws:states:::lambda:invoke") has Task events; any other
// ARN is a Lambda function's, which has LambdaFunction events.
type integration struct {
	service                bool
	resourceType, resource string
	scheduled, started     EventType
	succeeded, failed      EventType
	timedOut               EventType
}

func integrationOf(arn string) integration {
	const servicePart = 5
	parts := strings.Split(arn, ":")
	if len(parts) <= servicePart+1 || parts[2] != "states" {
		return integration{
			resource: arn, scheduled: LambdaFunctionScheduled, started: LambdaFunctionStarted,
			succeeded: LambdaFunctionSucceeded, failed: LambdaFunctionFailed, timedOut: LambdaFunctionTimedOut,
		}
	}
	last := len(parts) - 1
	return integration{
		service: true, resourceType: strings.Join(parts[servicePart:last], ":"), resource: parts[last],
		scheduled: TaskScheduled, started: TaskStarted, succeeded: TaskSucceeded, failed: TaskFailed, timedOut: TaskTimedOut,
	}
}

// details are the members that all events of the call have, besides those
// given.
func (i integration) details(d Details) Details {
	if i.service {
		d.ResourceType, d.Resource = i.resourceType, i.resource
	}
	return d
}

// name is what AWS calls the task in the cause of a result that is too large.
func (i integration) name() string {
	if i.service {
		return i.resourceType
	}
	return i.resource
}

// call calls the Task once. It is called again for each retry, and evaluates
// the arguments anew.
func (s *strand) call() *failure {
	t := s.state.Task
	input, f := s.effectiveInput()
	if f != nil {
		return f
	}
	arguments, f := s.applied(t.Parameters, input)
	if f != nil {
		return f
	}
	if arguments.tooLarge() {
		return s.handled(tooLarge(s.state.Name, false))
	}
	timeout, heartbeat := t.TimeoutSeconds, t.HeartbeatSeconds
	if t.TimeoutSecondsPath != nil {
		if timeout, f = s.seconds("TimeoutSecondsPath", t.TimeoutSecondsPath, input, 1); f != nil {
			return f
		}
	}
	if t.HeartbeatSecondsPath != nil {
		if heartbeat, f = s.seconds("HeartbeatSecondsPath", t.HeartbeatSecondsPath, input, 1); f != nil {
			return f
		}
	}
	a := &attempt{strand: s, integration: integrationOf(t.Resource), timeout: time.Duration(timeout) * time.Second}
	a.schedule(arguments, timeout, heartbeat)
	if s.run.over {
		return nil
	}
	a.start(Call{
		Resource: t.Resource, State: s.state.Name, Arguments: arguments.Value(), Context: s.context(), RetryCount: s.retryCount,
	})
	return nil
}

// attempt is one call of a Task under way.
type attempt struct {
	strand      *strand
	integration integration
	timeout     time.Duration // 0: none
	done        bool
}

func (a *attempt) schedule(arguments *Payload, timeout, heartbeat int64) {
	d := Details{TimeoutInSeconds: timeout, HeartbeatInSeconds: heartbeat}
	if a.integration.service {
		d.Parameters, d.Region = arguments, a.strand.run.options.Region
	} else {
		d.Input, d.Resource = arguments, a.integration.resource
	}
	a.strand.record(a.integration.scheduled, a.integration.details(d))
	a.strand.record(a.integration.started, a.integration.details(Details{}))
}

// start calls the handler: on a virtual clock at once, and the reply takes
// effect when its latency has passed; on a real clock on a goroutine.
func (a *attempt) start(call Call) {
	r := a.strand.run
	handler := r.options.Handlers[call.Resource]
	if !r.clock.Virtual() {
		a.startReal(handler, call)
		return
	}
	reply, err := handler(r.ctx, call)
	latency := reply.Latency
	if failed, ok := errors.AsType[*TaskError](err); ok {
		latency = failed.Latency
	}
	switch {
	case a.timeout > 0 && latency > a.timeout:
		r.after(a.timeout, a.expire)
	case latency > 0:
		r.after(latency, func() { a.finish(reply, err) })
	default:
		a.finish(reply, err)
	}
}

func (a *attempt) startReal(handler Handler, call Call) {
	r := a.strand.run
	ctx, cancel := context.WithCancel(r.ctx)
	stopTimer := func() {}
	if a.timeout > 0 {
		stopTimer = r.after(a.timeout, func() {
			cancel()
			a.expire()
		})
	}
	r.others.Go(func() {
		defer cancel()
		reply, err := handler(ctx, call)
		r.mailbox.put(func() {
			stopTimer()
			a.finish(reply, err)
		})
	})
}

// expire ends the attempt at its timeout.
func (a *attempt) expire() {
	a.end(func() *failure { return a.fails(&TaskError{Name: asl.ErrorTimeout}) })
}

// finish ends the attempt with what the handler returned, if it is not over
// by then.
func (a *attempt) finish(reply Reply, err error) {
	a.end(func() *failure {
		r := a.strand.run
		if err == nil {
			return a.succeeds(reply)
		}
		if failed, ok := errors.AsType[*TaskError](err); ok {
			if failed.Name != "" {
				return a.fails(failed)
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
	if a.done {
		return
	}
	a.done = true
	if failure := f(); failure != nil {
		a.strand.failed(failure)
	}
}

func (a *attempt) succeeds(reply Reply) *failure {
	s, t := a.strand, a.strand.state.Task
	value, err := normalize(reply.Output)
	if err != nil {
		s.run.fail(fmt.Errorf("state %q: handler of %q: output is not JSON: %w", s.state.Name, t.Resource, err))
		return nil
	}
	result := newPayload(value)
	if result.tooLarge() {
		f := tooLarge(a.integration.name(), true)
		return a.fails(&TaskError{Name: f.name, Cause: f.cause})
	}
	s.record(a.integration.succeeded, a.integration.details(Details{Output: result}))
	result, f := s.applied(t.ResultSelector, result)
	if f != nil {
		return f
	}
	output, f := s.placed(t.ResultPath, result)
	if f != nil {
		return s.handled(f)
	}
	if f = s.leave(output, s.state.Next); f != nil {
		return s.handled(f)
	}
	return nil
}

func (a *attempt) fails(e *TaskError) *failure {
	event := a.integration.failed
	if e.Name == asl.ErrorTimeout {
		event = a.integration.timedOut
	}
	a.strand.record(event, a.integration.details(Details{Error: e.Name, Cause: e.Cause}))
	return a.strand.handled(&failure{name: e.Name, cause: e.Cause, fromTask: true})
}
