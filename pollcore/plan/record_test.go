package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// Past jobs cost what counting says, however many are alike.
func TestRecordCountsJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.IntRange(1, 5000), 1, 200).Draw(t, "seconds")
		every := rapid.IntRange(1, 900).Draw(t, "every")
		samples := make([]plan.Sample, len(took))
		var calls, late, worst float64
		for i, seconds := range took {
			samples[i] = plan.Exactly(time.Duration(seconds) * time.Second)
			polls := (seconds + every - 1) / every
			calls += float64(polls) / float64(len(took))
			late += float64(polls*every-seconds) / float64(len(took))
			worst = max(worst, float64(polls*every-seconds))
		}
		d, err := plan.Record(samples)
		require.NoError(t, err)
		delay := time.Duration(every) * time.Second
		cost := plan.MeasurePlanned(d, pollcore.Planned{Delays: []time.Duration{delay}, Then: delay})
		require.InEpsilon(t, calls, cost.Calls, 1e-6)
		require.InDelta(t, late, cost.Mean.Seconds(), 1e-3)
		require.InDelta(t, worst, cost.Worst.Seconds(), 1e-2)
	})
}

// A job that ended between two polls ended at any time between them.
func TestRecordSpreadsIntervals(t *testing.T) {
	t.Parallel()
	d, err := plan.Record([]plan.Sample{{From: 10 * time.Minute, To: 20 * time.Minute}, plan.Exactly(15 * time.Minute), {From: 20 * time.Minute, To: plan.Forever}})
	require.NoError(t, err)
	for at, below := range map[time.Duration]float64{
		10 * time.Minute: 0, 899 * time.Second: 299.0 / 1800, 15 * time.Minute: 0.5, 20 * time.Minute: 2.0 / 3, 50 * time.Minute: 2.0/3 + 0.5/3, 80 * time.Minute: 1,
	} {
		require.InDelta(t, below, d.Below(at), 1e-6, at)
	}
	_, err = plan.Record(nil)
	require.ErrorIs(t, err, plan.ErrNoSamples)
	_, err = plan.Record([]plan.Sample{{From: 2, To: 1}})
	var wrong *plan.SampleError
	require.ErrorAs(t, err, &wrong)
	d, err = plan.Record([]plan.Sample{plan.Exactly(0)})
	require.NoError(t, err)
	require.Positive(t, d.Mean())
}
