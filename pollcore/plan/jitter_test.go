package plan_test

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// A jitter as long as the delay costs nothing: calls and lateness are those of the
// fixed delay.
func TestJitterIsFree(t *testing.T) {
	t.Parallel()
	for _, text := range some([]string{"uniform(15m, 30m)", "lognormal(15m, 0.25)", "lognormal(15m, 0.5)", "weibull(20m, 3)", "exponential(1h)"}) {
		for _, seconds := range []int{2, 10, 50, 120} {
			t.Run(fmt.Sprint(text, seconds), func(t *testing.T) {
				t.Parallel()
				d, delay := parse(t, text), time.Duration(seconds)*time.Second
				with := plan.MeasurePlanned(d, pollcore.Planned{Delays: []time.Duration{delay / 2}, Then: delay, Jitter: delay})
				calls, late := d.Mean().Seconds()/delay.Seconds()+0.5, delay.Seconds()/2
				require.InEpsilon(t, calls, with.Calls, 0.01)
				require.InEpsilon(t, late, with.Mean.Seconds(), 0.02)
				require.GreaterOrEqual(t, with.Worst, delay-time.Millisecond)
				require.LessOrEqual(t, with.Worst, delay*3/2)

				// The planner finds as much. Jobs that end before the first poll are a little later.
				goal := plan.Goal{Late: delay/2 + delay/200}
				p, err := plan.Best(d, goal, plan.Limits{Method: plan.Fixed, Jitter: delay})
				require.NoError(t, err)
				plain, err := plan.Best(d, goal, plan.Limits{Method: plan.Fixed})
				require.NoError(t, err)
				require.Equal(t, delay, p.Schedule.Jitter)
				require.InDelta(t, plain.Schedule.Then.Seconds(), p.Schedule.Then.Seconds(), max(1, 0.02*delay.Seconds()))
				require.InEpsilon(t, plain.Cost.Calls, p.Cost.Calls, 0.02)
			})
		}
	}
}

// Who plans with a jitter gets what the plan says, of jobs and jitters that are drawn.
func TestPlansWithJitterKeepTheirPromise(t *testing.T) {
	t.Parallel()
	const jobs = 100_000
	for _, text := range some(stated) {
		for _, jitter := range []time.Duration{time.Second, time.Minute, 10 * time.Minute} {
			for _, goal := range []string{"30s", "1m p95", "5%", "40% p95"} {
				if jitter > time.Minute && strings.HasSuffix(goal, "p95") {
					continue
				}
				t.Run(text+" "+jitter.String()+" "+goal, func(t *testing.T) {
					t.Parallel()
					d := parse(t, text)
					g, err := plan.ParseGoal(goal)
					require.NoError(t, err)
					p, err := plan.Best(d, g, plan.Limits{Jitter: jitter})
					if err != nil {
						require.ErrorIs(t, err, plan.ErrUnreachable)
						return
					}
					require.NoError(t, p.Schedule.Validate())
					require.Equal(t, jitter, p.Schedule.Jitter)
					require.LessOrEqual(t, p.Cost.Calls, p.FixedCost.Calls*1.0001)
					claimed, most := lateness(g, p.Cost)
					require.LessOrEqual(t, claimed, most*1.002)

					random, calls, late := rand.New(rand.NewPCG(7, 7)), 0.0, 0.0
					times := []time.Duration{p.Schedule.Before(1)}
					for i := range jobs {
						drawn := time.Duration(random.Int64N(int64(jitter/time.Second)+1)) * time.Second
						end := d.Quantile((float64(i)+0.5)/jobs) - drawn
						for times[len(times)-1] < end {
							times = append(times, times[len(times)-1]+p.Schedule.Before(len(times)+1))
						}
						n := sort.Search(len(times), func(n int) bool { return times[n] >= end })
						calls += float64(n+1) / jobs
						late += (times[n] - end).Seconds() / jobs
					}
					require.LessOrEqual(t, calls, p.Cost.Calls*1.01)
					require.LessOrEqual(t, late, p.Cost.Mean.Seconds()*1.01+0.01)
					again := plan.MeasurePlanned(d, p.Schedule)
					require.InEpsilon(t, p.Cost.Calls, again.Calls, 1e-6)
					require.InDelta(t, p.Cost.P95.Seconds(), again.P95.Seconds(), 0.01)
					require.InDelta(t, p.Cost.Worst.Seconds(), again.Worst.Seconds(), 0.05)
				})
			}
		}
	}
}

