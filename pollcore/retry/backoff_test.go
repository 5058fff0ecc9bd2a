package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

func TestExponentialGrowth(t *testing.T) {
	t.Parallel()
	defaults := retry.Backoff{Jitter: noJitter}
	slow := retry.Backoff{Base: time.Second, Factor: 1.5, Max: time.Minute, Jitter: noJitter}
	tests := []struct {
		backoff retry.Backoff
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
		{retry.Backoff{Base: time.Hour, Max: time.Second, Jitter: noJitter}, 1, time.Second},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.backoff.Delay(tt.attempt), "%+v", tt)
	}
}

// TestJitterStaysBelowTheCeiling holds for any fields and any source.
func TestJitterStaysBelowTheCeiling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := retry.Backoff{
			Base:   time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "base")),
			Factor: rapid.Float64Range(1, math.MaxFloat64).Draw(t, "factor"),
			Max:    time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "max")),
			Jitter: noJitter,
		}
		require.NoError(t, retry.Strategy{Backoff: b}.Validate())
		attempt := rapid.Int().Draw(t, "attempt")
		ceiling := b.Delay(attempt)
		require.LessOrEqual(t, ceiling, b.Max)
		require.Positive(t, ceiling)
		wild := time.Duration(rapid.Int64().Draw(t, "wild"))
		for _, jitter := range []func(time.Duration) time.Duration{
			nil, func(time.Duration) time.Duration { return wild },
		} {
			b.Jitter = jitter
			got := b.Delay(attempt)
			require.GreaterOrEqual(t, got, time.Duration(0))
			require.LessOrEqual(t, got, ceiling)
		}
	})
}

func TestDefaultJitterReachesBothEnds(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 1000 {
		seen[retry.Backoff{Base: 3, Max: 3}.Delay(1)] = true
	}
	require.Equal(t, map[time.Duration]bool{0: true, 1: true, 2: true, 3: true}, seen)
}
