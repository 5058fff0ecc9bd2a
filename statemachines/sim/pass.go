package sim

import (
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runPass does what a Pass state does.
func (s *strand) runPass() *failure {
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	if s.jsonata() {
		return s.leave(data{input: input}, input, s.nextState())
	}
	result, f := s.applyParameters(data{input: input})
	if p := s.state.Pass; p.HasResult {
		result, f = newPayload(p.Result), nil
		s.inspect("result", result)
	}
	if f != nil {
		return f
	}
	return s.leaveWith(result)
}

// runSucceed does what a Succeed state does.
func (s *strand) runSucceed() *failure {
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	return s.leave(data{input: input}, input, s.nextState())
}

// runFail returns the failure that a Fail state is.
func (s *strand) runFail() *failure {
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
		value, problem := s.evaluateScalar(part.scalar, data{input: s.input})
		if problem != nil {
			return problem
		}
		text, ok := value.(string)
		switch {
		case ok:
			*part.target = text
		case part.scalar.Expression != nil:
			return s.typeFailure(part.scalar, "string", value, data{})
		default:
			return s.runtimeFailure("The %s parameter does not reference a string: %s == %s",
				part.scalar.Field, source(part.scalar), newPayload(value).JSON())
		}
	}
	return f
}