// A jitter may be longer than most jobs, and the first poll sees those.
func TestJitterLongerThanJobs(t *testing.T) {
	t.Parallel()
	p, err := plan.Best(parse(t, "lognormal(30s, 1)"), plan.Goal{Late: 40 * time.Second}, plan.Limits{Method: plan.Exact, Jitter: time.Minute})
	require.NoError(t, err)
	require.LessOrEqual(t, p.Cost.Calls, 1.40)
	// Shares are of the whole length.
	var calls []float64
	for _, method := range []plan.Method{plan.Exact, plan.Hazard} {
		p, err := plan.Best(parse(t, "lognormal(20m, 0.5)"), plan.Goal{Share: 0.5}, plan.Limits{Method: method, Jitter: 10 * time.Minute})
		require.NoError(t, err)
		calls = append(calls, p.Cost.Calls)
		require.LessOrEqual(t, p.Bound*p.FixedCost.Calls, p.Cost.Calls*1.0001)
	}
	require.Less(t, calls[1], 1.25*calls[0])
}

// The jitter is drawn around the first poll that is best without it.
func TestJitterBeginsHalfOfItBefore(t *testing.T) {
	t.Parallel()
	for _, method := range []plan.Method{plan.Fixed, plan.Initial, plan.Hazard, plan.Exact} {
		d, goal := parse(t, "lognormal(15m, 0.5)"), plan.Goal{Late: 30 * time.Second}
		plain, err := plan.Best(d, goal, plan.Limits{Method: method})
		require.NoError(t, err)
		with, err := plan.Best(d, goal, plan.Limits{Method: method, Jitter: time.Minute})
		require.NoError(t, err)
		middle := with.Schedule.Delays[0] + 30*time.Second
		require.InDelta(t, plain.Schedule.Delays[0].Seconds(), middle.Seconds(), 12, method)
		require.InEpsilon(t, plain.Cost.Calls, with.Cost.Calls, 0.02, method)
	}
	// Without durations, too.
	for at, want := range map[plan.Statistic]time.Duration{plan.Mean: 110 * time.Second, plan.P50: 110 * time.Second, plan.P95: 40 * time.Second, plan.Worst: 40 * time.Second} {
		p, err := plan.Best(plan.Distribution{}, plan.Goal{Late: time.Minute, At: at}, plan.Limits{Jitter: 20 * time.Second})
		require.NoError(t, err)
		require.Equal(t, want, p.Schedule.Delays[0], at)
	}
	_, err := plan.Best(plan.Distribution{}, plan.Goal{Late: time.Minute, At: plan.Worst}, plan.Limits{Jitter: time.Minute})
	require.ErrorIs(t, err, plan.ErrUnreachable)
	require.ErrorContains(t, err, "a jitter of 1m0s makes the first poll later than 1m0s: take less jitter")
	p, err := plan.Best(plan.Distribution{}, plan.Goal{Share: 0.05, At: plan.Worst}, plan.Limits{Jitter: time.Minute})
	require.NoError(t, err)
	require.Contains(t, p.Why, "or a delay of 1m1s")
	for _, jitter := range []time.Duration{-time.Second, 1500 * time.Millisecond, plan.MaxJitter + time.Second} {
		_, err := plan.Best(parse(t, "constant(1m)"), plan.Goal{Late: time.Minute}, plan.Limits{Jitter: jitter})
		require.ErrorContains(t, err, "jitter must be whole seconds from 0 to 24h0m0s, got "+jitter.String())
	}
}
