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
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/taskapi"
)

// run is an execution under way, with its child executions. All of it belongs
// to the goroutine of Run; on a real clock timers and handlers reach it through
// the mailbox.
type run struct {
	ctx     context.Context //nolint:containedctx // a run is one call of Run; this one ends with it
	caller  context.Context //nolint:containedctx // the one given to Run
	machine *asl.StateMachine
	options Options
	clock   *Clock
	mailbox *mailbox
	others  sync.WaitGroup // goroutines of handlers and timers on a real clock
	random  *randomState
	apis    map[string]*taskapi.API // by resource

	current     *strand // that runs
	inCaller    bool    // a function of the caller runs
	root        *execution
	broken      error
	over        bool
	timers      map[uint64]func() bool // by number: what stops the timers that wait
	timerNumber uint64
}

// Run executes the machine, which comes from asl.Parse, with the input, and
// returns how it ended; an empty input is an empty object. The execution's
// failure is a Result and not an error. Errors: *ResourceError if a Task cannot
// be run, *InputSizeError, asl.Problems if the input is not JSON or the
// definition cannot be run as it is, ErrClockBusy, and what a handler returned
// that is not a *TaskError, ErrEndless, ErrTooMuch, and *InternalError. When ctx ends the execution is ABORTED.
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
	r := &run{machine: m, options: o, clock: o.Clock, random: newRandom(o.Seed)}
	return r.drive(ctx, func() { r.start(payload) })
}

// drive runs what begin starts to its end.
func (r *run) drive(ctx context.Context, begin func()) (*Result, error) {
	if r.clock.Virtual() {
		release, ok := r.clock.drive()
		if !ok {
			return nil, ErrClockBusy
		}
		defer release()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx, r.caller = inner, ctx
	r.mailbox, r.timers = newMailbox(), map[uint64]func() bool{}
	r.guard(begin)
	if r.clock.Virtual() {
		r.driveVirtual()
	} else {
		r.driveReal()
	}
	cancel()
	r.others.Wait()
	if r.broken != nil {
		return nil, r.broken
	}
	return r.root.result, nil
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

// start records the start and schedules the first state.
func (r *run) start(input *Payload) {
	x := r.newRoot(input)
	x.limit, x.billed, x.onEvent = r.options.MaxEvents, true, r.options.OnEvent
	x.begin(&r.machine.Flow, input)
	r.limitTime()
}

// newRoot makes the execution that the run is about.
func (r *run) newRoot(input *Payload) *execution {
	now := r.clock.Now()
	if !r.options.StartTime.IsZero() {
		now = r.options.StartTime
	}
	x := newExecution(r, r.options.Execution, ExecutionARN(r.options), now, input)
	x.definition = map[string]any{
		"Id":   arn(r.options, "stateMachine") + r.options.StateMachine,
		"Name": r.options.StateMachine,
	}
	x.result.Visits, x.result.Edges, x.result.Calls = map[string]int{}, map[Edge]int{}, map[string]int{}
	x.ended = func() { r.stop() }
	r.root = x
	return x
}

// limitTime ends the execution when its time is over.
func (r *run) limitTime() {
	limit := asl.MaxStandardTime
	if r.options.Express {
		limit = asl.MaxExpressTime
	}
	if own := time.Duration(r.machine.TimeoutSeconds) * time.Second; own > 0 {
		limit = min(limit, own)
	}
	r.after(limit, func() { r.root.timeOut() })
}

// driveVirtual runs what the clock has, in order of time.
func (r *run) driveVirtual() {
	for !r.over {
		if r.caller.Err() != nil {
			r.abort()
			return
		}
		f := r.clock.next()
		if f == nil {
			r.fail(errors.New("the run has nothing left to do but has not ended"))
			return
		}
		r.guard(f)
	}
}

// driveReal runs what timers and handlers leave in the mailbox.
func (r *run) driveReal() {
	for !r.over {
		select {
		case <-r.caller.Done():
			r.abort()
		case <-r.mailbox.filled:
			for _, f := range r.mailbox.empty() {
				if !r.over {
					r.guard(f)
				}
			}
		}
	}
}

func (r *run) abort() {
	r.root.abort()
}

// guard runs f, and ends the run where f panics. A panic of a function of
// the caller goes on.
func (r *run) guard(f func()) {
	defer func() {
		if r.inCaller || r.root == nil {
			return
		}
		if value := recover(); value != nil {
			state := ""
			if r.current != nil {
				state = r.current.state.Name
			}
			r.fail(&InternalError{State: state, Value: value, Stack: debug.Stack()})
		}
	}()
	f()
}

// handle calls a handler on the goroutine of Run.
func (r *run) handle(h Handler, call Call) (reply Reply, err error) {
	r.calling(func() { reply, err = h(r.ctx, call) })
	return reply, err
}

// calling calls a function of the caller.
func (r *run) calling(f func()) {
	r.inCaller = true
	f()
	r.inCaller = false
}

// after calls f on the goroutine of Run once d has passed, unless the run is
// over by then.
func (r *run) after(d time.Duration, f func()) (stop func()) {
	if r.over {
		return func() {}
	}
	number := r.timerNumber
	r.timerNumber++
	fire := func() {
		delete(r.timers, number)
		if !r.over {
			f()
		}
	}
	stopTimer := r.timer(d, fire)
	r.timers[number] = stopTimer
	return func() {
		delete(r.timers, number)
		stopTimer()
	}
}

// timer starts a timer of the clock that calls f on the goroutine of Run.
func (r *run) timer(d time.Duration, f func()) (stop func() bool) {
	if r.clock.Virtual() {
		return r.clock.AfterFunc(d, f)
	}
	r.others.Add(1)
	stopTimer := r.clock.AfterFunc(d, func() {
		defer r.others.Done()
		r.mailbox.put(f)
	})
	return func() bool {
		stopped := stopTimer()
		if stopped {
			r.others.Done()
		}
		return stopped
	}
}

// fail ends the run with a Go error.
func (r *run) fail(err error) {
	r.broken = err
	r.stop()
}

func (r *run) stop() {
	r.over = true
	r.root.over = true
	for _, stopTimer := range r.timers {
		stopTimer()
	}
	clear(r.timers)
}
