package sim

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// evaluateScalar evaluates a scalar.
func (s *strand) evaluateScalar(c *asl.Scalar, d data) (any, *failure) {
	switch {
	case c.Path != nil:
		return s.readPath(c.Field, c.Path, d.input)
	case c.Intrinsic != nil:
		return s.callIntrinsic(c.Intrinsic, d.input)
	case c.Expression != nil:
		return s.evaluateExpression(c.Expression, c.Field, d)
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

// typeFailure is the failure of an expression whose value has the wrong type.
func (s *strand) typeFailure(c *asl.Scalar, want string, value any, d data) *failure {
	wrong := &jsonata.ResultTypeError{Expected: want, Value: value}
	return s.evaluationFailure(d.place+c.Field, "%s", c.Expression.Cause(d.place+c.Field, wrong))
}

// plainText writes a value as AWS does in a cause: strings without quotes.
func plainText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(newPayload(value).JSON())
}

// whole evaluates a whole number of at least 0 that is not a number of seconds;
// nil is 0.
func (s *strand) whole(c *asl.Scalar, d data) (int64, *failure) {
	number, f := s.integer(c, d)
	if f != nil || number >= 0 {
		return number, f
	}
	name := strings.TrimSuffix(c.Field, "Path")
	if c.Expression != nil {
		return 0, s.evaluationFailure(c.Field, "%s cannot be negative.", name)
	}
	return 0, s.runtimeFailure("%s cannot be negative.", name)
}

// integer evaluates a whole number; nil is 0. AWS takes numbers in strings here.
func (s *strand) integer(c *asl.Scalar, d data) (int64, *failure) {
	if c == nil {
		return 0, nil
	}
	value, f := s.evaluateScalar(c, d)
	if f != nil {
		return 0, f
	}
	if number, ok := value.(int64); ok {
		return number, nil
	}
	number, err := strconv.ParseInt(plainText(value), 10, 64)
	_, isNumber := value.(json.Number)
	switch {
	case c.Expression != nil && (!isNumber || err != nil):
		return 0, s.typeFailure(c, "integer", value, d)
	case err != nil:
		return 0, s.runtimeFailure("The %s field refers to value \"%s\" which is not a valid integer: %s", c.Field, plainText(value), source(c))
	default:
		return number, nil
	}
}

// percentage evaluates a number from 0 to 100; nil is 0.
func (s *strand) percentage(c *asl.Scalar, d data) (float64, *failure) {
	if c == nil {
		return 0, nil
	}
	value, f := s.evaluateScalar(c, d)
	if f != nil {
		return 0, f
	}
	if literal, ok := value.(float64); ok {
		return literal, nil
	}
	const most = 100
	number, err := strconv.ParseFloat(plainText(value), 64)
	_, isNumber := value.(json.Number)
	switch {
	case c.Expression != nil && !isNumber:
		return 0, s.typeFailure(c, "number", value, d)
	case c.Expression != nil && (number < 0 || number > most):
		return 0, s.evaluationFailure(c.Field, "ToleratedFailurePercentage must be between 0 and 100.")
	case err != nil:
		return 0, s.runtimeFailure("The %s field refers to value \"%s\" which is not a valid float: %s", c.Field, plainText(value), source(c))
	case number < 0 || number > most:
		return 0, s.runtimeFailure("ToleratedFailurePercentage must be between 0 and 100.")
	default:
		return number, nil
	}
}

// timing evaluates a time or a number of seconds. AWS has texts of their own
// for paths that lead nowhere.
func (s *strand) timing(c *asl.Scalar, input *Payload) (any, *failure) {
	if c.Path != nil {
		if _, err := s.get(c.Path, input.Value()); errors.As(err, new(*jsonpath.NotFoundError)) {
			if s.state.Type == asl.TypeWait {
				return nil, s.runtimeFailure("The %s parameter does not reference an input value: %s", c.Field, c.Path)
			}
			return nil, s.invalidPath(err)
		}
	}
	return s.evaluateScalar(c, data{input: input})
}

// seconds evaluates a whole number of seconds, at least low; nil is 0.
func (s *strand) seconds(c *asl.Scalar, input *Payload, low int64) (int64, *failure) {
	if c == nil {
		return 0, nil
	}
	value, f := s.timing(c, input)
	if f != nil {
		return 0, f
	}
	if seconds, ok := value.(int64); ok {
		return seconds, nil
	}
	number, isNumber := value.(json.Number)
	seconds, err := strconv.ParseInt(string(number), 10, 64)
	fits := err == nil && seconds >= low && seconds <= asl.MaxSeconds
	switch {
	case fits:
		return seconds, nil
	case c.Expression != nil && (!isNumber || err != nil):
		return 0, s.typeFailure(c, "integer", value, data{})
	case c.Expression != nil:
		return 0, s.evaluationFailure(c.Field, "The JSONata expression '%s' specified for the field '%s' returned a value that is not between %d and %d: %d",
			c.Expression, c.Field, low, int64(asl.MaxSeconds), seconds)
	case err != nil:
		return 0, s.runtimeFailure("The %s parameter cannot be parsed as a long value: %s == %s", c.Field, source(c), plainText(value))
	case seconds < 0:
		return 0, s.runtimeFailure("The %s parameter references a negative value: %s == %s", c.Field, source(c), plainText(value))
	default:
		return 0, s.runtimeFailure("The %s parameter references a value that is not between %d and %d: %s == %s",
			c.Field, low, int64(asl.MaxSeconds), source(c), plainText(value))
	}
}
