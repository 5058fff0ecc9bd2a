package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// The defaults of Options.
const (
	DefaultRegion       = "us-east-1"
	DefaultAccount      = "123456789012"
	DefaultStateMachine = "StateMachine"
	defaultExecution    = "execution-1"
)

// DefaultStart is where the virtual clock of a run without a Clock starts.
func DefaultStart() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// Call is one call of a Task, or of the reader of a Map's items.
type Call struct {
	Resource   string         // as written in the definition
	State      string         // name of the state
	Arguments  any            // the Task's effective input; numbers are json.Number; not to be changed
	Context    map[string]any // the context object of this state, which "$$" names; not to be changed
	RetryCount int            // 0 for the first call
	Time       time.Time      // of the call, on the clock of the run
	// TaskToken is what the answer of a ".waitForTaskToken" Task is sent with;
	// empty for any other.
	TaskToken string
	// Answer ends a Task whose handler returns a Reply with Never, as
	// SendTaskSuccess and SendTaskFailure do with its token. The error is as that of
	// a handler. It reports whether the Task waits for an answer. On a virtual clock
	// only what runs on the goroutine of Run may call it: a handler, or a timer of
	// the clock. In a World any goroutine may. The latency of the Reply is ignored.
	Answer func(Reply, error) (waits bool)
	// Credentials are those of the definition, evaluated; nil if it has none.
	Credentials any
	// Iterations holds the index in each Map and the number of the branch in
	// each Parallel around the state, the outermost first.
	Iterations []int
}

// Reply is the result of a call.
type Reply struct {
	// Output is what the Task returns: any value that encoding/json takes. It
	// belongs to the run from then on.
	Output any
	// Latency is how long the call took besides. Run ignores it on a clock that is
	// not virtual.
	Latency time.Duration
	// Submitted is what the service answered to the request of a ".sync" or
	// ".waitForTaskToken" Task; Output and Latency are then about the end of the
	// job, or what came back with the token.
	Submitted any
	// Never is set if the handler does not answer the Task: only Call.Answer, its
	// token, its timeout, its heartbeat or the end of the run ends it.
	Never bool
	// Inside is set beside Never if the answer comes from another execution of the
	// World, or does not come: the Task does not hold a virtual clock then. Otherwise a
	// Task with a token does, in a World.
	Inside bool
	// HeartbeatEvery is the interval of the heartbeats that come without
	// SendTaskHeartbeat; 0 if there are none.
	HeartbeatEvery time.Duration
}

// Handler does the work of a Task. An error that is a *TaskError is the Task's
// failure with that error name and cause; any other error ends Run with a Go
// error: a broken test set-up, not a failed execution.
//
// On a virtual clock a handler of Run runs on the goroutine of Run, one at a time. It
// may block in real time, but not wait for a timer of the clock; it may call Run with
// the same clock. On any other clock, and in a World, it runs on a goroutine of its own;
// ctx ends with the Task and with the run, which waits for the handler to return. The
// Latency of the reader of items does not count.
//
// In a World any other error, and a panic, fails the Task with States.TaskFailed.
type Handler func(ctx context.Context, call Call) (Reply, error)

// TaskError is the failure of a Task. A Name of States.Timeout is a Task that
// timed out. A Name may be empty only if a token came back with no error.
type TaskError struct {
	Name, Cause string
	Latency     time.Duration // as in Reply
	Submitted   any           // as in Reply; nil, without a Latency, if the request itself failed
}

func (e *TaskError) Error() string { return e.Name + ": " + e.Cause }

