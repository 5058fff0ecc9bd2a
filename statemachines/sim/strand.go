package sim

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// strand is one line of execution through a flow of states. It never blocks:
// where time has to pass it leaves a continuation with the run.
type strand struct {
	x          *execution
	flow       *asl.Flow
	variables  *variables
	iterations []int // see Call
	last       int64 // number of its last event

	finished func(output *Payload)
	failed   func(*failure)

	dead    bool   // what is around it has ended
	pending func() // stops what it waits for
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
	token       string         // of the Task
	item        map[string]any // of the Map, while its items are made
	attempt     *attempt
	inner       *composite // the branches or iterations of the state
	probe       *probe     // of a state that is tested alone
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

// kill stops the strand and all inside of it.
func (s *strand) kill() {
	s.dead = true
	if s.pending != nil {
		s.pending()
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
		for _, b := range s.inner.branches {
			if b.strand != nil {
				b.strand.release()
			}
		}
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
func (s *strand) enter() { s.enterSince(s.x.run.clock.Now()) }

// enterSince enters a state whose EnteredTime is given.
func (s *strand) enterSince(t time.Time) {
	s.retryCount, s.retries, s.inner, s.attempt, s.token = 0, nil, nil, nil, ""
	s.enteredTime = t
	s.before = s.last
	s.record(EventType(s.state.Type+stateEntered), Details{Name: s.state.Name, Input: s.input})
	s.entered = s.last
	if !s.alive() {
		return
	}
	s.inside = true
	s.x.visit(s.state)
	s.work()
}

// work does what the state is for, once more on each retry.
func (s *strand) work() {
	s.x.run.current = s
	var f *failure
	switch s.state.Type {
	case asl.TypeTask:
		f = s.call()
	case asl.TypeWait:
		f = s.wait()
	case asl.TypeChoice:
		f = s.choose()
	case asl.TypePass:
		f = s.pass()
	case asl.TypeSucceed:
		f = s.succeed()
	case asl.TypeFail:
		f = s.fail()
	case asl.TypeParallel:
		f = s.parallel()
	case asl.TypeMap:
		f = s.mapping()
	}
	s.broke(f)
}

// broke ends the state with a failure, if there is one: it is retried or
// caught, or fails the strand.
func (s *strand) broke(f *failure) {
	if f == nil || !s.alive() {
		return
	}
	if f.evaluation {
		if s.last == s.entered && s.state.Type != asl.TypeWait {
			s.last = s.before // as AWS has it
		}
		s.record(EvaluationFailed, Details{Error: f.name, Cause: f.cause, State: s.state.Name, Location: f.location})
		f.evaluation = false
		if !s.alive() {
			return
		}
	}
	if f = s.handled(f); f != nil && s.alive() {
		s.over = true
		s.failed(f)
	}
}

// exit is a way out of a state.
type exit struct {
	next   string
	kind   asl.TransitionKind
	rule   int
	assign *asl.Template
	output *asl.Template // in JSONata mode
}

// onward is the way out by Next or End.
func (s *strand) onward() exit {
	return exit{next: s.state.Next, assign: s.state.Assign, output: s.state.Output}
}

// pass is what a Pass state does.
func (s *strand) pass() *failure {
	input, f := s.effectiveInput()
	if f != nil {
		return f
	}
	if s.jsonata() {
		return s.leave(data{input: input}, input, s.onward())
	}
	result, f := s.applied("Parameters", s.state.Parameters, data{input: input}, input)
	if p := s.state.Pass; p.HasResult {
		result, f = newPayload(p.Result), nil
		s.inspect("result", result)
	}
	if f != nil {
		return f
	}
	s.inspect("afterResultSelector", result)
	assigned, f := s.assigned(s.state.Assign, data{input: result})
	if f != nil {
		return f
	}
	output, f := s.placed(s.state.ResultPath, result)
	if f != nil {
		return f
	}
	s.inspect("afterResultPath", output)
	if output, f = s.selected(s.state.OutputPath, output); f != nil {
		return f
	}
	return s.exit(output, assigned, s.onward())
}

func (s *strand) succeed() *failure {
	input, f := s.effectiveInput()
	if f != nil {
		return f
	}
	return s.leave(data{input: input}, input, s.onward())
}

// returned goes on with the result of a Task, Parallel or Map.
func (s *strand) returned(result *Payload) *failure {
	s.inspect("result", result)
	if s.jsonata() {
		return s.leave(data{input: s.input, result: result}, result, s.onward())
	}
	result, f := s.applied("ResultSelector", s.state.ResultSelector, data{input: result}, result)
	if f != nil {
		return f
	}
	s.inspect("afterResultSelector", result)
	assigned, f := s.assigned(s.state.Assign, data{input: result})
	if f != nil {
		return f
	}
	output, f := s.placed(s.state.ResultPath, result)
	if f != nil {
		return f
	}
	s.inspect("afterResultPath", output)
	if output, f = s.selected(s.state.OutputPath, output); f != nil {
		return f
	}
	return s.exit(output, assigned, s.onward())
}

// leave ends a state: output is what it gives if no Output says otherwise, and
// before OutputPath.
func (s *strand) leave(d data, output *Payload, e exit) *failure {
	assigned, f := s.assigned(e.assign, d)
	if f != nil {
		return f
	}
	if s.jsonata() {
		output, f = s.applied("Output", e.output, d, output)
	} else {
		output, f = s.selected(s.state.OutputPath, output)
	}
	if f != nil {
		return f
	}
	return s.exit(output, assigned, e)
}

// assigned evaluates Assign.
func (s *strand) assigned(t *asl.Template, d data) (map[string]*Payload, *failure) {
	if t == nil {
		return nil, nil
	}
	if t.Kind == asl.TemplateLiteral {
		object, _ := t.Literal.(map[string]any)
		out := make(map[string]*Payload, len(object))
		for name, value := range object {
			out[name] = newPayload(value)
		}
		return out, nil
	}
	out := make(map[string]*Payload, len(t.Object))
	r := newRoom()
	for _, m := range t.Object {
		value, f := s.filled(m.Value, m.Field, "Assign/"+m.Name, d, r)
		if f != nil {
			return nil, f
		}
		out[m.Name] = newPayload(value)
	}
	return out, nil
}

// exit leaves the state with its final output and goes on with the next
// state, or ends the strand if there is none.
func (s *strand) exit(output *Payload, assigned map[string]*Payload, e exit) *failure {
	if s.tooLarge(output) {
		return tooLarge(s.state.Name, false)
	}
	if len(assigned) > 0 && !s.variables.assign(assigned) {
		return &failure{name: errorDataLimitExceeded, cause: s.at() + "The variables exceed the maximum number of bytes service limit."}
	}
	s.record(EventType(s.state.Type+stateExited), Details{Name: s.state.Name, Output: output, AssignedVariables: assigned})
	if !s.alive() {
		return nil
	}
	if s.probe != nil {
		s.probe.left(s, output, e)
		return nil
	}
	s.inside = false
	s.x.take(Edge{From: s.state.Name, To: e.next, Kind: e.kind, Rule: e.rule})
	if e.next == "" {
		s.over = true
		s.finished(output)
	} else {
		s.goTo(e.next, output)
	}
	return nil
}

// fail returns the failure that a Fail state is.
func (s *strand) fail() *failure {
	d := s.state.Fail
	f := &failure{}
	if !s.jsonata() {
		s.inspect("afterInputPath", s.input)
	}
	for _, part := range []struct {
		scalar *asl.Scalar
		target *string
	}{{d.Error, &f.name}, {d.Cause, &f.cause}} {
		if part.scalar == nil {
			continue
		}
		value, problem := s.scalar(part.scalar, data{input: s.input})
		if problem != nil {
			return problem
		}
		text, ok := value.(string)
		switch {
		case ok:
			*part.target = text
		case part.scalar.Expression != nil:
			return s.unexpected(part.scalar, "string", value, data{})
		default:
			return s.runtimeFailure("The %s parameter does not reference a string: %s == %s",
				part.scalar.Field, source(part.scalar), newPayload(value).JSON())
		}
	}
	return f
}
