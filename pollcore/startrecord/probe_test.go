package startrecord_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// careless is a store that ignores conditions, or does not answer.
type careless struct {
	startrecord.Store

	noCreateCondition, noReplaceCondition bool

	mu      sync.Mutex
	outages int
	creates int
}

func (c *careless) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	c.mu.Lock()
	c.creates++
	out := c.outages > 0
	c.outages--
	c.mu.Unlock()
	switch {
	case out:
		return startrecord.Stored{}, fmt.Errorf("%w: no answer", startrecord.ErrUnavailable)
	case c.noCreateCondition:
		return startrecord.Stored{Record: rec, Version: "x"}, nil
	default:
		return c.Store.Create(ctx, key, rec)
	}
}

func (c *careless) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	if c.noReplaceCondition {
		return startrecord.Stored{Record: rec, Version: "x"}, nil
	}
	return c.Store.Replace(ctx, key, rec, version)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	good := memstore.New(nil)
	require.NoError(t, startrecord.Probe(t.Context(), good))
	require.NoError(t, startrecord.Probe(t.Context(), good), "the record of another probe is there")

	err := startrecord.Probe(t.Context(), &careless{Store: memstore.New(nil), noCreateCondition: true})
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.ErrorContains(t, err, "was created twice: the store ignores the condition of a write (If-None-Match), so two functions could start one job")
	err = startrecord.Probe(t.Context(), &careless{Store: memstore.New(nil), noReplaceCondition: true})
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.ErrorContains(t, err, "ignores the condition of a write (If-Match)")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, startrecord.Probe(ctx, good), context.Canceled)
}

func TestProbed(t *testing.T) {
	t.Parallel()
	rec := startrecord.Record{Status: startrecord.StatusStarting, StartedAt: time.Unix(1, 0)}
	bad := &careless{Store: memstore.New(nil), noCreateCondition: true}
	store := startrecord.Probed(bad)
	for range 2 {
		_, err := store.Create(t.Context(), key, rec)
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
	}
	require.Equal(t, 2, bad.creates, "it is probed once, and nothing else is written")

	// An outage is no answer: the next Create probes again, and only that.
	shaky := &careless{Store: memstore.New(nil), outages: 1}
	store = startrecord.Probed(shaky)
	_, err := store.Create(t.Context(), key, rec)
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := key
			key.Scope = fmt.Sprint(i)
			if _, err := store.Create(t.Context(), key, rec); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1+2+8, shaky.creates)
}
