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
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The defaults of Options.
const (
	DefaultRegion       = "us-east-1"
	DefaultAccount      = "123456789012"
	DefaultStateMachine = "StateMachine"
	DefaultExecution    = "execution-1"
)

// DefaultStart is where the virtual clock of a run without a Clock starts.
var DefaultStart = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// usdPerTransition is the price of a state transition of a Standard workflow
// in us-east-1.
const usdPerTransition = 0.025 / 1000

// Call is one call of a Task.
type Call struct {
	Resource   string         // as written in the definition
	State      string         // name of the Task state
	Arguments  any            // the Task's effective input, after InputPath and Parameters; numbers are json.Number; not to be changed
	Context    map[string]any // the context object of this state, which "$$" names; not to be changed
	RetryCount int            // 0 for the first call
}

// Reply is the result of a call.
type Reply struct {
	// Output is what the Task returns: any value that encoding/json takes. It
	// belongs to the run from then on.
	Output any
	// Latency is how long the call took on a virtual clock. A real clock
	// ignores it.
	Latency time.Duration
}

// Handler does the work of a Task. An error that is a *TaskError is the Task's
// failure with that error name and cause; any other error ends Run with a Go
// error: a broken test set-up, not a failed execution.
//
// On a virtual clock a handler runs on the goroutine of Run, one at a time. It
// may block in real time, but not wait for a timer of the clock. On a real
// clock it runs on a goroutine of its own; ctx ends at the Task's timeout and
// at the end of the run, which waits for the handler to return.
type Handler func(ctx context.Context, call Call) (Reply, error)

// TaskError is the failure of a Task. A Name of States.Timeout is a Task that
// timed out.
type TaskError struct {
	Name, Cause string
	Latency     time.Duration // as in Reply
}

func (e *TaskError) Error() string { return e.Name + ": " + e.Cause }

// Options are the circumstances of a run. The zero value is good for a
// definition without Tasks.
type Options struct {
	Clock        *Clock             // nil: a virtual clock at DefaultStart
	Handlers     map[string]Handler // by resource ARN as written in the definition
	Execution    string             // name; default DefaultExecution
	StateMachine string             // name; default DefaultStateMachine
	Region       string             // default DefaultRegion
	Account      string             // default DefaultAccount
	Seed         uint64             // of the jitter of retries
	StartTime    time.Time          // what the context object says of the start, for a run that goes on with another; zero: the clock's time
	OnEvent      func(Event)        // is called for every event of the history, on the goroutine of Run, in order
}

// Status is the status of an execution that has ended.
type Status string

// The statuses.
const (
	StatusSucceeded Status = "SUCCEEDED"
	StatusFailed    Status = "FAILED"
	StatusTimedOut  Status = "TIMED_OUT"
	StatusAborted   Status = "ABORTED" // the context of Run ended
)

// Result is an execution that has ended.
type Result struct {
	ExecutionARN string
	Status       Status
	Output       json.RawMessage // of SUCCEEDED
	Error, Cause string          // of FAILED; empty where AWS has none
	Start, Stop  time.Time
	// Transitions is what AWS bills for a Standard workflow: one for every
	// state entered and one for every retry.
	Transitions int
	Events      []Event
}

// Elapsed returns how long the execution took on its clock.
func (r *Result) Elapsed() time.Duration { return r.Stop.Sub(r.Start) }

// CostUSD returns the price of the transitions as a Standard workflow in
// us-east-1, $0.025 per 1,000. The free tier is not counted.
func (r *Result) CostUSD() float64 { return float64(r.Transitions) * usdPerTransition }

// run is an execution under way. All of it belongs to the goroutine of Run;
// on a real clock timers and handlers reach it through the mailbox.
type run struct {
	ctx     context.Context //nolint:containedctx // a run is one call of Run; this one ends with it
	caller  context.Context //nolint:containedctx // the one given to Run
	machine *asl.StateMachine
	options Options
	clock   *Clock
	mailbox *mailbox
	others  sync.WaitGroup // goroutines of handlers and timers on a real clock
	random  *rand.Rand

	execution   map[string]any // the part of the context object that stays
	definition  map[string]any
	result      *Result
	over        bool
	broken      error
	timers      map[uint64]func() bool // by number: what stops the timers that wait
	timerNumber uint64
}

