package sim

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// World runs any number of executions at the same time, on one clock. It is safe for
// concurrent use. Its goroutines end with Close.
type World struct {
	options WorldOptions
	clock   *Clock
	ctx     context.Context //nolint:containedctx // of all handlers; it ends with Close
	cancel  context.CancelCauseFunc
	workers sync.WaitGroup
	calls   sync.WaitGroup // handlers in flight

	mu         sync.RWMutex
	closed     bool
	executions map[string]*Execution // by ARN, child executions with them
	mapRuns    map[string]*LiveMapRun
	machines   map[*asl.StateMachine]*machineData

	tasks tasks

	starts   atomic.Int64
	replayed replayed
}

// WorldOptions are the circumstances of a World. The zero value is good.
type WorldOptions struct {
	Clock   *Clock // nil: NewRealClock
	Workers int    // goroutines that work on executions; 0: one a processor
	// OnEvent is called for every event of every execution, child executions with them,
	// in the order of each. The execution is locked meanwhile: OnEvent must be quick, and
	// must call neither the execution nor the World. It must not change the event.
	OnEvent func(*Execution, *Event)
	// OnEnd is called when an execution has ended, but for the child executions of Maps. It
	// may look at the execution, and answer Tasks of others; a virtual clock stands still
	// meanwhile. It must be quick.
	OnEnd func(*Execution)
	// HasActivity tells whether there is an activity; nil: there is every one. A Task
	// of one that there is not fails.
	HasActivity func(arn string) bool
	// Journal keeps what comes from outside, for Replay; nil: nothing does.
	Journal Journal
}

// Errors of a World.
var (
	ErrWorldClosed     = errors.New("the world of the execution is closed")
	ErrExecutionExists = errors.New("there is an execution with this ARN already")
)

// NewWorld returns a World without executions. Close it.
func NewWorld(o WorldOptions) *World {
	if o.Clock == nil {
		o.Clock = NewRealClock()
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	w := &World{
		options: o, clock: o.Clock, executions: map[string]*Execution{}, mapRuns: map[string]*LiveMapRun{},
		machines: map[*asl.StateMachine]*machineData{}, tasks: newTasks(),
	}
	w.ctx, w.cancel = context.WithCancelCause(context.Background())
	context.AfterFunc(w.ctx, w.clock.rouse)
	if o.Journal != nil {
		w.clock.tellMoves(func(to time.Time) error {
			w.append(&record{Kind: clockRecord, At: to})
			return w.failure()
		})
	}
	w.clock.employ(o.Workers)
	for range o.Workers {
		w.workers.Go(func() { w.clock.serve(w.ctx) })
	}
	return w
}

// Close ends all goroutines of the World: it halts it with ErrWorldClosed, and waits for
// handlers.
func (w *World) Close() {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	w.Halt(ErrWorldClosed)
	w.mu.Unlock()
	w.workers.Wait()
	w.calls.Wait()
	if first {
		w.clock.employ(-w.options.Workers)
	}
}

// Clock returns the clock of the World.
func (w *World) Clock() *Clock { return w.clock }

// Start starts an execution of the machine, which comes from asl.Parse, with the
// input, and returns when its start is recorded; an empty input is an empty object.
// Clock, OnEvent and OnWait of the options play no part. Errors: *InputSizeError,
// diag.Problems if the input is not JSON or the definition cannot be run as it is,
// ErrExecutionExists, and ErrWorldClosed.
func (w *World) Start(m *asl.StateMachine, input []byte, o Options) (*Execution, error) {
	o.Clock = w.clock
	w.clock.hold() // so that it starts when it is made
	defer w.clock.endCall()
	r, x, payload, err := w.newRun(m, input, o)
	if err != nil {
		return nil, err
	}
	r.number = w.starts.Add(1)
	r.actor.worker = int(r.number)
	var e *Execution
	w.clock.begin(&r.actor, func() { // it is known from its start on, and not before
		if e, err = w.add(x); err != nil {
			return
		}
		if !r.keep(record{Kind: startRecord, Start: r.startOf(x.result.ExecutionARN, payload)}) {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.executions, x.result.ExecutionARN)
			e, err = nil, w.Err()
			return
		}
		r.start(x, payload)
	})
	if e == nil && err == nil { // nothing starts in a World that stands still
		err = w.Err()
	}
	return e, err
}

// Execution returns an execution by its ARN, also a child execution of a Map; nil if
// there is none.
func (w *World) Execution(arn string) *Execution {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.executions[arn]
}

