package sim

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

func (s *strand) wait() *failure {
	input, f := s.effectiveInput()
	if f != nil {
		return f
	}
	d, f := s.waitTime(input)
	if f != nil {
		return f
	}
	s.after(d, func() { s.broke(s.leave(data{input: input}, input, s.onward())) })
	return nil
}

// waitTime is how long a Wait state waits. A time in the past is no wait.
func (s *strand) waitTime(input *Payload) (time.Duration, *failure) {
	if c := s.state.Wait.Seconds; c != nil {
		seconds, f := s.seconds(c, input, 0)
		return time.Duration(seconds) * time.Second, f
	}
	c := s.state.Wait.Timestamp
	value, f := s.scalar(c, data{input: input})
	if f != nil {
		return 0, f
	}
	if until, ok := value.(time.Time); ok {
		return until.Sub(s.x.run.clock.Now()), nil
	}
	text, isText := value.(string)
	until, err := asl.ParseTimestamp(text)
	switch {
	case err == nil:
		return until.Sub(s.x.run.clock.Now()), nil
	case c.Expression == nil:
		return 0, s.runtimeFailure("The %s parameter does not reference a valid ISO-8601 extended offset date-time format string: %s == %s",
			c.Field, source(c), shown(value))
	case !isText:
		return 0, s.unexpected(c, "string", value)
	default:
		return 0, s.evaluationFailure(c.Field, "The %s field cannot be parsed as an ISO-8601 extended offset date-time format string: %s", c.Field, text)
	}
}

// seconds evaluates a whole number of seconds, at least low; nil is 0.
func (s *strand) seconds(c *asl.Scalar, input *Payload, low int64) (int64, *failure) {
	if c == nil {
		return 0, nil
	}
	value, f := s.scalar(c, data{input: input})
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
		return 0, s.unexpected(c, "integer", value)
	case c.Expression != nil:
		return 0, s.evaluationFailure(c.Field, "The JSONata expression '%s' specified for the field '%s' returned a value that is not between %d and %d: %d",
			c.Expression, c.Field, low, int64(asl.MaxSeconds), seconds)
	case err != nil:
		return 0, s.runtimeFailure("The %s parameter cannot be parsed as a long value: %s == %s", c.Field, source(c), shown(value))
	case seconds < 0:
		return 0, s.runtimeFailure("The %s parameter references a negative value: %s == %s", c.Field, source(c), shown(value))
	default:
		return 0, s.runtimeFailure("The %s parameter references a value that is not between %d and %d: %s == %s",
			c.Field, low, int64(asl.MaxSeconds), source(c), shown(value))
	}
}

// shown writes a value as AWS does in a cause: strings without quotes.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(newPayload(value).JSON())
}
