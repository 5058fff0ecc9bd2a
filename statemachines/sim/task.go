package sim

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runTask calls the Task once. Each retry calls it again, with arguments that are
// evaluated anew.
func (s *strand) runTask() *failure {
	t := s.state.Task
	r := s.x.run
	r.attempts++
	a := &attempt{strand: s, number: r.attempts, integration: r.shared.integrationOf(t.Resource)}
	if a.queued = r.queues(s, a.integration); a.queued && !a.hasActivity() {
		return &failure{name: errorRuntime, cause: "The activity " + t.Resource + " does not exist."}
	}
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
	a.call = Call{
		Resource: t.Resource, State: s.state.Name, Arguments: arguments.Value(), Context: s.context(), RetryCount: s.retryCount,
		TaskToken: s.token, Answer: a.answer, Iterations: s.iterations, Time: s.x.run.now,
	}
	if credentials != nil {
		a.call.Credentials = credentials.Value()
	}
	s.attempt = a
	s.x.countCall(s.state)
	a.start()
	return nil
}

// newToken makes up a task token: the same for the same attempt.
func (s *strand) newToken() string {
	return uuidOf(s.x.result.ExecutionARN, strconv.FormatInt(s.entered, 10), strconv.Itoa(s.retryCount))
}

// attempt is one call of a Task under way.
type attempt struct {
	strand             *strand
	number, callNumber int // in the run
	integration        *integration
	call               Call
	timeout, heartbeat time.Duration // 0: none
	submitted          bool          // the handler has returned
	refused            bool          // the service did not take the request of a Task that ends later
	answered           func()        // what Call.Answer ends the attempt with
	claimed            atomic.Bool   // an answer is on its way, or none is waited for
	done               bool
	place              *list.Element   // in the queue of its activity, which guards it; nil: in none
	queued             bool            // an activity, which a worker of it takes from the queue of a World
	waits              bool            // for an answer from outside, which holds a virtual clock
	ctx                context.Context //nolint:containedctx // of the call
	cancel             context.CancelFunc
	timers             []*timer // that wait
	beats              *timer   // of the heartbeat
}

func (a *attempt) schedule(arguments *Payload, timeout, heartbeat int64, credentials *Payload) {
	d := Details{TimeoutInSeconds: timeout, HeartbeatInSeconds: heartbeat, TaskCredentials: taskCredentials(credentials)}
	if a.integration.service {
		d.Parameters, d.Region = arguments, a.strand.x.run.options.Region
	} else {
		d.Input, d.Resource = arguments, a.integration.resource
	}
	a.strand.record(a.integration.scheduled, a.integration.details(d))
	if !a.queued {
		a.strand.record(a.integration.started, a.integration.details(Details{}))
	}
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
	a.timers = append(a.timers, a.timer(d, f))
}

func (a *attempt) timer(d time.Duration, f func()) *timer {
	return a.strand.x.run.after(d, func() {
		if !a.done && a.strand.alive() {
			f()
		}
	})
}

// abandon ends the attempt without an outcome.
func (a *attempt) abandon() {
	if a.done {
		return
	}
	a.done = true
	a.claimed.Store(true)
	for _, t := range a.timers {
		a.strand.x.run.drop(t)
	}
	a.strand.x.run.drop(a.beats)
	if a.cancel != nil {
		a.cancel()
	}
	if w := a.strand.x.run.world; w != nil && a.call.TaskToken != "" {
		w.forgetToken(a)
	}
}

// start calls the handler, or leaves the attempt to the queue of an activity.
func (a *attempt) start() {
	r := a.strand.x.run
	if a.timeout > 0 {
		// A reply that comes at the very instant still counts.
		a.after(a.timeout, func() { a.after(0, func() { a.expire(false) }) })
	}
	if r.world != nil && a.call.TaskToken != "" {
		r.world.keepToken(a)
	}
	if r.replay != nil {
		r.replay.attempts[a.number] = a
	}
	if a.queued {
		a.wait()
		r.world.queue(a)
		return
	}
	a.ctx = r.ctx
	if r.world != nil || !r.clock.Virtual() {
		a.ctx, a.cancel = context.WithCancel(r.ctx)
	}
	handler := r.options.handler(a.call.State, a.call.Resource)
	if handler == nil { // in a World only
		handler = noHandler
	}
	a.callNumber = r.called + 1
	r.handle(a.ctx, handler, a.call, a.reply)
}

// queues tells whether the Task of a state waits in the queue of its activity.
func (r *run) queues(s *strand, i *integration) bool {
	return r.world != nil && i.activity() && r.options.ownHandler(s.state.Name, s.state.Task.Resource) == nil
}

// noHandler fails a Task that nothing runs.
func noHandler(_ context.Context, call Call) (Reply, error) {
	return Reply{}, &TaskError{Name: asl.ErrorTaskFailed, Cause: "Nothing runs the resource " + call.Resource + ": give it a handler."}
}

