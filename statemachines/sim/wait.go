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
	s.run.after(d, func() {
		if f := s.leave(input, s.state.Next); f != nil {
			s.failed(f)
		}
	})
	return nil
}

// waitTime is how long a Wait state waits. A time in the past is no wait.
func (s *strand) waitTime(input *Payload) (time.Duration, *failure) {
	w := s.state.Wait
	switch {
	case w.Seconds != nil:
		return time.Duration(*w.Seconds) * time.Second, nil
	case w.SecondsPath != nil:
		seconds, f := s.seconds("SecondsPath", w.SecondsPath, input, 0)
		return time.Duration(seconds) * time.Second, f
	case w.Timestamp != nil:
		return w.Timestamp.Sub(s.run.clock.Now()), nil
	}
	value, f := s.field("TimestampPath", w.TimestampPath, input)
	if f != nil {
		return 0, f
	}
	text, _ := value.(string)
	until, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, s.runtimeFailure("The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: %s == %s",
			w.TimestampPath, shown(value))
	}
	return until.Sub(s.run.clock.Now()), nil
}

// seconds reads a whole number of seconds, at least low, that a path names.
func (s *strand) seconds(name string, path *asl.Path, input *Payload, low int64) (int64, *failure) {
	value, f := s.field(name, path, input)
	if f != nil {
		return 0, f
	}
	number, _ := value.(json.Number)
	seconds, err := strconv.ParseInt(string(number), 10, 64)
	switch {
	case err != nil:
		return 0, s.runtimeFailure("The %s parameter cannot be parsed as a long value: %s == %s", name, path, shown(value))
	case seconds < 0:
		return 0, s.runtimeFailure("The %s parameter references a negative value: %s == %s", name, path, shown(value))
	case seconds < low || seconds > asl.MaxSeconds:
		return 0, s.runtimeFailure("The %s parameter references a value that is not between %d and %d: %s == %s",
			name, low, int64(asl.MaxSeconds), path, shown(value))
	}
	return seconds, nil
}

// shown writes a value as AWS does in a cause: strings without quotes.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return string(newPayload(value).JSON())
}
