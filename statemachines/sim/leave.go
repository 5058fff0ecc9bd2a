package sim

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// exit is a way out of a state.
type exit struct {
	next   string
	kind   asl.TransitionKind
	rule   int
	assign *asl.Template
	output *asl.Template // in JSONata mode
}

// nextState is the way out by Next or End.
func (s *strand) nextState() exit {
	return exit{next: s.state.Next, assign: s.state.Assign, output: s.state.Output}
}

// leave ends a state: output is what it gives if no Output says otherwise, and
// before OutputPath.
func (s *strand) leave(d data, output *Payload, e exit) *failure {
	assigned, f := s.assign(e.assign, d)
	if f != nil {
		return f
	}
	if s.jsonata() {
		output, f = s.applyTemplate("Output", e.output, d, output)
	} else {
		output, f = s.applyOutputPath(output)
	}
	if f != nil {
		return f
	}
	return s.exit(output, assigned, e)
}

// complete leaves a Task, Parallel or Map with its result.
func (s *strand) complete(result *Payload) *failure {
	s.inspect("result", result)
	if s.jsonata() {
		return s.leave(data{input: s.input, result: result}, result, s.nextState())
	}
	result, f := s.applyResultSelector(result)
	if f != nil {
		return f
	}
	return s.leaveWith(result)
}

// leaveWith leaves a state in JSONPath mode with its result after ResultSelector.
func (s *strand) leaveWith(result *Payload) *failure {
	s.inspect("afterResultSelector", result)
	assigned, f := s.assign(s.state.Assign, data{input: result})
	if f != nil {
		return f
	}
	output, f := s.applyResultPath(s.state.ResultPath, result)
	if f != nil {
		return f
	}
	s.inspect("afterResultPath", output)
	if output, f = s.applyOutputPath(output); f != nil {
		return f
	}
	return s.exit(output, assigned, s.nextState())
}

// exit leaves the state with its final output and goes on with the next
// state, or ends the strand if there is none.
func (s *strand) exit(output *Payload, assigned map[string]*Payload, e exit) *failure {
	if s.tooLarge(output) {
		return sizeFailure(s.state.Name, false)
	}
	if len(assigned) > 0 && !s.variables.assign(assigned) {
		return &failure{name: errorDataLimitExceeded, cause: s.at() + "The variables exceed the maximum number of bytes service limit."}
	}
	s.record(exited[s.state.Type], Details{Name: s.state.Name, Output: output, AssignedVariables: assigned})
	if !s.alive() {
		return nil
	}
	if s.probe != nil {
		s.probe.leave(s, output, e)
		return nil
	}
	s.inside = false
	s.x.take(Edge{From: s.state.Name, To: e.next, Kind: e.kind, Rule: e.rule})
	if e.next == "" {
		s.over = true
		s.leaveInside()
		s.finished(output)
	} else {
		s.goTo(e.next, output)
	}
	return nil
}