// reply goes on when the handler has returned: what it gave takes effect when its
// latency has passed.
func (a *attempt) reply(reply Reply, err error) {
	r := a.strand.x.run
	if a.done || !a.strand.alive() {
		return
	}
	latency, submitted := reply.Latency, reply.Submitted
	if failed, ok := errors.AsType[*TaskError](err); ok {
		latency, submitted = failed.Latency, failed.Submitted
	}
	if a.submit(submitted, latency, err); a.done {
		return
	}
	if reply.HeartbeatEvery == 0 || reply.HeartbeatEvery > a.heartbeat {
		a.watch()
	}
	switch {
	case reply.Never && err == nil:
		if r.world != nil && a.integration.token && !reply.Inside {
			a.wait()
		}
	case latency > 0 && (r.world != nil || r.clock.Virtual()):
		a.after(latency, func() { a.finish(reply, err) })
	default:
		a.finish(reply, err)
	}
}

// watch ends the attempt if no heartbeat comes in time from now on.
func (a *attempt) watch() {
	a.strand.x.run.drop(a.beats)
	if a.heartbeat > 0 && !a.done {
		a.beats = a.timer(a.heartbeat, func() { a.after(0, func() { a.expire(true) }) })
	}
}

// wait holds a virtual clock until the attempt is answered.
func (a *attempt) wait() {
	if !a.waits {
		a.waits = true
		a.strand.x.run.clock.waitForToken(1)
	}
}

// submit records the answer to the request of a Task that ends later. Without one, a
// failure that takes no time is the service's answer.
func (a *attempt) submit(submitted any, latency time.Duration, err error) {
	if a.submitted = true; a.answered != nil {
		defer a.after(0, a.answered)
	}
	if !a.integration.submits || submitted == nil && err != nil {
		a.refused = a.integration.submits && latency == 0
		return
	}
	value, failed := normalize(submitted)
	if failed != nil {
		a.strand.x.run.fail(a.notJSON("submitted", failed))
		return
	}
	output := newPayload(value)
	if a.strand.tooLarge(output) {
		a.refused = true
		a.end(func() *failure { return a.fails(sizeFailure(a.integration.name(), true)) })
		return
	}
	a.strand.record(TaskSubmitted, a.integration.details(Details{Output: output}))
}

// notJSON is the error of a handler whose answer is not JSON.
func (a *attempt) notJSON(what string, err error) error {
	return fmt.Errorf("state %q: handler of %q: %s is not JSON: %w", a.strand.state.Name, a.strand.state.Task.Resource, what, err)
}

// answer is Call.Answer.
func (a *attempt) answer(reply Reply, err error) (waited bool) {
	r := a.strand.x.run
	if r.world == nil && r.clock.Virtual() {
		r.perform(&timer{at: r.clock.Now()}, func() { waited = a.takeAnswer(reply, err) })
		return waited
	}
	if r.world != nil { // whoever calls must not wait: it may be in OnEnd of another execution
		if !a.claimed.CompareAndSwap(false, true) {
			return false
		}
		r.clock.post(&r.actor, func() { a.takeAnswer(reply, err) })
		return true
	}
	return r.ask(func() { waited = a.takeAnswer(reply, err) }) == nil && waited
}

// takeAnswer lets an answer end the attempt, once its handler has returned.
func (a *attempt) takeAnswer(reply Reply, err error) bool {
	if a.done || a.answered != nil || !a.strand.alive() {
		return false
	}
	if r := a.strand.x.run; r.keepsJournal() {
		var data *replyData
		data, reply, err = replyOf(reply, err)
		if !r.keep(record{Kind: answerRecord, Number: a.number, Reply: data}) {
			return false
		}
	}
	a.claimed.Store(true)
	if a.answered = func() { a.finish(reply, err) }; a.submitted {
		a.after(0, a.answered)
	}
	return true
}

// expire ends the attempt at its timeout, or where a heartbeat did not come. An answer at
// the same instant is in time; one that waits for the handler to return is not.
func (a *attempt) expire(heartbeat bool) {
	if a.answered == nil || !a.submitted {
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
				return a.fails(&failure{name: failed.Name, cause: cutCause(failed.Cause), fromTask: true})
			}
			err = fmt.Errorf("a TaskError needs a Name: %w", err)
		}
		if r.world != nil {
			return a.fails(&failure{name: asl.ErrorTaskFailed, cause: cutCause(err.Error()), fromTask: true})
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
	switch {
	case f.name == asl.ErrorTimeout:
		event = a.integration.timedOut
	case a.refused:
		event = TaskSubmitFailed
	}
	a.strand.record(event, a.integration.details(Details{Error: f.name, Cause: f.cause}))
	return f
}