// Run executes the machine, which comes from asl.Parse, with the input, and
// returns how it ended; an empty input is an empty object. The execution's
// failure is a Result and not an error. Errors: *ResourceError if a Task cannot
// be run, *InputSizeError, asl.Problems if the input is not JSON, ErrClockBusy,
// and what a handler returned that is not a *TaskError. When ctx ends the
// execution is ABORTED.
func Run(ctx context.Context, m *asl.StateMachine, input []byte, o Options) (*Result, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := checkResources(m, o.Handlers); err != nil {
		return nil, err
	}
	payload, err := readInput(input)
	if err != nil {
		return nil, err
	}
	if o.Clock.Virtual() {
		release, ok := o.Clock.drive()
		if !ok {
			return nil, ErrClockBusy
		}
		defer release()
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{
		ctx: inner, caller: ctx, machine: m, options: o, clock: o.Clock, mailbox: newMailbox(),
		random: rand.New(rand.NewPCG(o.Seed, 0)), //nolint:gosec // jitter, repeatable by design
		timers: map[uint64]func() bool{},
	}
	r.start(payload) //nolint:contextcheck // handlers get the run's own context
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
	return r.result, nil
}

// ExecutionARN returns the ARN of the execution that Run makes with the options.
func ExecutionARN(o Options) string {
	o.fill()
	return arn(o, "execution") + o.StateMachine + ":" + o.Execution
}

func arn(o Options, kind string) string {
	return "arn:aws:states:" + o.Region + ":" + o.Account + ":" + kind + ":"
}

// complete fills in the defaults and checks the names.
func (o *Options) complete() error {
	o.fill()
	for _, option := range []struct{ name, value string }{
		{"Execution", o.Execution}, {"StateMachine", o.StateMachine}, {"Region", o.Region}, {"Account", o.Account},
	} {
		if utf8.RuneCountInString(option.value) > maxName || strings.ContainsFunc(option.value, notInName) {
			return fmt.Errorf("option %s: %q is no name: AWS allows at most %d characters, without white space, control characters and any of %s",
				option.name, option.value, maxName, forbiddenInName)
		}
	}
	if o.Clock == nil {
		o.Clock = NewVirtualClock(DefaultStart)
	}
	return nil
}

// Names of executions and state machines, by the API reference of
// StartExecution.
const (
	maxName         = 80
	forbiddenInName = "<>{}[]?*\"#%\\^|~`$&,;:/"
)

func notInName(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forbiddenInName, r)
}

func (o *Options) fill() {
	for _, option := range []struct {
		value *string
		other string
	}{
		{&o.Execution, DefaultExecution},
		{&o.StateMachine, DefaultStateMachine},
		{&o.Region, DefaultRegion},
		{&o.Account, DefaultAccount},
	} {
		if *option.value == "" {
			*option.value = option.other
		}
	}
}

func readInput(input []byte) (*Payload, error) {
	if len(input) == 0 {
		return emptyObject(), nil
	}
	if len(input) > MaxPayloadBytes {
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
	role := "arn:aws:iam::" + r.options.Account + ":role/" + r.options.StateMachine
	now := r.clock.Now()
	r.result = &Result{ExecutionARN: ExecutionARN(r.options), Start: now}
	if !r.options.StartTime.IsZero() {
		now = r.options.StartTime
	}
	r.execution = map[string]any{
		"Id": r.result.ExecutionARN, "Input": input.Value(), "Name": r.options.Execution,
		"RoleArn": role, "StartTime": formatTime(now), "RedriveCount": json.Number("0"),
	}
	r.definition = map[string]any{
		"Id":   arn(r.options, "stateMachine") + r.options.StateMachine,
		"Name": r.options.StateMachine,
	}
	r.record(ExecutionStarted, 0, Details{Input: input, RoleArn: role})
	if r.machine.TimeoutSeconds > 0 {
		r.after(time.Duration(r.machine.TimeoutSeconds)*time.Second, func() {
			r.end(StatusTimedOut, ExecutionTimedOut, r.lastEvent(), Details{})
		})
	}
	s := &strand{run: r, flow: &r.machine.Flow}
	s.finished = func(output *Payload) {
		if !r.over {
			r.result.Output = output.JSON()
		}
		r.end(StatusSucceeded, ExecutionSucceeded, s.last, Details{Output: output})
	}
	s.failed = func(f *failure) {
		r.end(StatusFailed, ExecutionFailed, s.last, Details{Error: f.name, Cause: f.cause})
	}
	s.goTo(r.machine.StartAt, input)
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
		f()
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
					f()
				}
			}
		}
	}
}

func (r *run) abort() { r.end(StatusAborted, ExecutionAborted, r.lastEvent(), Details{}) }

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

// record appends an event to the history and returns its number, or 0 if the
// run is over. An event that the limit leaves no room for ends the run.
func (r *run) record(t EventType, previous int64, d Details) int64 {
	if r.over {
		return 0
	}
	if len(r.result.Events) == MaxEvents-1 {
		r.end(StatusFailed, ExecutionFailed, r.lastEvent(), Details{
			Error: errorRuntime,
			Cause: fmt.Sprintf("The execution reached the maximum number of history events (%d).", MaxEvents),
		})
		return 0
	}
	return r.write(t, previous, d)
}

func (r *run) write(t EventType, previous int64, d Details) int64 {
	e := Event{ID: r.lastEvent() + 1, PreviousEventID: previous, Timestamp: r.clock.Now(), Type: t, Details: d}
	r.result.Events = append(r.result.Events, e)
	if r.options.OnEvent != nil {
		r.options.OnEvent(e)
	}
	return e.ID
}

func (r *run) lastEvent() int64 { return int64(len(r.result.Events)) }

// end closes the history.
func (r *run) end(status Status, t EventType, previous int64, d Details) {
	if r.over {
		return
	}
	r.write(t, previous, d)
	r.result.Status, r.result.Error, r.result.Cause = status, d.Error, d.Cause
	r.result.Stop = r.result.Events[len(r.result.Events)-1].Timestamp
	r.stop()
}

// fail ends the run with a Go error.
func (r *run) fail(err error) {
	r.broken = err
	r.stop()
}

func (r *run) stop() {
	r.over = true
	for _, stopTimer := range r.timers {
		stopTimer()
	}
	clear(r.timers)
}
