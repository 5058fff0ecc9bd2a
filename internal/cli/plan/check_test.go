package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// Jobs that took as long are seen at different times where the schedule has a jitter: all
// of its draws take turns.
func TestCheckComputesTheLatenessOfEveryDraw(t *testing.T) {
	t.Parallel()
	jobs := make([]pastjobs.Job, 100)
	for i := range jobs {
		jobs[i].Sample = plan.Exactly(700 * time.Second)
	}
	s := pollcore.Planned{Delays: []time.Duration{600 * time.Second}, Then: time.Minute}
	require.Equal(t, slices.Repeat([]time.Duration{20 * time.Second}, len(jobs)), latenessOf(jobs, s))

	s.Jitter = 59 * time.Second
	late := latenessOf(jobs, s)
	sum := time.Duration(0)
	for _, l := range late {
		sum += l
	}
	require.InDelta(t, 29.5, sum.Seconds()/float64(len(late)), 0.5)
	require.Equal(t, time.Duration(0), slices.Min(late))
	require.Equal(t, 59*time.Second, slices.Max(late))
}

// The p95 of a check is that of a plan of the same jobs: one in twenty is later.
func TestCheckHasTheP95OfAPlan(t *testing.T) {
	t.Parallel()
	s := pollcore.Planned{Delays: []time.Duration{time.Minute}, Then: time.Minute}
	for _, n := range []int{20, 21, 39, 40, 55} {
		now, samples := &knowledge{}, make([]plan.Sample, n)
		for i := range samples { // each is seen a second later than the one before
			samples[i] = plan.Exactly(10*time.Minute - time.Duration(i)*time.Second)
			now.jobs = append(now.jobs, pastjobs.Job{Sample: samples[i]})
		}
		recorded, err := plan.Record(samples)
		require.NoError(t, err)
		cost, k := plan.MeasurePlanned(recorded, s), &planCheck{}
		require.NoError(t, k.measure(now, s, cost))
		require.InDelta(t, cost.P95.Seconds(), k.Found.P95LateSeconds, 0.05, "%d jobs", n)
	}
}

// The check fits the terminal: columns go, and what is said of them wraps.
func TestCheckFitsTheTerminal(t *testing.T) {
	t.Parallel()
	k := &planCheck{
		Late: true, Drifted: true,
		Promised: promisedLateness{Source: "uniform(15m, 30m)", MedianSeconds: 1350, MeanLateSeconds: 30, P95LateSeconds: 71},
		Found:    foundLateness{How: "measured", Jobs: 27012, MeanLateSeconds: 672, P95LateSeconds: 1235},
		Drift:    durationDrift{Source: "nightly", Jobs: 27012, MedianSeconds: 1900, Test: "one-sample Kolmogorov-Smirnov"},
		Notes:    []string{"left out: 3 jobs without an end"},
	}
	for columns := 20; columns <= 120; columns++ {
		text := k.text(columns, terminal.Colours(false))
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, terminal.Width(strings.TrimSuffix(line, "\n")), max(columns, 21), "%d: %s", columns, line)
		}
		flat := oneLine(text)
		require.Contains(t, flat, "late more than planned: the durations have drifted")
		require.Contains(t, flat, "nightly")
		heading := map[bool]string{true: "jobs late: mean p95 median promised", false: "late: mean p95"}[columns >= 45]
		if columns >= 29 {
			require.Contains(t, flat, heading, columns)
		}
		if columns >= 64 {
			require.Contains(t, flat, "median promised 30s 1m11s 22m30s uniform(15m, 30m) measured 27,012 11m12s 20m35s 31m40s nightly lateness")
		}
	}
}
