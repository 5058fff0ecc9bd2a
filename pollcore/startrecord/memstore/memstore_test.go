package memstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	startrecordtest.Run(t, func(*testing.T) startrecord.Store { return memstore.New(nil) })
}

func TestAge(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	now := start
	store := memstore.New(func() time.Time { return now })
	key := startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:M:n", Poller: "p"}
	rec := startrecord.Record{Status: startrecord.StatusStarting, StartedAt: start}
	created, err := store.Create(t.Context(), key, rec)
	require.NoError(t, err)

	age := func() time.Duration {
		loaded, err := store.Load(t.Context(), key)
		require.NoError(t, err)
		return loaded.Age
	}
	require.Zero(t, age())
	now = start.Add(90 * time.Minute)
	require.Equal(t, 90*time.Minute, age())
	_, err = store.Replace(t.Context(), key, rec, created.Version)
	require.NoError(t, err)
	now = now.Add(time.Second)
	require.Equal(t, time.Second, age())
	now = start // a clock that goes back
	require.Zero(t, age())
}
