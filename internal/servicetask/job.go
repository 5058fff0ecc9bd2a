package servicetask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

const (
	// pollEvery is the shortest time between two polls of a job, and pollAtMost the
	// longest.
	pollEvery  = time.Second
	pollAtMost = 20 * time.Second
	// pollTimeout bounds one poll, and mostSilence the time without an answer after
	// which the Task fails: without TimeoutSeconds it would last for ever.
	pollTimeout = time.Minute
	mostSilence = 15 * time.Minute
	// stopTimeout bounds the call that stops the job of a Task that was given up.
	stopTimeout = 10 * time.Second
)

// job is a job that a Task has started, and ends with.
type job struct {
	task           *task
	call           sim.Call
	input, started any // of the start call, in the model's spelling
}

// run does a Task that ends with its job: it starts the job, and asks for it until it
// has ended. A Task that ends before its job stops the job, as Step Functions does.
func (t *task) run(ctx context.Context, call sim.Call) (sim.Reply, error) {
	input, started, err := t.send(ctx, call)
	if err != nil {
		if ctx.Err() != nil {
			t.caller.hooks.tellLeft(call.State, errors.New("its start call was cut off, and may have started it"))
		}
		return sim.Reply{}, err
	}
	j := &job{task: t, call: call, input: input, started: started}
	submitted := t.spelling.Result(started, t.operation.Output)
	answer, err := j.wait(ctx)
	result := simulate.SyncResult(t.resource, answer, t.sync.entry.Operation.Output)
	switch {
	case err == nil:
		return sim.Reply{Output: result, Submitted: submitted}, nil
	case errors.Is(err, errEndedBadly):
		cause, err := json.Marshal(result)
		if err != nil {
			return sim.Reply{}, err
		}
		return sim.Reply{}, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: string(cause), Submitted: submitted}
	}
	if err := j.stop(context.WithoutCancel(ctx)); err != nil {
		t.caller.hooks.tellLeft(call.State, err)
	}
	if failed, ok := errors.AsType[*sim.TaskError](err); ok {
		failed.Submitted = submitted
	}
	return sim.Reply{}, err
}

// errEndedBadly means that a job has failed.
var errEndedBadly = errors.New("the job has failed")

// wait asks for the job until it has ended, and returns the last answer. Its error is
// errEndedBadly, or tells why the end is not known.
func (j *job) wait(ctx context.Context) (any, error) {
	s := j.task.sync
	input, err := inputOf(s.arguments, j.input, j.started)
	if err != nil {
		return nil, fmt.Errorf("state %q: the job of %s: %w", j.call.State, j.call.Resource, err)
	}
	most := max(pollEvery, min(pollAtMost, pollcore.NewSchedule(s.entry.Waiter, asl.MaxStandardTime).Min))
	delay, heard := pollEvery, time.Now()
	for {
		answer, err := j.poll(ctx, input)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		verdict := s.check.Check(input, answer, err)
		known := err == nil || verdict.Acceptor != pollcore.NoAcceptor
		switch {
		case known && verdict.Verdict == pollcore.Success:
			return answer, nil
		case err == nil && verdict.Verdict == pollcore.Failure:
			return answer, errEndedBadly
		case known && verdict.Verdict == pollcore.Retry:
			heard = time.Now()
		case !goerror.Passes(err) || time.Since(heard) >= mostSilence:
			described := &task{resource: j.task.resource, operation: s.entry.Operation}
			return nil, described.failure(j.call, err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		delay = min(most, delay*3/2) //nolint:mnd // grows by half
	}
}

// poll asks for the job once.
func (j *job) poll(ctx context.Context, input any) (any, error) {
	s, c := j.task.sync, j.task.caller
	limited, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	answer, err := c.client.Call(limited, s.entry.Operation, input)
	if ctx.Err() == nil {
		c.hooks.tellPoll(s.entry, answer, err)
	}
	return answer, err
}

// stop stops the job, whose end is not known. Its error tells why the job may run on.
func (j *job) stop(ctx context.Context) error {
	s := j.task.sync
	if s.stop == nil {
		return fmt.Errorf("no call stops what %s starts", s.entry.FullName())
	}
	input, err := inputOf(s.stopWith, j.input, j.started)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	_, err = j.task.caller.client.Call(ctx, s.stop, input)
	return err
}