// Forget drops an execution that has ended, with its Map Runs and child executions.
// It tells whether it did.
func (w *World) Forget(arn string) bool {
	e := w.Execution(arn)
	if e == nil {
		return false
	}
	r := e.x.run
	r.actor.mu.Lock()
	defer r.actor.mu.Unlock()
	if !r.over || e.x != r.root || !r.keep(record{Kind: forgetRecord}) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.executions, arn)
	for _, run := range e.x.result.MapRuns {
		delete(w.mapRuns, run.ARN)
		for _, child := range run.Executions {
			if child != nil {
				delete(w.executions, child.ExecutionARN)
			}
		}
	}
	return true
}

// newRun makes the run of an execution that is to start.
func (w *World) newRun(m *asl.StateMachine, input []byte, o Options) (*run, *execution, *Payload, error) {
	o.OnEvent, o.OnWait = nil, nil
	if err := o.complete(); err != nil {
		return nil, nil, nil, err
	}
	shared, err := w.dataOf(m, &o)
	if err != nil {
		return nil, nil, nil, err
	}
	payload, err := readInput(input)
	if err != nil {
		return nil, nil, nil, err
	}
	r := newRun(m, o, newRandom(o.Seed))
	r.world, r.shared, r.others, r.ctx, r.caller, r.packer = w, shared, &w.calls, w.ctx, w.ctx, &packer{}
	r.keepText(input, payload)
	return r, r.newRoot(payload), payload, nil
}

// keepText keeps an input as it was written, as the service does: it shows it where the
// execution starts.
func (r *run) keepText(text []byte, input *Payload) {
	if len(text) == 0 || bytes.Equal(text, input.JSON()) {
		return
	}
	text = slices.Clone(text)
	r.given = &Payload{value: input.value, size: len(text)}
	r.given.text.Store(&text)
	if len(text) > leastPacked {
		var added int
		r.given, added = r.packer.pack(r.given)
		r.bytes += int64(added)
	}
}

// add makes an execution known.
func (w *World) add(x *execution) (*Execution, error) {
	e := &Execution{world: w, x: x, arn: x.result.ExecutionARN}
	x.handle = e
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.Err() != nil:
		return nil, w.Err()
	case w.executions[x.result.ExecutionARN] != nil:
		return nil, ErrExecutionExists
	}
	w.executions[x.result.ExecutionARN] = e
	return e, nil
}

// addChild makes a child execution of a Map known.
func (w *World) addChild(x *execution) {
	x.handle = &Execution{world: w, x: x, arn: x.result.ExecutionARN}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.executions[x.result.ExecutionARN] = x.handle
}

// dropChild forgets a child execution in whose place another starts.
func (w *World) dropChild(x *execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.executions, x.result.ExecutionARN)
	x.run.bytes -= executionBytes + x.history.bytes
}

func (w *World) addMapRun(r *mapRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mapRuns[r.arn] = &LiveMapRun{r}
}

// mostMachines is how many machines a World keeps data of.
const mostMachines = 10_000

// dataOf is what all executions of a machine share. It checks the machine once.
func (w *World) dataOf(m *asl.StateMachine, o *Options) (*machineData, error) {
	w.mu.RLock()
	data := w.machines[m]
	w.mu.RUnlock()
	if data == nil {
		data = newMachineData()
		w.mu.Lock()
		if known := w.machines[m]; known != nil {
			data = known
		} else {
			if len(w.machines) >= mostMachines {
				clear(w.machines) // they are made anew
			}
			w.machines[m] = data
		}
		w.mu.Unlock()
	}
	return data, data.check(m, o)
}

// ask lets f run for the run, behind all that is due for it, and waits for it. Every
// input from outside to an execution of a World passes here, but for its start and the
// replies of handlers.
func (r *run) ask(f func()) error {
	done := make(chan struct{})
	r.clock.post(&r.actor, func() {
		defer close(done)
		f()
	})
	select {
	case <-done:
		return r.world.failure()
	case <-r.ctx.Done():
		select {
		case <-done:
			return r.world.failure()
		default:
			return cmp.Or(r.world.failure(), ErrWorldClosed)
		}
	}
}

// hasActivity tells whether there is the activity of a Task.
func (a *attempt) hasActivity() bool {
	r, arn := a.strand.x.run, a.strand.state.Task.Resource
	switch has := r.world.options.HasActivity; {
	case r.replay != nil:
		return !r.replay.missing[a.number]
	case has == nil:
		return true
	case has(arn): // which may be deleted before a replay
		r.keepTimers()
		return true
	}
	return !r.keep(record{Kind: missingRecord, Number: a.number})
}
