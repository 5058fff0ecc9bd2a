package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// The delay before each retry grows by the backoff rate up to MaxDelaySeconds, or to a year.
func TestRetrierDelay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		retrier asl.Retrier
		n       int64
		want    float64
	}{
		{asl.DefaultRetrier(), 1, 1},
		{asl.DefaultRetrier(), 4, 8},
		{asl.Retrier{IntervalSeconds: 30, BackoffRate: 1}, 100, 30},
		{asl.Retrier{IntervalSeconds: 10, BackoffRate: 1.5}, 3, 22.5},
		{asl.Retrier{IntervalSeconds: 2, BackoffRate: 2, MaxDelaySeconds: 60}, 5, 32},
		{asl.Retrier{IntervalSeconds: 2, BackoffRate: 2, MaxDelaySeconds: 60}, 6, 60},
		{asl.Retrier{IntervalSeconds: 90, BackoffRate: 2, MaxDelaySeconds: 60}, 1, 60},
		{asl.Retrier{IntervalSeconds: 1, BackoffRate: 10}, 5000, 366 * 24 * 3600},
		{asl.Retrier{IntervalSeconds: asl.MaxSeconds, BackoffRate: 2}, 2, asl.MaxSeconds},
		{asl.Retrier{BackoffRate: 10}, 5000, 0},
	} {
		require.InDelta(t, c.want, c.retrier.Delay(c.n), 0, "%+v, retry %d", c.retrier, c.n)
	}
}
