package sim

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
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
	value, f := s.timing(c, input)
	if f != nil {
		return 0, f
	}
	if until, ok := value.(time.Time); ok {
		return s.delayUntil(until)
	}
	text, isText := value.(string)
	until, err := asl.ParseTimestamp(text)
	switch {
	case err == nil:
		return s.delayUntil(until)
	case c.Expression == nil:
		return 0, s.runtimeFailure("The %s parameter does not reference a valid ISO-8601 extended offset date-time format string: %s == %s",
			c.Field, source(c), shown(value))
	case !isText:
		return 0, s.unexpected(c, "string", value, data{})
	default:
		return 0, s.evaluationFailure(c.Field, "The %s field cannot be parsed as an ISO-8601 extended offset date-time format string: %s", c.Field, text)
	}
}

func (s *strand) delayUntil(until time.Time) (time.Duration, *failure) {
	delay := until.Sub(s.x.run.clock.Now())
	if delay > asl.MaxWaitAhead {
		return 0, s.runtimeFailure("Wait state delay is too long.")
	}
	return delay, nil
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
	return s.scalar(c, data{input: input})
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
		return 0, s.unexpected(c, "integer", value, data{})
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
