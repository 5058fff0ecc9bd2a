package sim

import (
	"errors"
	"fmt"
	"maps"
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

// jsonata tells whether the strand is in a state in JSONata mode.
func (s *strand) jsonata() bool { return s.state.QueryLanguage == asl.JSONata }

// effectiveInput is the state's input after InputPath.
func (s *strand) effectiveInput() (*Payload, *failure) {
	input, f := s.selected(s.state.InputPath, s.input)
	if f == nil && !s.jsonata() {
		s.inspect("afterInputPath", input)
	}
	return input, f
}

// selected applies InputPath or OutputPath; in JSONata mode there is neither.
func (s *strand) selected(path *asl.Path, from *Payload) (*Payload, *failure) {
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

// get reads a path of the value, of the context object or of a variable.
func (s *strand) get(path *asl.Path, value any) (any, error) {
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

// applied evaluates the template of a field, which may be nil.
func (s *strand) applied(field string, t *asl.Template, d data, otherwise *Payload) (*Payload, *failure) {
	if t == nil {
		s.inspectAfter(field, otherwise)
		return otherwise, nil
	}
	value, f := s.filled(t, field, field, d, newRoom())
	if f != nil {
		return nil, f
	}
	out := newPayload(value)
	s.inspectAfter(field, out)
	return out, nil
}

// filled evaluates a template. field is the name of the member that holds it
// and location its place in the state, such as "Output/v".
func (s *strand) filled(t *asl.Template, field, location string, d data, r *room) (any, *failure) {
	if r.full() {
		return nil, tooLarge(s.state.Name, false)
	}
	switch t.Kind {
	case asl.TemplatePath:
		if d.input.Value() == nil && !t.Path.Context() && t.Path.Variable() == "" {
			return nil, s.runtimeFailure("Unable to apply Path transformation to null or empty input.")
		}
		value, f := s.field(field, t.Path, d.input)
		if f != nil && f.pastEnd { // as AWS has it in templates
			return nil, nil
		}
		if !t.Path.Definite() { // the others share what they give
			r.take(value)
		}
		return value, f
	case asl.TemplateIntrinsic:
		value, f := s.intrinsic(t.Intrinsic, d.input)
		r.take(value)
		return value, f
	case asl.TemplateExpression:
		value, f := s.evaluated(t.Expression, location, d)
		r.take(value)
		return value, f
	case asl.TemplateObject:
		object := make(map[string]any, len(t.Object))
		for _, m := range t.Object {
			value, f := s.filled(m.Value, m.Field, location+"/"+m.Name, d, r)
			if f != nil {
				return nil, f
			}
			object[m.Name] = value
		}
		return object, nil
	case asl.TemplateArray:
		array := make([]any, len(t.Array))
		for i, item := range t.Array {
			value, f := s.filled(item, field, location+"["+strconv.Itoa(i)+"]", d, r)
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

// field reads the path of a field such as SecondsPath.
func (s *strand) field(name string, path *asl.Path, from *Payload) (any, *failure) {
	value, err := s.get(path, from.Value())
	if err != nil {
		return nil, s.notFound(name, path, from, err)
	}
	return value, nil
}

func (s *strand) notFound(name string, path *asl.Path, from *Payload, err error) *failure {
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

// intrinsic evaluates a call of an intrinsic function.
func (s *strand) intrinsic(call *asl.Intrinsic, from *Payload) (any, *failure) {
	var missing *failure
	value, err := call.Eval(intrinsic.Environment{
		Get: func(path *asl.Path) (any, error) {
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
func (s *strand) notFoundIn(call *asl.Intrinsic, path *asl.Path, from *Payload) *failure {
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

// evaluated evaluates a JSONata expression at a place in the state.
func (s *strand) evaluated(e *asl.Expression, location string, d data) (any, *failure) {
	location = d.place + location
	states := map[string]any{"input": d.input.Value(), "context": s.context()}
	if d.result != nil {
		states["result"] = d.result.Value()
	}
	if d.errorOutput != nil {
		states["errorOutput"] = d.errorOutput.Value()
	}
	visible := s.variables.all()
	values := make(map[string]any, len(visible)+1)
	maps.Copy(values, visible)
	values["states"] = states
	value, err := e.Eval(s.x.run.ctx, jsonata.Environment{
		Variables: values, Now: s.x.run.clock.Now(), Random: s.x.run.random.Rand, UUID: s.x.run.random.uuid,
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

// evaluationFailure is a States.QueryEvaluationError at a place in the state.
func (s *strand) evaluationFailure(location, format string, args ...any) *failure {
	return &failure{name: errorQueryEvaluation, cause: bounded(s.at() + fmt.Sprintf(format, args...)), evaluation: true, location: location}
}

// scalar evaluates a scalar.
func (s *strand) scalar(c *asl.Scalar, d data) (any, *failure) {
	switch {
	case c.Path != nil:
		return s.field(c.Field, c.Path, d.input)
	case c.Intrinsic != nil:
		return s.intrinsic(c.Intrinsic, d.input)
	case c.Expression != nil:
		return s.evaluated(c.Expression, c.Field, d)
	default:
		return c.Literal, nil
	}
}

// source is how the definition writes a scalar computed in JSONPath mode.
func source(c *asl.Scalar) string {
	switch {
	case c.Path != nil:
		return c.Path.String()
	default:
		return c.Intrinsic.String()
	}
}

// unexpected is the failure of an expression whose value has the wrong type.
func (s *strand) unexpected(c *asl.Scalar, want string, value any, d data) *failure {
	wrong := &jsonata.ResultTypeError{Expected: want, Value: value}
	return s.evaluationFailure(d.place+c.Field, "%s", c.Expression.Cause(d.place+c.Field, wrong))
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
			f.cause = bounded("Unable to apply step " + strconv.Quote(conflict.Step) + " to input " + string(s.input.JSON()))
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
