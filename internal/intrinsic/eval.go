package intrinsic

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Environment is what calls read besides their arguments.
type Environment struct {
	Get    func(*jsonpath.Path) (any, error) // the value of a path
	Random *rand.Rand
	UUID   func() string
}

// Eval evaluates the call. An error of Environment.Get comes back as it is, the
// failure of a function as an *Error.
func (c *Call) Eval(env Environment) (any, error) {
	values := make([]any, len(c.arguments))
	for i, a := range c.arguments {
		var err error
		switch {
		case a.path != nil:
			values[i], err = env.Get(a.path)
		case a.call != nil:
			values[i], err = a.call.Eval(env)
		default:
			values[i] = a.literal
			if text, ok := a.literal.(string); ok && (i > 0 || c.function.name != format) {
				values[i] = unescaped(text)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	e := &evaluation{call: c, env: env, arguments: values}
	value, err := c.function.eval(e)
	if err != nil {
		return nil, err
	}
	return value, nil
}

// evaluation is a call with its arguments.
type evaluation struct {
	call      *Call
	env       Environment
	arguments []any
}

// fail is the failure of the function.
func (e *evaluation) fail(cause string, args ...any) error {
	return &Error{Function: e.call.function.name, Cause: fmt.Sprintf(cause, args...)}
}

// invalid is the failure of an argument, counted from 0.
func (e *evaluation) invalid(i int, want string) error {
	return e.fail("Invalid arguments in %s: expected %s as argument %d, found %s", e.call.function.name, want, i+1, shortened(jsonText(e.arguments[i])))
}

// shortened cuts a value for a message.
func shortened(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

func (e *evaluation) text(i int) (string, error) {
	text, ok := e.arguments[i].(string)
	if !ok {
		return "", e.invalid(i, "a string")
	}
	return text, nil
}

// array is the first argument, which has to be an array.
func (e *evaluation) array() ([]any, error) {
	array, ok := e.arguments[0].([]any)
	if !ok {
		return nil, e.invalid(0, "an array")
	}
	return array, nil
}

// integer is an argument that is a whole number; others are rounded, half of
// one upwards, as AWS does.
func (e *evaluation) integer(i int) (int64, error) {
	number, ok := e.arguments[i].(json.Number)
	if !ok {
		return 0, e.invalid(i, "a number")
	}
	if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return n, nil
	}
	const half = 0.5
	f, err := number.Float64()
	f = math.Floor(f + half)
	if err != nil || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, e.invalid(i, "a number of 64 bits")
	}
	return int64(f), nil
}

func whole(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// jsonText is the compact text of a value.
func jsonText(value any) string { return string(jsontree.Compact(value)) }
