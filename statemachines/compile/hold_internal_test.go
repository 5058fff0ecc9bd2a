package compile

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
)

// seconds are whole numbers of them.
func seconds(all ...int) []time.Duration {
	durations := make([]time.Duration, len(all))
	for i, n := range all {
		durations[i] = time.Duration(n) * time.Second
	}
	return durations
}

// misfit is what divide keeps low: the integral of the square of log(delay / its own).
func misfit(delays []time.Duration, phases []phase, then time.Duration) float64 {
	sum, at := 0.0, 0
	for _, ph := range append(slices.Clone(phases), phase{then, len(delays)}) {
		for n := 0; n < ph.calls && at < len(delays); n++ {
			log := math.Log(float64(delays[at]) / float64(ph.delay))
			sum, at = sum+delays[at].Seconds()*log*log, at+1
		}
	}
	return sum
}

// each yields every division of the delays, with the mean of each part.
func each(delays []time.Duration, most int, yield func([]phase)) {
	var more func(before []phase, rest []time.Duration)
	more = func(before []phase, rest []time.Duration) {
		yield(before)
		if len(before) == most {
			return
		}
		sum := time.Duration(0)
		for n, d := range rest {
			sum += d
			mean := (sum / time.Duration(n+1)).Round(time.Second)
			more(append(slices.Clone(before), phase{mean, n + 1}), rest[n+1:])
		}
	}
	more(nil, delays)
}

// No division of the delays is better than the one that is taken, and none as good has
// fewer phases.
func TestDivideIsTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.SampledFrom([]int{1, 2, 5, 30, 31, 600}).Draw(t, "delay")) * time.Second
		})
		delays, then := rapid.SliceOfN(delay, 1, 7).Draw(t, "delays"), delay.Draw(t, "then")
		most := rapid.IntRange(0, 4).Draw(t, "most")
		got := divide(delays, then, most)
		require.LessOrEqual(t, len(got), most)
		least := misfit(delays, got, then)
		each(delays, most, func(phases []phase) {
			other := misfit(delays, phases, then)
			require.LessOrEqual(t, least, other+1e-4)
			if other < least+1e-9 {
				require.LessOrEqual(t, len(got), len(phases))
			}
		})
	})
}

// A held schedule lasts as long as the one that was asked for, up to the rounding of each
// delay. A machine holds it again without a change.
func TestHoldOfManyDelays(t *testing.T) {
	t.Parallel()
	asked := pollcore.Planned{Delays: seconds(600), Then: 20 * time.Second}
	for n := 1; n < pollcore.MaxPlannedDelays; n++ {
		asked.Delays = append(asked.Delays, time.Duration(20+n*n%301)*time.Second)
	}
	held, same := RetryTask.Hold(asked)
	require.False(t, same)
	require.NoError(t, held.Validate())
	require.Equal(t, asked.Delays[0], held.Delays[0])
	phases := listPhases(append(slices.Clone(held.Delays[1:]), held.Then))
	require.LessOrEqual(t, len(phases), mostPhases)
	at := 1
	for _, ph := range phases[:len(phases)-1] {
		sum := time.Duration(0)
		for _, d := range asked.Delays[at : at+ph.calls] {
			sum += d
		}
		require.InDelta(t, sum.Seconds(), ph.span().Seconds(), float64(ph.calls)/2)
		at += ph.calls
	}
	again, same := RetryTask.Hold(held)
	require.True(t, same)
	require.Equal(t, held, again)
	for _, s := range Strategies() {
		if s != RetryTask {
			whole, same := s.Hold(asked)
			require.True(t, same, s)
			require.Equal(t, asked, whole)
			require.Empty(t, s.PhaseEnds(asked))
		}
	}
}

func TestPhaseEnds(t *testing.T) {
	t.Parallel()
	p := pollcore.Planned{Delays: seconds(600, 30, 30, 300, 20, 20), Then: 20 * time.Second}
	require.Equal(t, seconds(660, 960), RetryTask.PhaseEnds(p))
	p.Then = time.Minute
	require.Equal(t, seconds(660, 960, 1000), RetryTask.PhaseEnds(p))
	require.Empty(t, RetryTask.PhaseEnds(pollcore.Planned{Delays: seconds(600, 30), Then: 30 * time.Second}))
}

// All phases retry errors for a quarter of the time together, the last for half of it at
// least.
func TestRetryErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		total  int // in seconds; a quarter is for errors
		phases []phase
		want   []int
	}{
		{400, []phase{{10 * time.Second, 40}}, []int{10}},
		{400, []phase{{10 * time.Second, 3}, {30 * time.Second, 9}}, []int{3, 3}},
		{400, []phase{{10 * time.Second, 30}, {20 * time.Second, 5}}, []int{5, 3}},
		{400, []phase{{10 * time.Second, 2}, {10 * time.Second, 2}, {300 * time.Second, 1}, {10 * time.Second, 5}}, []int{2, 1, 0, 7}},
		{400, []phase{{60 * time.Second, 4}, {60 * time.Second, 5}}, []int{0, 2}},
		{3, []phase{{1 * time.Second, 1}, {1 * time.Second, 2}}, []int{0, 1}},
	} {
		p := &plan{timing: timing{total: tt.total}, catches: []catch{{state: pollcore.Retry}}}
		require.Equal(t, tt.want, p.retryErrors(tt.phases), "%v", tt)
	}
}