// Options are the circumstances of a run. The zero value is good for a
// definition without Tasks.
type Options struct {
	Clock         *Clock             // nil: a virtual clock at DefaultStart
	Handlers      map[string]Handler // by resource ARN as written in the definition
	StateHandlers map[string]Handler // by name of the state; they win over Handlers
	Handler       Handler            // of all Tasks that neither has one for; nil: Run refuses them
	Execution     string             // name; default "execution-1"
	ARN           string             // of the execution; empty: made of the names
	StateMachine  string             // name; default DefaultStateMachine
	Region        string             // default DefaultRegion
	Account       string             // default DefaultAccount
	Role          string             // ARN of the execution's role; default: one named after the state machine
	VersionARN    string             // of the state machine, for the history; empty: none
	AliasARN      string             // of the state machine, for the history; empty: none
	Express       bool               // run as an Express workflow: no limit of events, five minutes at most
	Sync          bool               // a synchronous Express execution, whose context object has no RedriveCount
	Seed          uint64             // of the jitter of retries and all else that is random
	StartTime     time.Time          // what the context object says of the start, for a run that goes on with another; zero: the clock's time
	// Begin is where Run begins instead of at StartAt with the input: in the middle of an
	// execution that began at StartTime.
	Begin     *Beginning
	MaxEvents int // of the history of an execution; 0: asl.MaxEvents; negative: none
	// Note is kept with the start of an execution in the journal of its World: JSON.
	Note []byte
	// Repeat tells whether Replay calls the handler of a call again: one that is
	// deterministic and counts its calls, as a mock does. What it returns is dropped if
	// the journal has the reply.
	Repeat func(Call) bool
	// Resume is called after a replay for each Task that waits for its Answer, with the
	// context of its call and with what its handler returned.
	Resume func(context.Context, Call, Reply)
	// OnStanding is called where a World starts the execution, or replays its start, and
	// where it ends or is redriven: when that is kept, and before OnEvent of the World is
	// told of it. The execution is locked meanwhile, as in OnEvent.
	OnStanding func(*Execution, Standing)
	// KeepEvents is how many events of an execution that has ended its Result keeps:
	// 0 for all, n for the last n, or KeepNoEvents.
	KeepEvents int
	// Models are the APIs of services, by which the arguments of integrations are
	// checked before a Task starts, as AWS does; models.Load of
	// pollcore/catalog/models has all of AWS's. Nil checks nothing.
	Models typecheck.Models
	// Lenient checks no more than AWS does before a Task starts. Otherwise Run ends
	// with a *ModelError where arguments lack what the Models require, or where a
	// handler returns what the service never does.
	Lenient bool
	// OnMisfit is asked, on the goroutine of Run, about a result that the Models do not
	// know: if it returns true, the run goes on. Nil ends the run. A service that was
	// called is right, where its model is old; a mock is wrong.
	OnMisfit func(*ModelError) bool
	OnEvent  func(Event) // is called for every event of the execution's own history, on the goroutine of Run, in order
	// OnWait is called where a Wait state or a retry begins to wait, with the time at
	// which it goes on, on the goroutine of Run.
	OnWait func(until time.Time)

	budget budget // zero: wholeBudget
}

// Beginning is a state of the outermost flow, with what it has when it is entered.
type Beginning struct {
	State     string
	Input     json.RawMessage
	Variables map[string]json.RawMessage
}

// ExecutionARN returns the ARN of the execution that Run makes with the
// options. That of an Express workflow has one part more, which is made up.
func ExecutionARN(o Options) string {
	o.fill()
	if o.ARN != "" {
		return o.ARN
	}
	if o.Express {
		return arn(o, "express") + o.StateMachine + ":" + o.Execution + ":" + uuidOf(o.StateMachine, o.Execution)
	}
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
		if utf8.RuneCountInString(option.value) > asl.MaxNameLength || strings.ContainsFunc(option.value, notInName) {
			return fmt.Errorf("option %s: %q is not a name: AWS allows at most %d characters, without white space, control characters and any of %s",
				option.name, option.value, asl.MaxNameLength, forbiddenInName)
		}
	}
	if o.Clock == nil {
		o.Clock = NewVirtualClock(DefaultStart())
	}
	if o.budget == (budget{}) {
		o.budget = wholeBudget
	}
	switch {
	case o.MaxEvents < 0, o.Express && o.MaxEvents == 0:
		o.MaxEvents = unlimitedEvents
	case o.MaxEvents == 0:
		o.MaxEvents = asl.MaxEvents
	}
	return nil
}

const unlimitedEvents = 1 << 40

// mostEvents is how many events a history has that nothing else limits: a loop
// that takes no time would fill the memory.
const mostEvents = 250_000

// Names of executions and state machines, by the API reference of
// StartExecution.
const forbiddenInName = "<>{}[]?*\"#%\\^|~`$&,;:/"

func notInName(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(forbiddenInName, r)
}

func (o *Options) fill() {
	for _, option := range []struct {
		value *string
		other string
	}{
		{&o.Execution, defaultExecution},
		{&o.StateMachine, DefaultStateMachine},
		{&o.Region, DefaultRegion},
		{&o.Account, DefaultAccount},
	} {
		if *option.value == "" {
			*option.value = option.other
		}
	}
	if o.Role == "" {
		o.Role = "arn:aws:iam::" + o.Account + ":role/" + o.StateMachine
	}
}

// handler is what runs a Task, or nil.
func (o *Options) handler(state, resource string) Handler {
	if h := o.ownHandler(state, resource); h != nil {
		return h
	}
	return o.Handler
}

// ownHandler is the handler of a state or resource, or nil.
func (o *Options) ownHandler(state, resource string) Handler {
	if h := o.StateHandlers[state]; h != nil {
		return h
	}
	return o.Handlers[resource]
}
