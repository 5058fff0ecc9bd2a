package compile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// notYet is a waiter that goes on after an error, with delays of a second.
var notYet = pollcore.MustNew("W", pollcore.Succeed(pollcore.Output("state").Is("DONE")),
	pollcore.Again(pollcore.ErrorType("NotFound")), pollcore.Delay(time.Second, time.Second))

// However little time there is, both responses and errors are polled again.
func TestErrorsAreRetriedInAShortTime(t *testing.T) {
	t.Parallel()
	op := polledWith("svc", "Svc", "NotFound", "")
	missing, running, done := sdkError("Svc.NotFoundException", "no", 400), map[string]any{"State": "RUNNING"}, map[string]any{"State": "DONE"}
	for _, strategy := range noLambda {
		for seconds := 1; seconds <= 8; seconds++ {
			for _, initial := range []time.Duration{0, time.Second, time.Hour} {
				m, err := compile.Compile(notYet, compile.Call{Operation: op}, compile.Options{
					Strategy: strategy, MaxWait: initial + time.Duration(seconds)*time.Second, InitialDelay: initial,
				})
				if strategy == compile.RetryTask && seconds == 1 {
					require.ErrorIs(t, err, compile.ErrNotCompiled)
					require.ErrorContains(t, err, "goes on after errors")
					require.ErrorContains(t, err, "MaxWait must be 2 s above InitialDelay at least")
					continue
				}
				require.NoError(t, err)
				for _, again := range []any{missing, running} {
					result, calls := polled(t, m, op, []any{again, done})
					status, reason := ended(t, result)
					require.Equal(t, "SUCCEEDED", status, "%s, %d s after %s: %s", strategy, seconds, initial, reason)
					require.Equal(t, 2, calls)
				}
				result, _ := polled(t, m, op, []any{missing})
				status, _ := ended(t, result)
				require.Equal(t, "TIMED_OUT", status)
			}
		}
	}
}

// Where the initial delay takes all the time, the first call is the last.
func TestInitialDelayTakesAllTheTime(t *testing.T) {
	t.Parallel()
	op := polledWith("svc", "Svc", "NotFound", "")
	for _, strategy := range noLambda {
		m, err := compile.Compile(notYet, compile.Call{Operation: op}, compile.Options{
			Strategy: strategy, MaxWait: time.Minute, InitialDelay: time.Minute,
		})
		require.NoError(t, err)
		for _, again := range []any{sdkError("Svc.NotFoundException", "no", 400), map[string]any{"State": "RUNNING"}} {
			result, calls := polled(t, m, op, []any{again})
			status, _ := ended(t, result)
			require.Equal(t, "TIMED_OUT", status, strategy)
			require.Equal(t, 1, calls, strategy)
		}
	}
}
