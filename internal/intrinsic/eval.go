package intrinsic

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// Environment is what calls read besides their arguments.
type Environment struct {
	Get    func(*jsonpath.Path) (any, error) // the value of a path
	Random *rand.Rand                        // for States.MathRandom without a seed
	UUID   func() string                     // for States.UUID
}

// Eval evaluates the call. An error of Environment.Get comes back as it is, the
// failure of a function as an *Error.
func (c *Call) Eval(env Environment) (any, error) {
	return c.eval(env, c.text, &work{left: maxWork})
}

// eval evaluates the call, which is a part of the whole or all of it.
func (c *Call) eval(env Environment, whole string, w *work) (any, error) {
	values := make([]any, len(c.arguments))
	for i, a := range c.arguments {
		var err error
		switch {
		case a.path != nil:
			values[i], err = env.Get(a.path)
		case a.call != nil:
			values[i], err = a.call.eval(env, whole, w)
		default:
			values[i] = a.literal
			if text, ok := a.literal.(string); ok && (i > 0 || c.function.name != format) {
				values[i] = unescape(text)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	e := &evaluation{function: c.function.name, whole: whole, env: env, arguments: values}
	for _, value := range values {
		if !w.spend(value) {
			return nil, e.refuse("expected arguments of at most %d MiB in the whole call", maxWork>>20)
		}
	}
	return c.function.eval(e)
}

// evaluation is a call with its arguments.
type evaluation struct {
	function  string
	whole     string // the text of the outermost call
	env       Environment
	arguments []any
}

// fail is a failure of the function in the words of AWS.
func (e *evaluation) fail(words, detail string) error {
	return &Error{
		Function: e.function,
		Cause:    fmt.Sprintf("There was an error while evaluating the intrinsic function: %s. %s", e.whole, words),
		Detail:   detail,
	}
}

// refuse is the failure of arguments that AWS does not take.
func (e *evaluation) refuse(detail string, args ...any) error {
	return e.fail("Invalid arguments in "+e.function, fmt.Sprintf(detail, args...))
}

// invalid is the failure of an argument, counted from 0.
func (e *evaluation) invalid(i int, want string) error {
	return e.refuse("expected %s as argument %d, found %s", want, i+1, shorten(jsonText(e.arguments[i])))
}

// shorten cuts a value for a message.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
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

// integer is an argument that is a number of 32 bits. AWS drops the fraction,
// where its developer guide says that it rounds.
func (e *evaluation) integer(i int) (int64, error) { return e.number(i, math.Trunc) }

// round is an argument that is a number of 32 bits, half of one rounded
// upwards.
func (e *evaluation) round(i int) (int64, error) {
	return e.number(i, func(f float64) float64 {
		const half = 0.5
		whole := math.Floor(f)
		if f-whole >= half { // exact, unlike f + half
			whole++
		}
		return whole
	})
}

func (e *evaluation) number(i int, whole func(float64) float64) (int64, error) {
	number, ok := e.arguments[i].(json.Number)
	if !ok {
		return 0, e.invalid(i, "a number")
	}
	f, err := number.Float64()
	if f = whole(f); err != nil || f < math.MinInt32 || f > math.MaxInt32 {
		return 0, e.invalid(i, "a number of 32 bits")
	}
	return int64(f), nil
}

func decimal(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// jsonText is the compact text of a value.
func jsonText(value any) string { return string(jsontree.Compact(value)) }

// unescape drops the backslashes that quoted keeps.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
