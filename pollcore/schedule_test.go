package pollcore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The specification's own table: defaults, a wait of 300 s, calls that take no
// time. The draws are the table's delays; the last two are not drawn but
// follow from the rule at the end of the wait.
func TestSmithyExactReproducesTheSpecification(t *testing.T) {
	t.Parallel()
	draws := []int{2, 3, 6, 6, 22, 62, 43, 24, 71, 42, 9, 6, 120}
	ceilings := []int{2, 4, 8, 16, 32, 64, 120, 120, 120, 120, 120, 120, 120}
	cumulative := []int{2, 5, 11, 17, 39, 101, 144, 168, 239, 281, 290, 296, 298}

	s := pollcore.NewSmithySchedule(pollcore.MustNew("Default", pollcore.Succeed(pollcore.AnyResponse())), 300*time.Second)
	attempt := 0
	s.Random = func(lo, hi time.Duration) time.Duration {
		require.Equal(t, 2*time.Second, lo)
		require.Equal(t, time.Duration(ceilings[attempt])*time.Second, hi, "attempt %d", attempt+1)
		return time.Duration(draws[attempt]) * time.Second
	}
	var elapsed time.Duration
	for ; attempt < len(cumulative); attempt++ {
		d := s.Next(pollcore.Retry, pollcore.Progress{Attempts: attempt + 1, Elapsed: elapsed})
		require.Equal(t, pollcore.Running, d.Status)
		elapsed += d.Delay
		require.Equal(t, time.Duration(cumulative[attempt])*time.Second, elapsed, "attempt %d", attempt+1)
	}
	d := s.Next(pollcore.Retry, pollcore.Progress{Attempts: attempt + 1, Elapsed: elapsed})
	require.Equal(t, pollcore.Decision{Status: pollcore.TimedOut}, d, "no attempt follows the last")
}

func TestNext(t *testing.T) {
	t.Parallel()
	full := pollcore.Schedule{Total: time.Minute, Min: 2 * time.Second, Max: 20 * time.Second, Random: func(_, hi time.Duration) time.Duration { return hi }}
	delayed := full
	delayed.Initial = 30 * time.Second
	fixed := full
	fixed.Min, fixed.Max = 20*time.Second, 20*time.Second
	late := full
	late.Total = time.Hour
	exact := full
	exact.Mode = pollcore.SmithyExact
	tests := []struct {
		name     string
		schedule pollcore.Schedule
		verdict  pollcore.Verdict
		attempts int
		elapsed  time.Duration
		want     pollcore.Decision
	}{
		{"success", full, pollcore.Success, 1, time.Second, pollcore.Decision{Status: pollcore.Succeeded}},
		{"failure", full, pollcore.Failure, 1, time.Second, pollcore.Decision{Status: pollcore.Failed}},
		{"late success counts", full, pollcore.Success, 9, time.Hour, pollcore.Decision{Status: pollcore.Succeeded}},
		{"late failure counts", full, pollcore.Failure, 9, time.Hour, pollcore.Decision{Status: pollcore.Failed}},
		{"late success in exact mode", exact, pollcore.Success, 9, time.Minute + 1, pollcore.Decision{Status: pollcore.TimedOut}},
		{"success at the limit in exact mode", exact, pollcore.Success, 9, time.Minute, pollcore.Decision{Status: pollcore.Succeeded}},
		{"first delay", full, pollcore.Retry, 1, 0, pollcore.Decision{Status: pollcore.Running, Delay: 2 * time.Second}},
		{"grown", full, pollcore.Retry, 3, 0, pollcore.Decision{Status: pollcore.Running, Delay: 2909500 * time.Microsecond}},
		{"doubled in exact mode", exact, pollcore.Retry, 3, 0, pollcore.Decision{Status: pollcore.Running, Delay: 8 * time.Second}},
		{"capped", full, pollcore.Retry, 1000, 0, pollcore.Decision{Status: pollcore.Running, Delay: 20 * time.Second}},
		{"by elapsed time", full, pollcore.Retry, 0, 6 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 3190 * time.Millisecond}},
		{"by elapsed time, capped", late, pollcore.Retry, 0, 2 * time.Minute, pollcore.Decision{Status: pollcore.Running, Delay: 20 * time.Second}},
		{"by elapsed time in exact mode", exact, pollcore.Retry, 0, 6 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 8 * time.Second}},
		{"by elapsed time, clock behind", full, pollcore.Retry, 0, -time.Hour, pollcore.Decision{Status: pollcore.Running, Delay: 2 * time.Second}},
		{"by elapsed time since the first call", delayed, pollcore.Retry, 0, 36 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 3190 * time.Millisecond}},
		{"a negative count", full, pollcore.Retry, -1, 6 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 3190 * time.Millisecond}},
		{"a minimum before the deadline", full, pollcore.Retry, 99, 39 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 19 * time.Second}},
		{"no room for a minimum", fixed, pollcore.Retry, 9, 25 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 20 * time.Second}},
		{"less than a fixed interval left", fixed, pollcore.Retry, 9, 45 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 15 * time.Second}},
		{"to the deadline", full, pollcore.Retry, 99, 41 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 19 * time.Second}},
		{"less than a minimum left", full, pollcore.Retry, 9, 59 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: time.Second}},
		{"at the deadline", full, pollcore.Retry, 9, time.Minute, pollcore.Decision{Status: pollcore.TimedOut}},
		{"exact keeps a minimum free", exact, pollcore.Retry, 9, 41 * time.Second, pollcore.Decision{Status: pollcore.Running, Delay: 17 * time.Second}},
		{"exact ends a minimum early", exact, pollcore.Retry, 9, 58 * time.Second, pollcore.Decision{Status: pollcore.TimedOut}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, tt.schedule.Next(tt.verdict, pollcore.Progress{Attempts: tt.attempts, Elapsed: tt.elapsed}))
		})
	}
}

