package sim

import (
	"errors"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// strand is one line of execution through a flow of states. It never blocks:
// where time has to pass it leaves a continuation with the run.
type strand struct {
	run  *run
	flow *asl.Flow
	last int64 // number of its last event

	finished func(output *Payload)
	failed   func(*failure)

	// Of the state that it is in:
	state       *asl.State
	input       *Payload // as it came, before InputPath
	entered     int64    // number of the event
	enteredTime time.Time
	retries     []int64 // by retrier
	retryCount  int
}

func (s *strand) record(t EventType, d Details) {
	if id := s.run.record(t, s.last, d); id > 0 {
		s.last = id
	}
}

// goTo enters the state as soon as what else is due at this instant has run.
func (s *strand) goTo(name string, input *Payload) {
	s.run.after(0, func() { s.enter(s.flow.State(name), input) })
}

func (s *strand) enter(state *asl.State, input *Payload) {
	s.state, s.input = state, input
	s.retryCount, s.retries = 0, nil
	s.enteredTime = s.run.clock.Now()
	s.record(EventType(state.Type+stateEntered), Details{Name: state.Name, Input: input})
	s.entered = s.last
	if s.run.over {
		return
	}
	s.run.result.Transitions++
	var f *failure
	switch state.Type {
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
	}
	if f != nil {
		s.failed(f)
	}
}

// leave ends the state with its output, before OutputPath, and goes on with
// the next state, or ends the strand if there is none.
func (s *strand) leave(output *Payload, next string) *failure {
	output, f := s.selected(s.state.OutputPath, output)
	if f != nil {
		return f
	}
	return s.exit(output, next)
}

// exit is leave without OutputPath.
func (s *strand) exit(output *Payload, next string) *failure {
	if output.tooLarge() {
		return tooLarge(s.state.Name, false)
	}
	s.record(EventType(s.state.Type+stateExited), Details{Name: s.state.Name, Output: output})
	if next == "" {
		s.finished(output)
	} else {
		s.goTo(next, output)
	}
	return nil
}

// effectiveInput is the state's input after InputPath.
func (s *strand) effectiveInput() (*Payload, *failure) { return s.selected(s.state.InputPath, s.input) }

// selected applies InputPath or OutputPath.
func (s *strand) selected(path *asl.Path, from *Payload) (*Payload, *failure) {
	if path == nil {
		return emptyObject(), nil
	}
	if path.Root() && !path.Context() {
		return from, nil
	}
	value, err := s.get(path, from.Value())
	if err != nil {
		return nil, s.invalidPath(err)
	}
	return newPayload(value), nil
}

// get reads a path of the value or, if it starts with "$$", of the context
// object.
func (s *strand) get(path *asl.Path, value any) (any, error) {
	if path.Context() {
		return path.Get(s.context())
	}
	return path.Get(value)
}

// placed applies ResultPath: it puts the result into the state's input.
func (s *strand) placed(path *asl.Path, result *Payload) (*Payload, *failure) {
	if path == nil {
		return s.input, nil
	}
	if path.Root() {
		return result, nil
	}
	value, err := path.Set(s.input.Value(), result.Value())
	if err != nil {
		f := &failure{name: errorResultPath, cause: err.Error()}
		if conflict, ok := errors.AsType[*jsonpath.ConflictError](err); ok {
			f.cause = "Unable to apply step " + strconv.Quote(conflict.Step) + " to input " + string(s.input.JSON())
		}
		return nil, f
	}
	output := newPayload(value)
	if old, err := path.Get(s.input.Value()); err == nil {
		// Spares the walk through a large input that a loop writes to.
		output.size = s.input.bytes() + result.bytes() - jsonSize(old)
	}
	return output, nil
}

func (s *strand) pass() *failure {
	result, f := s.effectiveInput()
	if f != nil {
		return f
	}
	p := s.state.Pass
	if p.HasResult {
		result = newPayload(p.Result)
	} else if result, f = s.applied(p.Parameters, result); f != nil {
		return f
	}
	output, f := s.placed(p.ResultPath, result)
	if f != nil {
		return f
	}
	return s.leave(output, s.state.Next)
}

func (s *strand) succeed() *failure {
	output, f := s.effectiveInput()
	if f != nil {
		return f
	}
	return s.leave(output, "")
}

// fail returns the failure that a Fail state is.
func (s *strand) fail() *failure {
	d := s.state.Fail
	f := &failure{name: d.Error, cause: d.Cause}
	for _, field := range []struct {
		name   string
		path   *asl.Path
		target *string
	}{{"ErrorPath", d.ErrorPath, &f.name}, {"CausePath", d.CausePath, &f.cause}} {
		if field.path == nil {
			continue
		}
		value, problem := s.field(field.name, field.path, s.input)
		if problem != nil {
			return problem
		}
		text, ok := value.(string)
		if !ok {
			return s.runtimeFailure("The %s parameter does not reference a string: %s == %s", field.name, field.path, newPayload(value).JSON())
		}
		*field.target = text
	}
	return f
}

// field reads the path of a field such as SecondsPath.
func (s *strand) field(name string, path *asl.Path, from *Payload) (any, *failure) {
	value, err := s.get(path, from.Value())
	if err != nil {
		if path.Context() {
			from = newPayload(s.context())
		}
		return nil, s.runtimeFailure("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", path, name, from.JSON())
	}
	return value, nil
}
