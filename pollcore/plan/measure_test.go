package plan_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

func parse(t testing.TB, text string) plan.Distribution {
	t.Helper()
	d, err := plan.Parse(text)
	require.NoError(t, err)
	return d
}

// simulate waits for jobs as pollcore does.
func simulate(d plan.Distribution, s pollcore.Schedule, jobs int) plan.Cost {
	random := rand.New(rand.NewPCG(3, 5))
	if s.Planned != nil {
		s.Random = func(lo, hi time.Duration) time.Duration {
			return lo + time.Duration(random.Int64N(int64((hi-lo)/time.Second)+1))*time.Second
		}
	}
	var cost plan.Cost
	var late []time.Duration
	var shares []float64
	for i := range jobs {
		end := d.Quantile((float64(i) + random.Float64()) / float64(jobs))
		elapsed, calls, seen := s.First(), 1, true
		for elapsed < end {
			next := s.Next(pollcore.Retry, pollcore.Progress{Attempts: calls, Elapsed: elapsed})
			if next.Status != pollcore.Running {
				seen = false
				break
			}
			elapsed += next.Delay
			calls++
		}
		cost.Calls += float64(calls) / float64(jobs)
		if seen {
			late = append(late, elapsed-end)
			shares = append(shares, (elapsed-end).Seconds()/max(10, end.Seconds()))
		}
	}
	slices.Sort(late)
	slices.Sort(shares)
	n := len(late)
	for i := range late {
		cost.Mean += late[i] / time.Duration(n)
		cost.MeanShare += shares[i] / float64(n)
	}
	cost.Missed = 1 - float64(n)/float64(jobs)
	cost.P50, cost.P95 = late[n/2], late[n*95/100]
	cost.P50Share, cost.P95Share = shares[n/2], shares[n*95/100]
	return cost
}

// measure measures a schedule of pollcore by its delays: many draws of those that are drawn.
func measure(d plan.Distribution, s pollcore.Schedule) plan.Cost {
	if s.Planned != nil {
		return plan.MeasurePlanned(d, *s.Planned)
	}
	draws := 1
	if s.Min < s.Max {
		draws = 400
	}
	return plan.MeasureDelays(d, slices.Repeat([]iter.Seq[time.Duration]{func(yield func(time.Duration) bool) {
		elapsed := s.First()
		for calls, goOn := 1, yield(elapsed); goOn; calls++ {
			next := s.Next(pollcore.Retry, pollcore.Progress{Attempts: calls, Elapsed: elapsed})
			elapsed += next.Delay
			goOn = next.Status == pollcore.Running && yield(next.Delay)
		}
	}}, draws)...)
}

func TestMeasureIsWhatASimulationFinds(t *testing.T) {
	t.Parallel()
	schedules := map[string]pollcore.Schedule{
		"fixed":   {Total: 100 * time.Hour, Initial: time.Minute, Min: time.Minute, Max: time.Minute},
		"default": {Total: 100 * time.Hour, Min: 5 * time.Second, Max: time.Minute},
		"smithy":  {Total: 100 * time.Hour, Min: 20 * time.Second, Max: 2 * time.Minute, Mode: pollcore.SmithyExact},
		"planned": {Total: 100 * time.Hour, Planned: &pollcore.Planned{
			Delays: []time.Duration{10 * time.Minute, 30 * time.Second, time.Minute}, Then: 2 * time.Minute,
		}},
		"jitter": {Total: 100 * time.Hour, Planned: &pollcore.Planned{
			Delays: []time.Duration{10 * time.Minute, 30 * time.Second, time.Minute}, Then: 2 * time.Minute, Jitter: 4 * time.Minute,
		}},
		"too short":  {Total: 20 * time.Minute, Min: 10 * time.Second, Max: 3 * time.Minute},
		"many polls": {Total: 100 * time.Hour, Min: time.Second / 50, Max: time.Second / 50},
	}
	for name, s := range schedules {
		for _, text := range some([]string{"uniform(15m, 30m)", "lognormal(10m, 1)", "weibull(20m, 0.7)", "mix(80% uniform(1m, 2m), 20% exponential(1h))"}) {
			t.Run(name+" "+text, func(t *testing.T) {
				t.Parallel()
				jobs := 20_000
				if name == "many polls" {
					jobs = 1
				}
				d := parse(t, text)
				got, want := measure(d, s), simulate(d, s, jobs)
				if name == "many polls" {
					require.InDelta(t, 0.01, got.Mean.Seconds(), 0.0005)
					require.InEpsilon(t, d.Mean().Seconds()*50, got.Calls, 0.01)
					return
				}
				within := 0.04
				if name == "smithy" { // fewer draws than the simulation has
					within = 0.08
				}
				require.InEpsilon(t, want.Calls, got.Calls, within)
				require.InEpsilon(t, want.Mean.Seconds(), got.Mean.Seconds(), within)
				require.InEpsilon(t, want.P50.Seconds(), got.P50.Seconds(), within)
				require.InEpsilon(t, want.P95.Seconds(), got.P95.Seconds(), within)
				require.InEpsilon(t, want.MeanShare, got.MeanShare, within)
				require.InEpsilon(t, want.P50Share, got.P50Share, within)
				require.InEpsilon(t, want.P95Share, got.P95Share, within)
				require.InDelta(t, want.Missed, got.Missed, 0.01)
			})
		}
	}
}