// However long the wait and the delays, counted or not: calls keep the minimum
// delay between them, the last one starts exactly at the deadline, and only
// then is the wait over.
func TestFullWindowUsesTheWholeWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.IntRange(1, 30).Draw(t, "min")
		high := rapid.IntRange(low, 200).Draw(t, "max")
		s := pollcore.Schedule{
			Total: time.Duration(rapid.IntRange(1, 4000).Draw(t, "total")) * time.Second,
			Min:   time.Duration(low) * time.Second, Max: time.Duration(high) * time.Second,
			Initial: time.Duration(rapid.IntRange(0, 5000).Draw(t, "initial")) * time.Second,
		}
		require.NoError(t, s.Validate())
		counted := rapid.Bool().Draw(t, "counted")
		elapsed := s.First()
		for calls := 1; ; calls++ {
			progress := pollcore.Progress{Elapsed: elapsed}
			if counted {
				progress.Attempts = calls
			}
			d := s.Next(pollcore.Retry, progress)
			if d.Status == pollcore.TimedOut {
				require.Equal(t, s.Total, elapsed)
				return
			}
			require.LessOrEqual(t, calls, int(s.Total/s.Min)+2, "each call but the last uses up a minimum delay")
			require.LessOrEqual(t, d.Delay, s.Max)
			if elapsed += d.Delay; elapsed < s.Total {
				require.GreaterOrEqual(t, d.Delay, s.Min)
			}
		}
	})
}

// Delays grow by 15 % from the shortest to the longest, and are drawn from 10 % of
// them to either side, as far as the two leave room: not where there is none, so
// that the mean is the delay without a draw.
func TestDelaysGrowSlowly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		low := time.Duration(rapid.Int64Range(1, int64(5*time.Minute)).Draw(t, "min"))
		high := low + time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "more"))
		s := pollcore.Schedule{Total: 1000 * time.Hour, Min: low, Max: high, Initial: time.Duration(rapid.IntRange(0, 100).Draw(t, "initial")) * time.Second}
		exactly, elapsed := float64(low), float64(s.Initial)
		for n := 1; n <= 200; n++ {
			want := min(exactly, float64(high))
			lo, hi := s.Bounds(pollcore.Progress{Attempts: n})
			require.InDelta(t, want, float64(lo+hi)/2, 1)
			require.InDelta(t, min(0.1*want, want-float64(low), float64(high)-want), float64(hi-lo)/2, 1)
			require.GreaterOrEqual(t, lo, low)
			require.LessOrEqual(t, hi, high)
			uncounted, _ := s.Bounds(pollcore.Progress{Elapsed: time.Duration(elapsed)})
			require.InDelta(t, float64(lo), float64(uncounted), 2, "by the time since the first call, undrawn")
			elapsed += want
			exactly *= 1.15
			if want == float64(high) {
				return
			}
		}
	})
}

func TestNewSchedule(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lo, hi                      int
		wantMin, wantMax, wantExact time.Duration
	}{
		{0, 0, 2 * time.Second, time.Minute, 2 * time.Minute},
		{5, 30, 5 * time.Second, 30 * time.Second, 30 * time.Second},
		{20, 60, 20 * time.Second, time.Minute, time.Minute},
		{120, 21600, 2 * time.Minute, 2 * time.Minute, 6 * time.Hour},
		{300, 21600, 5 * time.Minute, 5 * time.Minute, 6 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.lo, tt.hi), func(t *testing.T) {
			t.Parallel()
			w := &pollcore.Waiter{Name: "Done", MinDelay: tt.lo, MaxDelay: tt.hi}
			s := pollcore.NewSchedule(w, time.Hour)
			require.Equal(t, []time.Duration{tt.wantMin, tt.wantMax}, []time.Duration{s.Min, s.Max})
			exact := pollcore.NewSmithySchedule(w, time.Hour)
			require.Equal(t, []time.Duration{tt.wantMin, tt.wantExact}, []time.Duration{exact.Min, exact.Max})
		})
	}
}

// Next answers also for a schedule that Validate refuses.
func TestNextDoesNotPanic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		any64 := rapid.Int64()
		d := func(name string) time.Duration { return time.Duration(any64.Draw(t, name) / 4) }
		s := pollcore.Schedule{Total: d("total"), Initial: d("initial"), Min: d("min"), Max: d("max"), Mode: pollcore.Mode(rapid.IntRange(0, 1).Draw(t, "mode"))}
		decision := s.Next(pollcore.Retry, pollcore.Progress{Attempts: rapid.Int().Draw(t, "attempts"), Elapsed: d("elapsed")})
		require.Contains(t, []pollcore.Status{pollcore.Running, pollcore.TimedOut}, decision.Status)
	})
}

func TestScheduleValidate(t *testing.T) {
	t.Parallel()
	err := pollcore.Schedule{Initial: -1, Max: -time.Second}.Validate()
	require.ErrorAs(t, err, new(diag.Problems))
	for _, want := range []string{"4 problems", "total wait must be above 0, got 0s", "initial delay must not be negative", "minimum delay must be above 0", "maximum delay (-1s) must not be below the minimum delay (0s)"} {
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, time.Second, pollcore.Schedule{Total: time.Second, Initial: time.Minute}.First())
}
