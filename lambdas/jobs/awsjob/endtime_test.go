package awsjob_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// The end time of every job that has one is found in what its driver describes.
func TestEndTimes(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	found := 0
	for _, s := range list {
		for _, e := range s.Entries {
			entry, err := catalog.AWS().Lookup(s.Key, e.Name)
			require.NoError(t, err)
			cfg := config("")
			cfg.BaseEndpoint = nil
			name := s.Key + ":" + e.Name
			d, err := awsjob.NewDriver(cfg, catalog.AWS(), name)
			require.NoError(t, err)
			timer, ok := d.(jobs.EndTimer)
			require.True(t, ok, name)
			if entry.Operation.Output == nil {
				continue
			}
			sample := &sampler{spell: pascalName}
			at, ok := timer.EndTime(sample.value(catalog.Member{Shape: entry.Operation.Output}, nil))
			require.Equal(t, entry.Job != nil && entry.Job.EndTime != "", ok, name)
			_, none := timer.EndTime(map[string]any{})
			require.False(t, none, name)
			if ok {
				found++
				require.Equal(t, time.Date(2026, 11, 21, 12, 0, 0, 500_000_000, time.UTC), at, name)
			}
		}
	}
	require.GreaterOrEqual(t, found, 60)
}
