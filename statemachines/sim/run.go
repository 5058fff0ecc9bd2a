package sim

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// run is an execution under way, with its child executions. All of it belongs
// to the goroutine of Run; on a real clock timers and handlers reach it through
// the mailbox.
type run struct {
	ctx          context.Context //nolint:containedctx // a run is one call of Run; this one ends with it
	caller       context.Context //nolint:containedctx // the one given to Run
	machine      *asl.StateMachine
	options      Options
	clock        *Clock
	mailbox      *mailbox
	others       sync.WaitGroup // goroutines of handlers and timers on a real clock
	random       *randomState
	apis         map[string]*typecheck.API // by resource
	integrations map[string]*integration   // by resource

	current     *strand // that runs
	inCaller    bool    // a function of the caller runs
	root        *execution
	steps       steps
	abort       func()                    // of the root
	breakOff    func(cause error) *Result // of the root; nil before there is one
	broken      error
	over        bool
	timers      map[uint64]func() bool // by number: what stops the timers that wait
	timerNumber uint64
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
		if r.breakOff == nil {
			return nil, r.broken
		}
		return r.breakOff(r.broken), r.broken
	}
	return r.root.result, nil
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

// tellWait tells the caller that a state waits.
func (r *run) tellWait(d time.Duration) {
	if r.options.OnWait != nil {
		r.calling(func() { r.options.OnWait(r.clock.Now().Add(d)) })
	}
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
