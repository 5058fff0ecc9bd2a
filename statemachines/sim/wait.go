package sim

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// runWait does what a Wait state does.
func (s *strand) runWait() *failure {
	input, f := s.applyInputPath()
	if f != nil {
		return f
	}
	d, f := s.waitTime(input)
	if f != nil {
		return f
	}
	s.wait(d, func() { s.failState(s.leave(data{input: input}, input, s.nextState())) })
	return nil
}

// waitTime is how long a Wait state waits. A time in the past is not a wait.
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
			c.Field, source(c), plainText(value))
	case !isText:
		return 0, s.typeFailure(c, "string", value, data{})
	default:
		return 0, s.evaluationFailure(c.Field, "The %s field cannot be parsed as an ISO-8601 extended offset date-time format string: %s", c.Field, text)
	}
}

func (s *strand) delayUntil(until time.Time) (time.Duration, *failure) {
	delay := until.Sub(s.x.run.now)
	if delay > asl.MaxWaitAhead {
		return 0, s.runtimeFailure("Wait state delay is too long.")
	}
	return delay, nil
}
