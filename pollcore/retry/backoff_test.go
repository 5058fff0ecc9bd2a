package retry_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

func TestExponentialGrowth(t *testing.T) {
	t.Parallel()
	defaults := retry.ExponentialBackoff{Jitter: retry.NoJitter}
	slow := retry.ExponentialBackoff{Base: time.Second, Factor: 1.5, Max: time.Minute, Jitter: retry.NoJitter}
	tests := []struct {
		backoff retry.ExponentialBackoff
		attempt int
		want    time.Duration
	}{
		{defaults, 1, 100 * time.Millisecond},
		{defaults, 2, 200 * time.Millisecond},
		{defaults, 8, 12800 * time.Millisecond},
		{defaults, 9, 20 * time.Second},
		{defaults, math.MaxInt, 20 * time.Second},
		{defaults, 0, 100 * time.Millisecond},
		{slow, 3, 2250 * time.Millisecond},
		{slow, 100, time.Minute},
		{retry.ExponentialBackoff{Base: time.Hour, Max: time.Second, Jitter: retry.NoJitter}, 1, time.Second},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.backoff.Delay(tt.attempt), "%+v", tt)
	}
}

// TestJitterStaysBelowTheCeiling holds for any fields and any source.
func TestJitterStaysBelowTheCeiling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := retry.ExponentialBackoff{
			Base:   time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "base")),
			Factor: rapid.Float64Range(1, math.MaxFloat64).Draw(t, "factor"),
			Max:    time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "max")),
			Jitter: retry.NoJitter,
		}
		require.NoError(t, b.Validate())
		attempt := rapid.Int().Draw(t, "attempt")
		ceiling := b.Delay(attempt)
		require.LessOrEqual(t, ceiling, b.Max)
		require.Positive(t, ceiling)
		wild := time.Duration(rapid.Int64().Draw(t, "wild"))
		for _, jitter := range []func(time.Duration) time.Duration{
			nil, retry.FullJitter, func(time.Duration) time.Duration { return wild },
		} {
			b.Jitter = jitter
			got := b.Delay(attempt)
			require.GreaterOrEqual(t, got, time.Duration(0))
			require.LessOrEqual(t, got, ceiling)
		}
	})
}

func TestFullJitterReachesBothEnds(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 1000 {
		seen[retry.FullJitter(3)] = true
	}
	require.Equal(t, map[time.Duration]bool{0: true, 1: true, 2: true, 3: true}, seen)
	require.Zero(t, retry.FullJitter(0))
	require.Zero(t, retry.FullJitter(-time.Second))
}

func TestBackoffSleeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.NoError(t, fixed(time.Minute).Backoff(t.Context(), 1))
		require.Equal(t, time.Minute, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, fixed(time.Minute).Backoff(ctx, 1), context.DeadlineExceeded)
		require.Equal(t, time.Minute+time.Second, time.Since(start))
	})
}

func TestBackoffRefusesItsFields(t *testing.T) {
	t.Parallel()
	err := retry.ExponentialBackoff{Base: -1, Factor: math.NaN(), Max: -1}.Backoff(t.Context(), 1)
	for _, want := range []string{"base delay must not be negative", "factor must be at least 1, got NaN", "maximum delay must not be negative"} {
		require.ErrorContains(t, err, want)
	}
}
