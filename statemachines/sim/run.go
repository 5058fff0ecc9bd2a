package sim

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// run is an execution under way, with its child executions. It is one actor of its
// clock: whoever touches it holds the actor's lock.
type run struct {
	actor   actor
	world   *World          // nil: one call of Run drives it
	ctx     context.Context //nolint:containedctx // of its handlers
	caller  context.Context //nolint:containedctx // the one given to Run
	machine *asl.StateMachine
	shared  *machineData
	options Options
	clock   *Clock
	others  *sync.WaitGroup // goroutines of handlers
	random  *randomState
	// beginning is where the execution begins; nil: at StartAt.
	beginning *beginning
	now       time.Time // of the function that runs
	calls     []func()  // of handlers, which follow the function that runs

	current  *strand // that runs
	inCaller bool    // a function of the caller runs
	root     *execution
	steps    steps
	number   int64                     // in the World, by start
	fired    int64                     // timers
	kept     int64                     // timers that the journal tells of
	called   int                       // handlers
	attempts int                       // of Tasks
	replay   *replay                   // while the journal of the World is replayed
	abort    func()                    // of the root
	breakOff func(cause error) *Result // of the root; nil before there is one
	broken   error
	over     bool
	timers   []*timer // that wait
	burst    burst
	packer   *packer  // nil: payloads are kept as values
	given    *Payload // the input as it was written; nil where that is the compact text
	bytes    int64    // that its executions keep, about
}

// burst are the timers of a run of a World while a worker runs its functions: the clock
// learns of them behind the last.
type burst struct {
	at      time.Time
	open    bool     // the worker is at it
	follow  bool     // what is due at once follows in the burst
	now     []*timer // functions to run
	later   []*timer // timers to set
	stopped []*timer // timers of the clock to stop
	holds   int      // calls that began
}

// act runs a function that is due, and then the handlers that it calls.
func (r *run) act(at time.Time, f func()) { r.fire(&timer{at: at}, f) }

// fire runs the function of a timer, and then the handlers that it calls.
func (r *run) fire(t *timer, f func()) {
	for _, call := range r.perform(t, f) {
		call()
	}
}

// perform runs the function of a timer, and returns the handlers that it calls on this
// goroutine.
func (r *run) perform(t *timer, f func()) (calls []func()) {
	r.actor.mu.Lock()
	defer r.actor.mu.Unlock()
	r.moveTo(t.at)
	r.guard(t, f)
	calls, r.calls = r.calls, nil
	return calls
}

func (r *run) moveTo(at time.Time) {
	if at.After(r.now) {
		r.now = at
	}
}

// guard runs the function f of a timer, and ends the run where f panics. A panic of a
// function of the caller goes on.
func (r *run) guard(t *timer, f func()) {
	defer func() {
		if r.inCaller || r.root == nil {
			return
		}
		if value := recover(); value != nil {
			r.fail(r.defect(value))
		}
	}()
	if t.counted {
		if r.forget(t); r.over {
			return
		}
		r.fired++
	}
	f()
}

// guardTimer calls a timer of the caller, and ends the run where that panics.
func (r *run) guardTimer(f func()) {
	defer func() {
		if value := recover(); value != nil {
			err := r.defect(value)
			r.act(r.now, func() { r.fail(err) })
		}
	}()
	f()
}

func (r *run) defect(value any) error {
	state := ""
	if r.current != nil {
		state = r.current.state.Name
	}
	return &InternalError{State: state, Value: value, Stack: debug.Stack()}
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
		r.calling(func() { r.options.OnWait(r.now.Add(d)) })
	}
}

// after calls f once d has passed, unless the run is over by then.
func (r *run) after(d time.Duration, f func()) *timer {
	if r.over {
		return nil
	}
	t := &timer{at: r.now.Add(max(d, 0)), f: f, actor: &r.actor, index: -1, counted: true, slot: len(r.timers), local: r.burst.open}
	r.timers = append(r.timers, t)
	switch b := &r.burst; {
	case !b.open:
		r.clock.mu.Lock()
		defer r.clock.mu.Unlock()
		r.clock.schedule(t)
	case d <= 0 && b.follow:
		b.now = append(b.now, t)
	default:
		b.later = append(b.later, t)
	}
	return t
}

// drop prevents the call of a timer, which may be nil.
func (r *run) drop(t *timer) {
	switch {
	case t == nil:
	case !r.forget(t): // it has run
	case t.local:
		t.f = nil
	case r.burst.open:
		r.burst.stopped = append(r.burst.stopped, t)
	default:
		r.clock.mu.Lock() // not that of before: a replayed run has changed its clock
		defer r.clock.mu.Unlock()
		r.clock.stop(t)
	}
}

// forget takes a timer out of those that wait, and tells whether it was there.
func (r *run) forget(t *timer) bool {
	if t.slot < len(r.timers) && r.timers[t.slot] == t {
		last := r.timers[len(r.timers)-1]
		r.timers[t.slot], last.slot = last, t.slot
		r.timers[len(r.timers)-1] = nil
		r.timers = r.timers[:len(r.timers)-1]
		return true
	}
	return false
}

// fail ends the run with a Go error: in a World the execution is aborted, with the
// error as its cause.
func (r *run) fail(err error) {
	r.broken = err
	if r.world != nil && r.breakOff != nil {
		r.breakOff(err)
	}
	r.stop()
}

func (r *run) stop() {
	r.over = true
	r.root.over = true
	for len(r.timers) > 0 {
		r.drop(r.timers[len(r.timers)-1])
	}
	r.timers = nil
	if r.packer != nil {
		*r.packer = packer{} // a redrive begins anew
	}
}
