package servicetask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// sync is what is known of the job of a Task that ends with it.
type sync struct {
	entry     *catalog.Entry
	check     *pollcore.Check[any, any]
	arguments map[string]*jmespath.Program
	stop      *catalog.Operation // nil if nothing stops the job
	stopWith  map[string]*jmespath.Program
}

// newSync finds the job that the integration waits for.
func newSync(r asl.Resource, start *catalog.Operation) (*sync, error) {
	entry, err := simulate.SyncJob(r, start)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, fmt.Errorf("%w: the catalogue does not know how %s:%s%s waits", ErrNotCallable, r.Service, r.Action, r.Pattern)
	}
	s := &sync{entry: entry}
	if s.check, err = pollcore.Compile[any, any](entry.Waiter); err != nil {
		return nil, err
	}
	if s.arguments, err = compileAll(entry.Job.Arguments); err != nil {
		return nil, err
	}
	if stop := entry.Job.Stop; stop != nil {
		s.stop = entry.Service.Operations[stop.Operation]
		s.stopWith, err = compileAll(stop.Arguments)
	}
	return s, err
}

func compileAll(texts map[string]string) (map[string]*jmespath.Program, error) {
	programs := make(map[string]*jmespath.Program, len(texts))
	for member, text := range texts {
		expression, err := jmespath.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		programs[member], _ = expression.Compile(nil)
	}
	return programs, nil
}

// inputOf is the input of a call about a job, out of those of its start call.
func inputOf(programs map[string]*jmespath.Program, input, output any) (map[string]any, error) {
	out := make(map[string]any, len(programs))
	for member, p := range programs {
		value, err := p.Eval(map[string]any{"input": input, "output": output})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member, err)
		}
		if value != nil {
			out[member] = value
		}
	}
	return out, nil
}

// stopTimeout bounds the call that stops the job of a Task that was given up.
const stopTimeout = 10 * time.Second

// run does a Task that ends with its job: it starts the job, and asks for it until it
// has ended. A Task that is given up stops its job, as Step Functions does.
func (t *task) run(ctx context.Context, call sim.Call) (sim.Reply, error) {
	input, started, err := t.send(ctx, call)
	if err != nil {
		return sim.Reply{}, err
	}
	submitted := t.spelling.Result(started, t.operation.Output)
	describe, err := inputOf(t.sync.arguments, input, started)
	if err != nil {
		return sim.Reply{}, fmt.Errorf("state %q: the job of %s: %w", call.State, call.Resource, err)
	}
	answer, err := t.sync.wait(ctx, t.caller, describe)
	if ctx.Err() != nil {
		t.giveUp(context.WithoutCancel(ctx), input, started)
		return sim.Reply{}, ctx.Err()
	}
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
	default:
		described := &task{resource: t.resource, operation: t.sync.entry.Operation}
		err = described.failure(call, err)
		if failed, ok := errors.AsType[*sim.TaskError](err); ok {
			failed.Submitted = submitted
		}
		return sim.Reply{}, err
	}
}

// errEndedBadly means that a job has failed.
var errEndedBadly = errors.New("the job has failed")

// wait asks for the job until it has ended, and returns the last answer.
func (s *sync) wait(ctx context.Context, c *Caller, input map[string]any) (any, error) {
	most := max(c.pollEvery, min(c.pollAtMost, pollcore.NewSchedule(s.entry.Waiter, asl.MaxStandardTime).Min))
	delay := c.pollEvery
	for {
		answer, err := c.client.Call(ctx, s.entry.Operation, input)
		switch verdict := s.check.Check(input, answer, err); {
		case verdict.Verdict == pollcore.Success:
			return answer, nil
		case verdict.Verdict == pollcore.Failure && verdict.Acceptor != pollcore.NoAcceptor:
			return answer, errEndedBadly
		case err != nil && verdict.Acceptor == pollcore.NoAcceptor && !goerror.Passes(err):
			return nil, err
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

// giveUp stops the job, if it can be stopped.
func (t *task) giveUp(ctx context.Context, input, started any) {
	if t.sync.stop == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	if in, err := inputOf(t.sync.stopWith, input, started); err == nil {
		_, _ = t.caller.client.Call(ctx, t.sync.stop, in) // nobody waits for the answer
	}
}
