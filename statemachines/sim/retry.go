package sim

import (
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// longestDelay bounds a retry delay that has no MaxDelaySeconds, in seconds:
// an execution lives for a year at most.
const longestDelay = 366 * 24 * 60 * 60

// handled retries or catches the failure of a Task, or returns it.
func (s *strand) handled(f *failure) *failure {
	t := s.state.Task
	i := slices.IndexFunc(t.Retry, func(r asl.Retrier) bool { return matchesError(r.ErrorEquals, f) })
	if i >= 0 && s.retry(i) {
		return nil
	}
	for _, c := range t.Catch {
		if matchesError(c.ErrorEquals, f) {
			return s.caught(c, f)
		}
	}
	return f
}

// retry schedules the next call after a failure that the retrier matches,
// unless it has no attempts left. Each retrier counts its own.
func (s *strand) retry(i int) bool {
	r := s.state.Task.Retry[i]
	if s.retries == nil {
		s.retries = make([]int64, len(s.state.Task.Retry))
	}
	if s.retries[i] >= r.MaxAttempts {
		return false
	}
	delay := s.retryDelay(r, s.retries[i])
	s.retries[i]++
	s.run.after(delay, func() {
		s.retryCount++
		s.run.result.Transitions++
		if f := s.call(); f != nil {
			s.failed(f)
		}
	})
	return true
}

// retryDelay is the delay before retry n, counted from 0: the interval, grown
// by the backoff rate n times, capped, then spread.
func (s *strand) retryDelay(r asl.Retrier, n int64) time.Duration {
	seconds := float64(r.IntervalSeconds) * math.Pow(r.BackoffRate, float64(n))
	if r.MaxDelaySeconds > 0 {
		seconds = min(seconds, float64(r.MaxDelaySeconds))
	}
	seconds = min(seconds, max(longestDelay, float64(r.IntervalSeconds)))
	if r.JitterStrategy == asl.JitterFull {
		seconds *= s.run.random.Float64()
	}
	return time.Duration(seconds * float64(time.Second))
}

// caught leaves a Task for the state of a catcher, with the error output
// placed into the state's input.
func (s *strand) caught(c asl.Catcher, f *failure) *failure {
	errorOutput := map[string]any{"Error": f.name, "Cause": nil}
	if f.cause != "" {
		errorOutput["Cause"] = f.cause
	}
	output, failed := s.placed(c.ResultPath, newPayload(errorOutput))
	if failed != nil {
		return failed
	}
	return s.exit(output, c.Next)
}

// matchesError tells whether ErrorEquals names the failure. States.Runtime is
// out of reach of every name, even its own.
func matchesError(names []string, f *failure) bool {
	if f.name == errorRuntime {
		return false
	}
	wildcards := f.name != errorDataLimitExceeded || f.fromTask
	for _, name := range names {
		switch {
		case name == f.name,
			name == asl.ErrorAll && wildcards,
			name == asl.ErrorTaskFailed && wildcards && f.name != asl.ErrorTimeout:
			return true
		}
	}
	return false
}
