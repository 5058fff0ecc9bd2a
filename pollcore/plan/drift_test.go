package plan_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// shifted are n durations that are at a distance from the uniform distribution.
func shifted(n int, distance float64) []plan.Sample {
	samples := make([]plan.Sample, n)
	for i := range samples {
		share := min(1, float64(i)/float64(n)+distance)
		samples[i] = plan.Exactly(time.Duration((1 + 1000*share) * float64(time.Second)))
	}
	return samples
}

// The critical values are those of Miller, J. Amer. Statist. Assoc. 51 (1956), 111-121.
func TestDriftFromHasTheCriticalValues(t *testing.T) {
	t.Parallel()
	d := parse(t, "uniform(1s, 1001s)")
	for _, c := range []struct {
		jobs             int
		distance, chance float64
	}{
		{5, 0.56328, 0.05},
		{10, 0.40925, 0.05},
		{10, 0.48893, 0.01},
		{20, 0.29408, 0.05},
		{20, 0.35241, 0.01},
		{100, 0.13403, 0.05},
		{100, 0.16081, 0.01},
	} {
		drift, err := plan.DriftFrom(d, shifted(c.jobs, c.distance))
		require.NoError(t, err)
		require.InDelta(t, c.distance, drift.Distance, 1e-6)
		require.InEpsilon(t, c.chance, drift.Chance, 0.06, "%d jobs", c.jobs)
	}
}

// Of two samples of 10, P(D >= 0.6) is 0.0524 and P(D >= 0.7) 0.0123, by counting the
// orders; of large ones the critical values are 1.358 and 1.628 times the root.
func TestDriftBetweenHasTheCriticalValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		jobs             int
		distance, chance float64
	}{{10, 0.6, 0.0524}, {10, 0.7, 0.0123}, {200, 0.1358, 0.05}, {200, 0.1628, 0.01}} {
		drift, err := plan.DriftBetween(shifted(c.jobs, 0), shifted(c.jobs, c.distance))
		require.NoError(t, err)
		require.InDelta(t, c.distance, drift.Distance, 1.0/float64(c.jobs))
		require.InDelta(t, c.chance, drift.Chance, 0.25*c.chance, "%d jobs at %v", c.jobs, c.distance)
	}
}

// Jobs of the distribution itself seem to drift as often as the level says.
func TestDriftIsSeldomWhereThereIsNone(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 9))
	d := parse(t, "lognormal(15m, 0.5)")
	draw := func(d plan.Distribution, n int) []plan.Sample {
		samples := make([]plan.Sample, n)
		for i := range samples {
			samples[i] = plan.Exactly(d.Quantile(random.Float64()))
		}
		return samples
	}
	const tries, level = 1000, 0.05
	from, between := 0, 0
	for range tries {
		one, err := plan.DriftFrom(d, draw(d, 50))
		require.NoError(t, err)
		two, err := plan.DriftBetween(draw(d, 60), draw(d, 50))
		require.NoError(t, err)
		if one.Chance < level {
			from++
		}
		if two.Chance < level {
			between++
		}
	}
	require.InDelta(t, level*tries, from, 25)
	require.InDelta(t, level*tries, between, 25)

	longer := draw(parse(t, "lognormal(25m, 0.5)"), 50)
	drift, err := plan.DriftFrom(d, longer)
	require.NoError(t, err)
	require.Less(t, drift.Chance, 1e-3)
	drift, err = plan.DriftBetween(draw(d, 60), longer)
	require.NoError(t, err)
	require.Less(t, drift.Chance, 1e-3)
}

// Where polls alone saw the ends, what may be no drift is none.
func TestDriftOfIntervals(t *testing.T) {
	t.Parallel()
	wide := []plan.Sample{{0, 2 * time.Hour}, {time.Minute, plan.Forever}, {0, 20 * time.Minute}}
	drift, err := plan.DriftFrom(parse(t, "constant(10m)"), wide)
	require.NoError(t, err)
	require.Equal(t, plan.Drift{Distance: 0, Chance: 1}, drift)
	drift, err = plan.DriftBetween(wide, []plan.Sample{plan.Exactly(10 * time.Minute)})
	require.NoError(t, err)
	require.Equal(t, plan.Drift{Distance: 0, Chance: 1}, drift)
	drift, err = plan.DriftFrom(plan.Distribution{}, wide)
	require.NoError(t, err)
	require.Equal(t, plan.Drift{Distance: 0, Chance: 1}, drift)
}

func TestDriftOfNothing(t *testing.T) {
	t.Parallel()
	d, some := parse(t, "constant(10m)"), []plan.Sample{plan.Exactly(time.Minute)}
	_, err := plan.DriftFrom(d, nil)
	require.ErrorIs(t, err, plan.ErrNoSamples)
	_, err = plan.DriftBetween(some, nil)
	require.ErrorIs(t, err, plan.ErrNoSamples)
	var wrong *plan.SampleError
	_, err = plan.DriftBetween([]plan.Sample{{2, 1}}, some)
	require.ErrorAs(t, err, &wrong)
}
