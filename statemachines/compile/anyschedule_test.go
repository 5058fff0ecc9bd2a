package compile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// drawSchedule draws a schedule of up to 60 delays, some of which repeat.
func drawSchedule(t *rapid.T) pollcore.Planned {
	p := pollcore.Planned{
		Delays: seconds(rapid.IntRange(0, 300).Draw(t, "first")), Then: time.Duration(rapid.IntRange(1, 400).Draw(t, "then")) * time.Second,
		Jitter: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 45}).Draw(t, "jitter")) * time.Second,
	}
	for range rapid.IntRange(0, 12).Draw(t, "stretches") {
		delay := rapid.IntRange(1, 200).Draw(t, "delay")
		for range rapid.IntRange(1, 5).Draw(t, "times") {
			p.Delays = append(p.Delays, time.Duration(delay)*time.Second)
		}
	}
	return p
}

// Whatever the schedule, a machine is refused with the reason, or it is valid, polls when
// its own schedule says, stays within its report and ends before its TimeoutSeconds.
func TestAnySchedule(t *testing.T) {
	t.Parallel()
	describe := operation(t, "dynamodb", "DescribeTable")
	compiled := 0
	rapid.Check(t, func(rt *rapid.T) {
		planned := drawSchedule(rt)
		strategy := rapid.SampledFrom([]compile.Strategy{compile.Variables, compile.Loop, compile.RetryTask}).Draw(rt, "strategy")
		maxWait := time.Duration(rapid.IntRange(60, 7200).Draw(rt, "maxWait")) * time.Second
		seed := rapid.Uint64().Draw(rt, "seed")
		c, err := compile.Compile(tableActive, compile.Call{Operation: describe}, compile.Options{Strategy: strategy, MaxWait: maxWait, Schedule: &planned})
		if err != nil {
			if planned.Before(1)+planned.Jitter <= maxWait {
				require.ErrorAs(rt, err, new(*compile.NotCompiledError))
				require.ErrorContains(rt, err, "events of the history")
			}
			return
		}
		compiled++
		require.Empty(rt, asl.Validate(asl.Print(c.Machine), asl.Standard))

		at := pollTimes(t, c.Machine, seed)
		held := pollcore.Planned{Delays: []time.Duration{planned.Before(1)}, Then: c.Schedule().Max} // of one delay
		if several := c.Schedule().Planned; several != nil {
			held = *several
		}
		drawn := at[0] - held.Before(1)
		require.GreaterOrEqual(rt, drawn, time.Duration(0))
		require.LessOrEqual(rt, drawn, planned.Jitter)
		for i := 1; i < len(at)-1; i++ { // the last may be cut at the deadline
			require.Equal(rt, held.Before(i+1), at[i]-at[i-1], "poll %d of %v", i+1, at)
		}
		require.LessOrEqual(rt, at[len(at)-1], maxWait+max(held.Then, held.Before(len(at)))+drawn)
		require.Less(rt, at[len(at)-1], time.Duration(c.Machine.TimeoutSeconds)*time.Second)
		require.LessOrEqual(rt, float64(len(at)), c.Report().Worst.Polls)
	})
	require.Greater(t, compiled, 50)
}
