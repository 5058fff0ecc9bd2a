package sim

import (
	"errors"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// data is what the expressions of a state read, besides variables and the
// context object. In JSONPath mode only input is set: what "$" is.
type data struct {
	input       *Payload
	result      *Payload // $states.result
	errorOutput *Payload // $states.errorOutput
	place       string   // before the names of fields: "Choices[0]/", "Catch[1]/"
}

// get reads a path of the value, of the context object or of a variable.
func (s *strand) get(path *jsonpath.Path, value any) (any, error) {
	switch name := path.Variable(); {
	case path.Context():
		value = s.context()
	case name != "":
		var ok bool
		if value, ok = s.variables.get(name); !ok {
			return nil, &undefinedError{name: name}
		}
	}
	return path.Get(value)
}

// undefinedError is the error of a path into a variable that has no value.
type undefinedError struct{ name string }

func (e *undefinedError) Error() string {
	return "the variable " + strconv.Quote("$"+e.name) + " has no value"
}

// evaluateTemplate evaluates a template. field is the name of the member that holds it
// and location its place in the state, such as "Output/v".
func (s *strand) evaluateTemplate(t *asl.Template, field, location string, d data, r *room) (any, *failure) {
	if r.full() {
		return nil, sizeFailure(s.state.Name, false)
	}
	switch t.Kind {
	case asl.TemplatePath:
		if d.input.Value() == nil && !t.Path.Context() && t.Path.Variable() == "" {
			return nil, s.runtimeFailure("Unable to apply Path transformation to null or empty input.")
		}
		value, f := s.readPath(field, t.Path, d.input)
		if f != nil && f.pastEnd { // as AWS has it in templates
			return nil, nil
		}
		if !t.Path.Definite() { // the others share what they give
			r.take(value)
		}
		return value, f
	case asl.TemplateIntrinsic:
		value, f := s.callIntrinsic(t.Intrinsic, d.input)
		r.take(value)
		return value, f
	case asl.TemplateExpression:
		value, f := s.evaluateExpression(t.Expression, location, d)
		r.take(value)
		return value, f
	case asl.TemplateObject:
		object := make(map[string]any, len(t.Object))
		for _, m := range t.Object {
			value, f := s.evaluateTemplate(m.Value, m.Field, location+"/"+m.Name, d, r)
			if f != nil {
				return nil, f
			}
			object[m.Name] = value
		}
		return object, nil
	case asl.TemplateArray:
		array := make([]any, len(t.Array))
		for i, item := range t.Array {
			value, f := s.evaluateTemplate(item, field, location+"["+strconv.Itoa(i)+"]", d, r)
			if f != nil {
				return nil, f
			}
			array[i] = value
		}
		return array, nil
	default:
		return t.Literal, nil
	}
}

// readPath reads the path of a field such as SecondsPath.
func (s *strand) readPath(name string, path *jsonpath.Path, from *Payload) (any, *failure) {
	value, err := s.get(path, from.Value())
	if err != nil {
		return nil, s.notFound(name, path, from, err)
	}
	return value, nil
}

func (s *strand) notFound(name string, path *jsonpath.Path, from *Payload, err error) *failure {
	switch {
	case path.Context():
		from = newPayload(s.context())
	case path.Variable() != "":
		value, ok := s.variables.get(path.Variable())
		if !ok {
			return s.runtimeFailure("The JSONPath '%s' specified for the field '%s' refers to a variable that has no value.", path, name)
		}
		from = newPayload(value)
	}
	missing, ok := errors.AsType[*jsonpath.NotFoundError](err)
	if !ok {
		return s.runtimeFailure("The JSONPath '%s' specified for the field '%s' cannot be applied: %v", path, name, err)
	}
	f := s.runtimeFailure("The JSONPath '%s' specified for the field '%s' could not be found in the input '%s'", path, name, from.JSON())
	f.pastEnd = missing.Last && missing.Reason == jsonpath.NoElement
	return f
}

// callIntrinsic evaluates a call of an intrinsic function.
func (s *strand) callIntrinsic(call *intrinsic.Call, from *Payload) (any, *failure) {
	var missing *failure
	value, err := call.Eval(intrinsic.Environment{
		Get: func(path *jsonpath.Path) (any, error) {
			value, err := s.get(path, from.Value())
			if err != nil {
				missing = s.notFoundIn(call, path, from)
			}
			return value, err
		},
		Random: s.x.run.random.Rand,
		UUID:   s.x.run.random.uuid,
	})
	switch failed, ok := errors.AsType[*intrinsic.Error](err); {
	case err == nil:
		return value, nil
	case missing != nil:
		return nil, missing
	case ok:
		return nil, s.runtimeFailure("%s", failed.Cause)
	default:
		return nil, s.runtimeFailure("%v", err)
	}
}

// notFoundIn is the failure of a path that an argument of a call is.
func (s *strand) notFoundIn(call *intrinsic.Call, path *jsonpath.Path, from *Payload) *failure {
	switch {
	case path.Context():
		from = newPayload(s.context())
	case path.Variable() != "":
		value, _ := s.variables.get(path.Variable())
		from = newPayload(value)
	}
	return s.runtimeFailure("The function '%s' had the following error: The JsonPath argument for the field '%s' could not be found in the input '%s'",
		call, path, from.JSON())
}

// evaluateExpression evaluates a JSONata expression at a place in the state.
func (s *strand) evaluateExpression(e *jsonata.Expression, location string, d data) (any, *failure) {
	location = d.place + location
	value, err := e.Eval(s.x.run.ctx, jsonata.Environment{
		Variables: s.variables.all(), States: s.states(e, d), Now: s.x.run.now, Random: s.x.run.random.Rand, UUID: s.x.run.random.uuid,
	})
	if s.x.run.caller.Err() != nil {
		s.x.run.abort()
		return nil, nil
	}
	if err != nil {
		return nil, s.evaluationFailure(location, "%s", e.Cause(location, err))
	}
	return value, nil
}

// states is $states, as far as an expression reads it: most read variables alone, or the input.
func (s *strand) states(e *jsonata.Expression, d data) map[string]any {
	read, whole := e.ReadsStates()
	if !read {
		return nil
	}
	states := map[string]any{"input": d.input.Value()}
	if whole {
		states["context"] = s.context()
	}
	if d.result != nil {
		states["result"] = d.result.Value()
	}
	if d.errorOutput != nil {
		states["errorOutput"] = d.errorOutput.Value()
	}
	return states
}
