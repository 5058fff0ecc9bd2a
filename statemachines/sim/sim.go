// Package sim runs state machines in process, in virtual or real time, as AWS
// Step Functions runs them: same data flow, retries, limits, error names and
// history. Tasks go to handlers, which are Go functions.
//
// The source of its behaviour is the Amazon States Language specification,
// the AWS Step Functions developer guide and, where these are silent or AWS
// differs, executions recorded at AWS.
package sim

import (
	"context"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Run executes the machine, which comes from asl.Parse, with the input, and
// returns how it ended; an empty input is an empty object. The execution's
// failure is a Result and not an error. Errors: *ResourceError if a Task cannot
// be run, *InputSizeError, diag.Problems if the input is not JSON or the
// definition cannot be run as it is, and what a handler returned
// that is not a *TaskError, ErrEndless, ErrTooMuch, and *InternalError. An error that
// ends a run on its way comes with the result so far, ABORTED with the error as its
// Cause. When ctx ends the execution is ABORTED, too.
func Run(ctx context.Context, m *asl.StateMachine, input []byte, o Options) (*Result, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := checkDefinition(m, &o); err != nil {
		return nil, err
	}
	payload, err := readInput(input)
	if err != nil {
		return nil, err
	}
	r := newRun(m, o, newRandom(o.Seed))
	if o.Begin != nil {
		if r.beginning, err = o.Begin.read(m); err != nil {
			return nil, err
		}
	}
	return r.drive(ctx, func() { r.start(r.newRoot(payload), payload) })
}

// Redrive goes on with an execution that did not succeed, as AWS does: the
// states that failed or were aborted run again with the input and the EnteredTime
// that they had, those that succeeded do not, counts of retries start anew, and
// the time limit of the machine too. A Fail state fails again. The result has the whole history and
// takes the place of the one before, which must not be used any more. m and o
// are those of the run, and o.Clock must go on where that stopped. Besides
// those of Run, its errors are ErrRedriveSucceeded and its kin.
func Redrive(ctx context.Context, m *asl.StateMachine, failed *Result, o Options) (*Result, error) {
	if o.Clock == nil {
		o.Clock = NewVirtualClock(failed.Stop)
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := checkDefinition(m, &o); err != nil {
		return nil, err
	}
	switch now := o.Clock.Now(); {
	case failed.Status == StatusSucceeded:
		return nil, ErrRedriveSucceeded
	case o.Express:
		return nil, ErrRedriveExpress
	case now.Sub(failed.Stop) > asl.RedriveWindow:
		return nil, ErrRedriveTooLate
	case failed.root.x.lastEvent() >= int64(o.MaxEvents)-1:
		return nil, ErrRedriveFull
	}
	r := newRun(m, o, failed.random)
	return r.drive(ctx, func() { r.restart(failed) })
}

func newRun(m *asl.StateMachine, o Options, random *randomState) *run {
	r := &run{machine: m, shared: newMachineData(), options: o, clock: o.Clock, now: o.Clock.Now(), random: random, steps: states{}}
	r.actor.run = r
	return r
}

// start records the start and schedules the first state.
func (r *run) start(x *execution, input *Payload) {
	x.limit, x.billed, x.onEvent = r.options.MaxEvents, true, r.options.OnEvent
	x.begin(&r.machine.Flow, input)
	r.limitTime()
}

// restart goes on where the execution stopped.
func (r *run) restart(failed *Result) {
	x := failed.root.x
	r.over, r.broken = false, nil
	x.belongTo(r)
	x.limit, x.onEvent = r.options.MaxEvents, r.options.OnEvent
	r.follow(x)
	x.redrive()
	r.limitTime()
}

// beginning is a Beginning that was read.
type beginning struct {
	state     string
	input     *Payload
	variables map[string]*Payload
}

func (b *Beginning) read(m *asl.StateMachine) (*beginning, error) {
	if m.State(b.State) == nil {
		return nil, fmt.Errorf("option Begin: the outermost flow has no state %q", b.State)
	}
	input, err := readInput(b.Input)
	if err != nil {
		return nil, err
	}
	read := &beginning{b.State, input, map[string]*Payload{}}
	for name, text := range b.Variables {
		if read.variables[name], err = readInput(text); err != nil {
			return nil, fmt.Errorf("option Begin: variable %q: %w", name, err)
		}
	}
	return read, nil
}

func readInput(input []byte) (*Payload, error) {
	if len(input) == 0 {
		return emptyObject(), nil
	}
	if len(input) > asl.MaxPayloadBytes {
		return nil, &InputSizeError{Size: len(input)}
	}
	doc, err := jsontree.Parse(input)
	if err != nil {
		return nil, fmt.Errorf("execution input: %w", err)
	}
	return newPayload(doc.Root.Value()), nil
}
