package sim

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// strand is one line of execution through a flow of states. It never blocks:
// where time must pass it leaves a continuation with the run.
type strand struct {
	x          *execution
	flow       *asl.Flow
	variables  *variables
	iterations []int // see Call
	last       int64 // number of its last event

	finished func(output *Payload)
	failed   func(*failure)

	dead    bool   // what is around it has ended
	pending *timer // what it waits for
	over    bool   // it has finished

	// Of the state that it is in:
	state       *asl.State
	input       *Payload // as it came, before InputPath
	before      int64    // number of the event before it was entered
	entered     int64    // number of the event
	inside      bool     // it has entered the state and not left it
	enteredTime time.Time
	retries     []int64 // by retrier
	retryCount  int
	token       string                 // of the Task
	object      map[string]any         // the context object, which nobody changes
	made        moment                 // what it is of
	item        map[string]any         // of the Map, while its items are made
	attempt     interface{ abandon() } // of the Task
	inner       inside                 // the branches or iterations of the state
	pause       *pause                 // of a Wait state, or before a retry; nil: none
	probe       watcher                // of a state that is tested alone
}

// inside is what runs inside of a state: the branches of a Parallel or the
// iterations of a Map.
type inside interface {
	kill()    // stops it without a trace
	release() // gives the room of its variables back
}

// steps are what a strand does with a state, whatever its type.
type steps interface {
	enter(s *strand, since time.Time) // enters the state, with its EnteredTime
	work(s *strand)                   // does what the state is for, once more on each retry
}

// watcher is the test of a state that runs alone. It sees the data on its way
// through the state, and takes the place of what lies outside of it.
type watcher interface {
	inspect(name string, p *Payload)
	contextObject() map[string]any // nil: that of the execution
	mockParallel(s *strand) *failure
	mockMap(s *strand, c *composite, items []any, d data) *failure
	retry(s *strand, i int, f *failure) bool
	catch(i int, f *failure)
	leave(s *strand, output *Payload, e exit)
}

func newStrand(x *execution, flow *asl.Flow, v *variables) *strand {
	return &strand{x: x, flow: flow, variables: v}
}

func (s *strand) record(t EventType, d Details) {
	if id := s.x.record(t, s.last, d); id > 0 {
		s.last = id
	}
}

// alive tells whether the strand may go on.
func (s *strand) alive() bool { return !s.dead && !s.x.over && !s.x.run.over }

// after calls f once d has passed, if the strand is alive by then.
func (s *strand) after(d time.Duration, f func()) {
	s.pending = s.x.run.after(d, func() {
		s.pending = nil
		if s.alive() {
			s.x.run.current = s
			f()
		}
	})
}

// pause is a time for which a strand waits, and what it does then.
type pause struct {
	until time.Time
	end   func()
}

// wait calls f once d has passed, or when somebody ends the wait.
func (s *strand) wait(d time.Duration, f func()) {
	s.x.run.tellWait(d)
	end := func() {
		s.pause = nil
		f()
	}
	s.pause = &pause{s.x.run.now.Add(max(d, 0)), end}
	s.after(d, end)
}

// skip ends the wait of the strand.
func (s *strand) skip() {
	s.x.run.drop(s.pending)
	s.after(0, s.pause.end)
}

// kill stops the strand and all inside of it.
func (s *strand) kill() {
	s.dead, s.pause = true, nil
	if s.pending != nil {
		s.x.run.drop(s.pending)
		s.pending = nil
	}
	if s.attempt != nil {
		s.attempt.abandon()
	}
	if s.inner != nil {
		s.inner.kill()
	}
}

// goTo enters the state as soon as what else is due at this instant has run.
func (s *strand) goTo(name string, input *Payload) {
	s.leaveInside()
	s.state, s.input = s.flow.State(name), input
	s.after(0, s.enter)
}

// leaveInside forgets the branches or iterations of the state, and gives the
// room of their variables back.
func (s *strand) leaveInside() {
	if s.inner != nil {
		s.inner.release()
	}
	s.inner = nil
}

// release gives the room of the variables of the strand back, and of those
// inside of it.
func (s *strand) release() {
	s.variables.release()
	s.leaveInside()
}

// enter enters the state that the strand is at.
func (s *strand) enter() { s.x.run.steps.enter(s, s.x.run.now) }

// jsonata tells whether the strand is in a state in JSONata mode.
func (s *strand) jsonata() bool { return s.state.QueryLanguage == asl.JSONata }

// context is the context object of the state that the strand is in.
func (s *strand) context() map[string]any {
	name := s.state.Name
	if s.probe != nil {
		if object := s.probe.contextObject(); object != nil {
			return object
		}
		name = asl.LoneState // whatever its name
	}
	at := moment{s.x.run, s.state, s.enteredTime, s.retryCount, s.token}
	if s.object != nil && s.made == at && s.item == nil {
		return s.object
	}
	state := map[string]any{"Name": name, "EnteredTime": formatTime(s.enteredTime)}
	if works(s.state) {
		state["RetryCount"] = json.Number(strconv.Itoa(s.retryCount))
	}
	object := map[string]any{"Execution": s.x.result.context, "State": state, "StateMachine": s.x.machineObject()}
	if s.token != "" {
		object["Task"] = map[string]any{"Token": s.token}
	}
	if s.item != nil {
		object["Map"] = map[string]any{"Item": s.item}
		return object
	}
	s.object, s.made = object, at
	return object
}

// moment is what the context object of a strand depends on, besides the item of a
// Map.
type moment struct {
	run     *run
	state   *asl.State
	entered time.Time
	retries int
	token   string
}

// works tells whether a state can be retried.
func works(s *asl.State) bool {
	return s.Type == asl.TypeTask || s.Type == asl.TypeParallel || s.Type == asl.TypeMap
}

// inspect shows the test of a state a value on its way through the state.
func (s *strand) inspect(name string, p *Payload) {
	if s.probe != nil && p != nil {
		s.probe.inspect(name, p)
	}
}

// inspectAfter shows it what a field makes of the data.
func (s *strand) inspectAfter(field string, p *Payload) {
	if s.probe != nil {
		s.inspect("after"+field, p)
	}
}

// begin records the start and schedules the first state.
func (x *execution) begin(flow *asl.Flow, input *Payload) {
	o := &x.run.options
	started := Details{Input: input, RoleArn: o.Role}
	if x == x.run.root {
		started.VersionArn, started.AliasArn = o.VersionARN, o.AliasARN
		started.Input = cmp.Or(x.run.given, input)
	}
	x.tellStanding()
	x.record(ExecutionStarted, 0, started)
	s := newStrand(x, flow, newVariables(nil))
	x.result.root, x.inner = s, s
	x.follow(s)
	if at := x.run.beginning; at != nil && x == x.run.root {
		s.variables.assign(at.variables)
		s.goTo(at.state, at.input)
		return
	}
	s.goTo(flow.StartAt, input)
}

// follow ends the execution with the strand.
func (x *execution) follow(s *strand) {
	s.finished = func(output *Payload) {
		if !x.over {
			x.result.Output = output.JSON()
		}
		x.end(StatusSucceeded, ExecutionSucceeded, s.last, Details{Output: output})
	}
	s.failed = func(f *failure) {
		x.end(StatusFailed, ExecutionFailed, s.last, Details{Error: f.name, Cause: f.cause})
	}
}
