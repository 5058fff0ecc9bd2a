package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// draw is n durations of a distribution.
func draw(d plan.Distribution, n int) []plan.Sample {
	random := rand.New(rand.NewPCG(8, uint64(n)))
	samples := make([]plan.Sample, n)
	for i := range samples {
		samples[i] = plan.Exactly(d.Quantile(random.Float64()))
	}
	return samples
}

func TestLearnFindsTheQuantiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"uniform(15m, 30m)", "lognormal(10m, 1)", "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))"} {
		d := parse(t, text)
		exact := draw(d, 2000)
		// Polls every 5 minutes see the ends of the same jobs; one of 20 still runs.
		seen := make([]plan.Sample, len(exact))
		for i, s := range exact {
			from := s.From.Truncate(5 * time.Minute)
			if seen[i] = (plan.Sample{From: from, To: from + 5*time.Minute}); i%20 == 0 {
				seen[i] = plan.Sample{From: s.From / 2, To: plan.Forever}
			}
		}
		for name, samples := range map[string][]plan.Sample{"exact": exact, "seen": seen} {
			learned, err := plan.Learn(samples)
			require.NoError(t, err)
			require.True(t, learned.IsLearned())
			requireSound(t, learned)
			for _, p := range []float64{0.1, 0.3, 0.5, 0.7} {
				within := 0.04
				if name == "seen" {
					within = 0.1 // what polls of 5 minutes know
				}
				if name == "seen" && d.Quantile(p) < 5*time.Minute {
					continue
				}
				require.InDelta(t, p, d.Below(learned.Quantile(p)), within, "%s %s", name, text)
			}
		}
	}
}

// A job of a length that was never seen is found all the same.
func TestLearnExpectsOtherLengths(t *testing.T) {
	t.Parallel()
	d, err := plan.Learn(draw(parse(t, "lognormal(1m, 0.25)"), 10))
	require.NoError(t, err)
	require.Equal(t, "learned from 10 durations", d.String())
	require.InDelta(t, 1, d.Below(5*time.Minute), 1e-6)
	all, share := d.WithUnseen()
	require.InDelta(t, 1.0/11, share, 1e-9)
	require.InDelta(t, 0.98, all.Below(5*time.Minute), 0.02)
	require.Greater(t, 1-all.Below(10*time.Minute), 0.001)

	few, err := plan.Learn(draw(parse(t, "constant(1m)"), 1))
	require.NoError(t, err)
	_, share = few.WithUnseen()
	require.InDelta(t, 0.1, share, 0)
	stated, share := parse(t, "constant(1m)").WithUnseen()
	require.Zero(t, share)
	require.False(t, stated.IsLearned())
}

func TestSamplesThatCannotBe(t *testing.T) {
	t.Parallel()
	_, err := plan.Learn(nil)
	require.ErrorIs(t, err, plan.ErrNoSamples)
	_, err = plan.Summarize(nil)
	require.ErrorIs(t, err, plan.ErrNoSamples)
	_, err = plan.Learn([]plan.Sample{plan.Exactly(1), plan.Exactly(-time.Second)})
	require.EqualError(t, err, "duration 2 is negative: -1s")
	var sample *plan.SampleError
	require.ErrorAs(t, err, &sample)
	require.Equal(t, 1, sample.Index)
	_, err = plan.Summarize([]plan.Sample{{From: time.Minute, To: time.Second}})
	require.EqualError(t, err, "duration 1 is at least 1m0s and at most 1s: expected the shorter one first")
}

// Whatever the durations: a plan, in bounds, and the figures are numbers.
func TestAnySamplesHaveAPlan(t *testing.T) {
	t.Parallel()
	durations := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{0, 1, time.Second, time.Hour, plan.Forever - 1, plan.Forever}),
		rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "d"))
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan.Sample {
			from := durations.Draw(t, "from")
			if rapid.Bool().Draw(t, "exact") {
				return plan.Exactly(from)
			}
			return plan.Sample{From: from, To: max(from, durations.Draw(t, "to"))}
		}), 1, 20).Draw(t, "samples")
		d, err := plan.Learn(samples)
		require.NoError(t, err)
		requireSound(t, d)
		s, err := plan.Summarize(samples)
		require.NoError(t, err)
		require.Equal(t, len(samples), s.Count)
		require.LessOrEqual(t, s.Shortest, s.Longest)
		require.NotEmpty(t, s.Modes)
		require.False(t, math.IsNaN(s.Variation))
		p, err := plan.Best(d, drawGoal(t), plan.Limits{})
		if err != nil {
			require.ErrorIs(t, err, plan.ErrUnreachable)
			return
		}
		require.NoError(t, p.Schedule.Validate())
		require.NotEqual(t, plan.Exact, p.Method)
		require.NotEmpty(t, p.Why)
		for _, figure := range []float64{p.Bound, p.Cost.Calls, p.Cost.MeanShare, p.Cost.P95Share, p.FixedCost.Calls} {
			require.False(t, math.IsNaN(figure) || math.IsInf(figure, 0))
		}
	})
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	one, err := plan.Summarize([]plan.Sample{plan.Exactly(time.Minute)})
	require.NoError(t, err)
	require.Equal(t, time.Minute, one.P50)
	require.Zero(t, one.Variation)

	two, err := plan.Summarize([]plan.Sample{plan.Exactly(time.Hour), plan.Exactly(time.Minute)})
	require.NoError(t, err)
	require.Equal(t, []time.Duration{time.Minute, 30*time.Minute + 30*time.Second, time.Hour}, []time.Duration{two.P5, two.P50, two.P95})

	var samples []plan.Sample
	for i := range 101 {
		samples = append(samples, plan.Exactly(time.Duration(i+60)*time.Second))
	}
	s, err := plan.Summarize(samples)
	require.NoError(t, err)
	require.InEpsilon(t, 0.26506, s.Variation, 1e-3)
	require.Len(t, s.Modes, 1)
	s.Variation, s.Modes = 0, nil
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	require.Equal(t, plan.Summary{
		Count: 101, Mean: seconds(110),
		Shortest: seconds(60), P5: seconds(65), P25: seconds(85), P50: seconds(110), P75: seconds(135), P95: seconds(155), Longest: seconds(160),
	}, s)

	two, err = plan.Summarize(append(draw(parse(t, "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))"), 200), plan.Sample{From: time.Minute, To: 3 * time.Minute}))
	require.NoError(t, err)
	require.Equal(t, 1, two.Intervals)
	require.Len(t, two.Modes, 2)
	require.InEpsilon(t, 60, two.Modes[0].Seconds(), 0.2)
	require.InEpsilon(t, 3600, two.Modes[1].Seconds(), 0.2)
}