// What tens of thousands of polls cost is an integral. Each job has half a poll more than
// its length has delays, and the one at 0.
func TestMeasureOfManyPolls(t *testing.T) {
	t.Parallel()
	got := measure(parse(t, "uniform(10m, 20m)"), pollcore.Schedule{Total: 100 * time.Hour, Min: time.Second / 50, Max: time.Second / 50})
	require.InDelta(t, 1+50*900+0.5, got.Calls, 0.1)
	require.Zero(t, got.Missed)
	require.InEpsilon(t, 0.01, got.Mean.Seconds(), 1e-2)
	require.InEpsilon(t, 0.019, got.P95.Seconds(), 1e-2)
	require.InEpsilon(t, 0.01*math.Log(2)/600, got.MeanShare, 1e-2)
}

// A plan's cost is what its schedule costs.
func TestCostOfAPlan(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{"30s", "5%", "1m p95", "10% worst"} {
		d := parse(t, "mix(50% lognormal(5m, 0.4), 50% uniform(1h, 2h))")
		g, err := plan.ParseGoal(goal)
		require.NoError(t, err)
		p, err := plan.Best(d, g, plan.Limits{})
		require.NoError(t, err)
		got := plan.MeasurePlanned(d, p.Schedule)
		require.InEpsilon(t, p.Cost.Calls, got.Calls, 1e-6)
		require.InDelta(t, p.Cost.Mean.Seconds(), got.Mean.Seconds(), 0.01)
		require.InDelta(t, p.Cost.P95.Seconds(), got.P95.Seconds(), 0.01)
	}
}

// A planned schedule without an end.
func TestMeasurePlanned(t *testing.T) {
	t.Parallel()
	d := parse(t, "uniform(900s, 1800s)")
	twice := pollcore.Planned{Then: 5 * time.Second}
	for range 20 {
		twice.Delays = append(twice.Delays, twice.Then)
		twice.Then *= 2
	}
	// Polls at 635, 1275 and 2555 s: 375 of 900 jobs are seen by the eighth.
	got := plan.MeasurePlanned(d, twice)
	require.InEpsilon(t, 8+525.0/900, got.Calls, 1e-3)
	require.InEpsilon(t, (375*(1275-1087.5)+525*(2555-1537.5))/900, got.Mean.Seconds(), 1e-3)
	require.InDelta(t, 1280, got.Worst.Seconds(), 0.01)
	require.Zero(t, got.Missed)
	require.Zero(t, plan.MeasurePlanned(plan.Distribution{}, twice))
	require.False(t, math.IsNaN(plan.MeasurePlanned(d, pollcore.Planned{}).Calls)) // time stands still
}

// Backoffs that pollcore has not are measured by their delays.
func TestMeasureDelays(t *testing.T) {
	t.Parallel()
	d := parse(t, "uniform(900s, 1800s)")
	twice := func(yield func(time.Duration) bool) {
		delay := 5 * time.Second
		for yield(delay) {
			delay *= 2
		}
	}
	// Polls at 635, 1275 and 2555 s: 375 of 900 jobs are seen by the eighth.
	got := plan.MeasureDelays(d, twice)
	require.InEpsilon(t, 8+525.0/900, got.Calls, 1e-3)
	require.InEpsilon(t, (375*(1275-1087.5)+525*(2555-1537.5))/900, got.Mean.Seconds(), 1e-3)
	require.InDelta(t, 1280, got.Worst.Seconds(), 0.01)
	require.Zero(t, got.Missed)

	ends := plan.MeasureDelays(d, func(yield func(time.Duration) bool) { yield(1200 * time.Second) })
	require.InEpsilon(t, 600.0/900, ends.Missed, 1e-3)
	require.InEpsilon(t, 150, ends.Mean.Seconds(), 1e-3)
	require.Equal(t, 1.0, ends.Calls)
	none := plan.MeasureDelays(d, func(func(time.Duration) bool) {})
	require.Equal(t, plan.Cost{Missed: 1}, none)
	require.Zero(t, plan.MeasureDelays(plan.Distribution{}, twice))
	require.False(t, math.IsNaN(plan.MeasureDelays(d, func(yield func(time.Duration) bool) {
		for range 100 {
			if !yield(-time.Second) { // time stands still
				return
			}
		}
	}).Calls))
}
