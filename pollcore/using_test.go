package pollcore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

// A wait on a strategy that sets no limit of its own goes on exactly as one
// without a strategy.
func TestUsingAStrategyChangesNothing(t *testing.T) {
	t.Parallel()
	for _, answers := range [][]answer{
		{{0, "RUNNING", nil}, {15 * time.Second, "DONE", nil}},
		{{0, "RUNNING", nil}, {15 * time.Second, "FAILED", nil}},
		{{0, "RUNNING", nil}},
		{{0, "", errors.New("unexpected")}},
	} {
		synctest.Test(t, func(t *testing.T) {
			strategy := retry.Strategy{MaxAttempts: retry.Unlimited}
			alone, on := after{answers: answers}, after{answers: answers}
			options := []pollcore.WaitOption{pollcore.Jitter(upper), pollcore.InitialDelay(3 * time.Second)}
			want, wantErr := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, alone.describe, options...)
			got, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, on.describe, append(options, pollcore.Using(strategy))...)
			require.Equal(t, want, got)
			require.Equal(t, alone.calls, on.calls)
			if wantErr == nil {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, wantErr.Error())
			}
		})
	}
}

func TestUsingAStrategyWithALimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		strategy retry.Strategy
		is       error
		elapsed  time.Duration
		status   pollcore.Status
		latency  time.Duration
	}{
		{"attempts", retry.Strategy{MaxAttempts: 2}, pollcore.ErrTooManyAttempts, 10 * time.Second, pollcore.TimedOut, 0},
		{"time while a call lasts", retry.Strategy{MaxAttempts: retry.Unlimited, MaxTime: 15 * time.Second}, pollcore.ErrTimedOut, 15 * time.Second, pollcore.TimedOut, 7 * time.Second},
		{"time", retry.Strategy{MaxAttempts: retry.Unlimited, MaxTime: 15 * time.Second}, pollcore.ErrTimedOut, 15 * time.Second, pollcore.TimedOut, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				op := after{latency: tt.latency, answers: []answer{{0, "RUNNING", nil}}}
				stopped := false
				got, err := pollcore.Wait(t.Context(), stateDone, "in", time.Hour, op.describe, pollcore.Jitter(upper), pollcore.Using(tt.strategy),
					pollcore.OnTimeout(func(context.Context) error { stopped = true; return nil }))
				require.ErrorIs(t, err, tt.is)
				require.ErrorAs(t, err, new(*retry.Error))
				require.ErrorContains(t, err, "JobDone: ended by its strategy after")
				require.True(t, stopped)
				require.ErrorContains(t, err, `State = "RUNNING"`, "the last status is not lost")
				require.Equal(t, tt.status, got.Status)
				require.Equal(t, tt.elapsed, got.Elapsed)
			})
		})
	}
}

func TestUsingAStrategyIsCanceledAtOnce(t *testing.T) {
	t.Parallel()
	for _, latency := range []time.Duration{0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(5*time.Second, cancel)
			op := after{latency: latency, answers: []answer{{0, "RUNNING", nil}}}
			got, err := pollcore.Wait(ctx, stateDone, "in", time.Hour, op.describe, pollcore.Jitter(upper), pollcore.Using(retry.Strategy{MaxAttempts: retry.Unlimited}))
			require.ErrorIs(t, err, pollcore.ErrCanceled)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 5*time.Second, got.Elapsed)
			require.Equal(t, pollcore.Running, got.Status)
		})
	}
}
