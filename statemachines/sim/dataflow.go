package sim

import (
	"errors"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// applyInputPath returns the state's input after InputPath.
func (s *strand) applyInputPath() (*Payload, *failure) {
	input, f := s.selectPath(s.state.InputPath, s.input)
	if f == nil && !s.jsonata() {
		s.inspect("afterInputPath", input)
	}
	return input, f
}

// applyParameters applies Parameters, or Arguments in JSONata mode, to the input.
func (s *strand) applyParameters(d data) (*Payload, *failure) {
	field, template := s.arguments()
	return s.applyTemplate(field, template, d, d.input)
}

// arguments is the field with what a Task or Parallel gets, and its name.
func (s *strand) arguments() (field string, t *asl.Template) {
	if s.jsonata() {
		return "Arguments", s.state.Arguments
	}
	return "Parameters", s.state.Parameters
}

// applyResultSelector applies ResultSelector to the result.
func (s *strand) applyResultSelector(result *Payload) (*Payload, *failure) {
	return s.applyTemplate("ResultSelector", s.state.ResultSelector, data{input: result}, result)
}

// applyResultPath puts the result into the state's input.
func (s *strand) applyResultPath(path *jsonpath.Path, result *Payload) (*Payload, *failure) {
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
			f.cause = cutCause("Unable to apply step " + strconv.Quote(conflict.Step) + " to input " + string(s.input.JSON()))
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

// applyOutputPath returns what OutputPath leaves of the output.
func (s *strand) applyOutputPath(output *Payload) (*Payload, *failure) {
	return s.selectPath(s.state.OutputPath, output)
}

// selectPath applies InputPath or OutputPath; in JSONata mode there is neither.
func (s *strand) selectPath(path *jsonpath.Path, from *Payload) (*Payload, *failure) {
	if s.jsonata() {
		return from, nil
	}
	if path == nil {
		return emptyObject(), nil
	}
	if path.Root() && !path.Context() && path.Variable() == "" {
		return from, nil
	}
	value, err := s.get(path, from.Value())
	if err != nil {
		return nil, s.invalidPath(err)
	}
	return newPayload(value), nil
}

// assign evaluates Assign. The variables have their values from the next state on.
func (s *strand) assign(t *asl.Template, d data) (map[string]*Payload, *failure) {
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
		value, f := s.evaluateTemplate(m.Value, m.Field, "Assign/"+m.Name, d, r)
		if f != nil {
			return nil, f
		}
		out[m.Name] = newPayload(value)
	}
	return out, nil
}

// applyTemplate evaluates the template of a field, which may be nil.
func (s *strand) applyTemplate(field string, t *asl.Template, d data, otherwise *Payload) (*Payload, *failure) {
	if t == nil {
		s.inspectAfter(field, otherwise)
		return otherwise, nil
	}
	value, f := s.evaluateTemplate(t, field, field, d, newRoom())
	if f != nil {
		return nil, f
	}
	out := newPayload(value)
	s.inspectAfter(field, out)
	return out, nil
}

// tooLarge tells whether a payload that a state made is above the service's
// limit. It counts the payload.
func (s *strand) tooLarge(p *Payload) bool {
	if p != s.input {
		if err := s.x.run.options.budget.spend(1, p.bytes()); err != nil {
			s.x.run.fail(err)
		}
	}
	return p.tooLarge()
}
