package soak_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
	"github.com/jobpoller/jobpoller/tests/soak"
)

var steps = flag.Int("steps", 30_000, "how many operations of the handlers to model")

// TestModel: in whatever order the operations of invocations come, and however long
// they stall, no second job is started, no job that ended in time is timed out, and no
// result is lost before its execution can no longer be redriven.
func TestModel(t *testing.T) {
	t.Parallel()
	counts, err := soak.Model(t.Context(), soak.ModelOptions{Steps: *steps, Seed: *seed})
	require.NoError(t, err)
	t.Logf("seed %d\n%s", *seed, counts)
	require.Empty(t, counts.Violations())
	require.Zero(t, counts.Of("records that expired"))
	for _, what := range []string{
		"aborts", "redrives", "jumps of days", "late effects", "invocations that died", "invocations sent twice",
		"fault: replace done, answer lost", "fault: start done, answer lost", "error JobPoller.JobStartInProgress",
		"ended token: SUCCEEDED", "ended token: FAILED", "ended token: TIMED_OUT", "ended naturalKey: TIMED_OUT",
		"ended none: SUCCEEDED", "ended none: TIMED_OUT", "error JobPoller.JobStartUnknown",
	} {
		require.Positive(t, counts.Of(what), what)
	}
}

// The model finds what it is there for.
func TestModelFindsDefects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options soak.ModelOptions
		want    string
	}{
		"a store without conditions": {
			soak.ModelOptions{Wrap: func(s startrecord.Store) startrecord.Store { return careless{s} }}, "2 jobs were started",
		},
		"records that expire before the longest silence": {
			soak.ModelOptions{Expiry: startrecordtest.ByAge(13 * 24 * time.Hour)}, "VIOLATION",
		},
		"records that live as long as a wait": {
			soak.ModelOptions{Expiry: func(_ time.Time, rec startrecord.Record) time.Time { return rec.StartedAt.Add(60 * 24 * time.Hour) }}, "VIOLATION",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.options.Steps, tt.options.Seed = 200_000, 1
			counts, err := soak.Model(t.Context(), tt.options)
			require.NoError(t, err)
			require.NotEmpty(t, counts.Violations())
			require.Contains(t, counts.String(), tt.want)
		})
	}
}

// careless is a store that creates whatever there is.
type careless struct{ startrecord.Store }

func (s careless) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	stored, err := s.Load(ctx, key)
	if err != nil {
		return s.Store.Create(ctx, key, rec)
	}
	return s.Replace(ctx, key, rec, stored.Version)
}
