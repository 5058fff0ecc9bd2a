package sim

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// failState ends the state with a failure, if there is one: it is retried or
// caught, or fails the strand.
func (s *strand) failState(f *failure) {
	if f == nil || !s.alive() {
		return
	}
	if f.evaluation {
		if s.last == s.entered && s.state.Type != asl.TypeWait {
			s.last = s.before // as AWS has it
		}
		s.record(EvaluationFailed, Details{Error: f.name, Cause: f.cause, State: s.state.Name, Location: f.location})
		f.evaluation = false
		if !s.alive() {
			return
		}
	}
	if f = s.retryOrCatch(f); f != nil && s.alive() {
		s.over = true
		s.failed(f)
	}
}

// retryOrCatch retries or catches the failure of a Task, Parallel or Map, or
// returns it.
func (s *strand) retryOrCatch(f *failure) *failure {
	i := slices.IndexFunc(s.state.Retry, func(r asl.Retrier) bool { return matchesError(r.ErrorEquals, f) })
	if i >= 0 && (s.probe == nil && s.retry(i) || s.probe != nil && s.probe.retry(s, i, f)) {
		return nil
	}
	// AWS ends an execution at once where the state itself breaks a rule.
	if f.name != errorRuntime || f.inner {
		switch s.state.Type {
		case asl.TypeMap:
			s.record(MapStateFailed, Details{})
		case asl.TypeParallel:
			s.record(ParallelStateFailed, Details{})
		default:
		}
	}
	for i, c := range s.state.Catch {
		if matchesError(c.ErrorEquals, f) {
			if s.probe != nil {
				s.probe.catch(i, f)
			}
			return s.catch(i, f)
		}
	}
	return f
}

// retry schedules the next attempt after a failure that the retrier matches,
// unless it has none left. Each retrier counts its own.
func (s *strand) retry(i int) bool {
	r := s.state.Retry[i]
	if s.retries == nil {
		s.retries = make([]int64, len(s.state.Retry))
	}
	if s.retries[i] >= r.MaxAttempts {
		return false
	}
	delay := s.retryDelay(r, s.retries[i])
	s.retries[i]++
	s.wait(delay, func() {
		s.retryCount++
		s.x.bill()
		s.leaveInside()
		s.x.run.steps.work(s)
	})
	return true
}

// retryDelay is the delay before retry n, counted from 0, spread if the retrier has jitter.
func (s *strand) retryDelay(r asl.Retrier, n int64) time.Duration {
	seconds := r.Delay(n + 1)
	if r.JitterStrategy == asl.JitterFull {
		seconds *= s.x.run.random.Float64()
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// catch leaves a state for the state of a catcher, with the error output.
func (s *strand) catch(i int, f *failure) *failure {
	c := s.state.Catch[i]
	e := exit{next: c.Next, kind: asl.TransitionCatch, rule: i}
	cause := textOrNull(f.cause)
	if f.name == asl.ErrorTimeout {
		cause = f.cause // empty where the service itself ended the Task
	}
	errorOutput := newPayload(map[string]any{"Error": textOrNull(f.name), "Cause": cause})
	d := data{input: errorOutput}
	if s.jsonata() {
		d = data{input: s.input, errorOutput: errorOutput, place: "Catch[" + strconv.Itoa(i) + "]/"}
	}
	assigned, failed := s.assign(c.Assign, d)
	if failed != nil {
		return s.failCatcher(failed)
	}
	var output *Payload
	if s.jsonata() {
		output, failed = s.applyTemplate("Output", c.Output, d, errorOutput)
	} else {
		output, failed = s.applyResultPath(c.ResultPath, errorOutput)
	}
	if failed == nil {
		failed = s.exit(output, assigned, e)
	}
	return s.failCatcher(failed)
}

// failCatcher records the failure of a catcher, which nothing catches.
func (s *strand) failCatcher(f *failure) *failure {
	if f != nil && f.evaluation {
		s.record(EvaluationFailed, Details{Error: f.name, Cause: f.cause, State: s.state.Name, Location: f.location})
	}
	return f
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
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
			name == errorHeartbeatTimeout && f.heartbeat,
			name == asl.ErrorAll && wildcards,
			name == asl.ErrorTaskFailed && wildcards && f.name != asl.ErrorTimeout:
			return true
		}
	}
	return false
}
