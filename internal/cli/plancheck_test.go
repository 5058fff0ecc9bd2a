package cli

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// Jobs that took as long are seen at different times where the schedule has a jitter: all
// of its draws take turns.
func TestCheckComputesTheLatenessOfEveryDraw(t *testing.T) {
	t.Parallel()
	jobs := make([]pastJob, 100)
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
