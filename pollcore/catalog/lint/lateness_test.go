package lint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// A simulation with draws, which knows nothing of how the chances are added
// up, comes to the same figures.
func TestLatenessIsThatOfRuns(t *testing.T) {
	t.Parallel()
	tests := []struct{ lo, hi, job int }{
		{2, 120, 600},
		{20, 120, 3600},
		{60, 3600, 3600},
		{120, 21600, 14400},
		{5, 60, 100},
		{5, 6, 2},
		{30, 60, 1},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			t.Parallel()
			seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
			w := &pollcore.Waiter{Name: "W", MinDelay: tt.lo, MaxDelay: tt.hi}
			s := pollcore.NewSmithySchedule(w, math.MaxInt64)
			random := rand.New(rand.NewPCG(1, 2))
			s.Random = func(lo, hi time.Duration) time.Duration {
				return (lo + time.Duration(random.Int64N(int64(hi-lo)+1))).Round(time.Second)
			}
			const runs = 20_000
			var late []int
			sum, calls := 0, 0
			for range runs {
				now := s.First()
				attempts := 1
				for ; now < seconds(tt.job); attempts++ {
					now += s.Next(pollcore.Retry, pollcore.Progress{Attempts: attempts, Elapsed: now}).Delay
				}
				late = append(late, int((now-seconds(tt.job))/time.Second))
				sum += late[len(late)-1]
				calls += attempts
			}
			slices.Sort(late)
			got := lint.LatenessOf(w, seconds(tt.job))
			require.Equal(t, seconds(tt.job), got.Job)
			require.InDelta(t, float64(sum)/runs, got.Mean.Seconds(), 2+0.03*got.Mean.Seconds())
			require.InDelta(t, float64(late[runs*95/100]), got.P95.Seconds(), 2+0.03*got.P95.Seconds())
			require.InDelta(t, float64(calls)/runs, got.Calls, 0.1+0.01*got.Calls)
		})
	}
}

// The figures are those that the project measured by simulation of the
// specification's backoff.
func TestLatenessOfWaiters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lo, hi, job int
		mean, p95   float64
		calls       float64
	}{
		{lo: 2, hi: 120, job: 600, mean: 41, p95: 94},
		{lo: 2, hi: 120, job: 14400, mean: 40, p95: 93, calls: 243},
		{lo: 20, hi: 120, job: 14400, mean: 41, p95: 93, calls: 209},
		{lo: 60, hi: 3600, job: 600, mean: 312, p95: 815},
		{lo: 60, hi: 3600, job: 3600, mean: 1239, p95: 2700},
		{lo: 120, hi: 21600, job: 3600, mean: 2193, p95: 6185},
		{lo: 120, hi: 21600, job: 14400, mean: 6574, p95: 16070, calls: 9.5},
		{lo: 300, hi: 300, job: 3600, mean: 150, p95: 285, calls: 13.5},
		{lo: 60, hi: 28800, job: 14400, mean: 8110, p95: 22450, calls: 10.5},
	}
	for _, tt := range tests {
		w := &pollcore.Waiter{Name: "W", MinDelay: tt.lo, MaxDelay: tt.hi}
		job := time.Duration(tt.job) * time.Second
		got := lint.LatenessOf(w, job)
		require.InEpsilon(t, tt.mean, got.Mean.Seconds(), 0.05, "%v", tt)
		require.InEpsilon(t, tt.p95, got.P95.Seconds(), 0.05, "%v", tt)
		if tt.calls > 0 {
			require.InEpsilon(t, tt.calls, got.Calls, 0.05, "%v", tt)
		}
	}
}

// A schedule beyond all measure is as good as one of a week.
func TestLatenessOfLongDelays(t *testing.T) {
	t.Parallel()
	w := &pollcore.Waiter{Name: "W", MinDelay: 1, MaxDelay: math.MaxInt32}
	got := lint.LatenessOf(w, 1000*time.Hour)
	require.Equal(t, 1000*time.Hour, got.Job)
	require.Greater(t, got.Mean, 24*time.Hour)
	require.Less(t, got.P95, 7*24*time.Hour)
}
