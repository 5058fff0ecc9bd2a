package startrecord_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
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

// Until a probe has succeeded nothing but probes is written, and then no probe.
func TestProbed(t *testing.T) {
	t.Parallel()
	rec := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Unix(1, 0), StartedAt: time.Unix(1, 0)}
	bad := &careless{Store: memstore.New(nil), noCreateCondition: true}
	store := startrecord.ProbeFirst(bad)
	_, err := store.Create(t.Context(), key, rec)
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	_, err = store.Replace(t.Context(), key, rec, "x")
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
	require.Equal(t, 4, bad.creates)
	bad.noCreateCondition = false // somebody mends it
	_, err = store.Replace(t.Context(), key, rec, "x")
	require.ErrorIs(t, err, startrecord.ErrChanged)

	shaky := &careless{Store: memstore.New(nil), outages: 1}
	store = startrecord.ProbeFirst(shaky)
	_, err = store.Create(t.Context(), key, rec)
	require.ErrorIs(t, err, startrecord.ErrUnavailable)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := key
			key.Scope = strconv.Itoa(i)
			if _, err := store.Create(t.Context(), key, rec); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1+2+8, shaky.creates)
}

func TestProbedConformance(t *testing.T) {
	t.Parallel()
	startrecordtest.RunWithClock(t, func(_ *testing.T, now func() time.Time) startrecord.Store {
		return startrecord.ProbeFirst(memstore.New(now))
	})
}

// A store that finds records by their jobs does so behind a probe, too.
func TestProbedIndex(t *testing.T) {
	t.Parallel()
	startrecordtest.RunIndexed(t, func(t *testing.T) startrecord.Indexed {
		t.Helper()
		index, ok := startrecord.ProbeFirst(memstore.New(nil)).(startrecord.Indexed)
		require.True(t, ok)
		return index
	})
	_, ok := startrecord.ProbeFirst(&careless{Store: memstore.New(nil)}).(startrecord.Indexed)
	require.False(t, ok, "its store does not")
}

func TestProbedIndexIsProbed(t *testing.T) {
	t.Parallel()
	store, ok := startrecord.ProbeFirst(carelessIndex{memstore.New(nil)}).(startrecord.Indexed)
	require.True(t, ok)
	_, err := store.ReplaceIndexed(t.Context(), key, startrecord.Record{}, "x")
	require.ErrorIs(t, err, startrecord.ErrConfiguration)
}

// carelessIndex ignores the condition of a Replace.
type carelessIndex struct{ *memstore.Store }

func (s carelessIndex) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, _ string) (startrecord.Stored, error) {
	stored, err := s.Load(ctx, key)
	if err != nil {
		return stored, err
	}
	return s.Store.Replace(ctx, key, rec, stored.Version)
}

// Who waits for another's probe can give up.
func TestProbedCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := startrecord.Record{Status: startrecord.StatusStarting, ExecutionStartTime: time.Unix(1, 0), StartedAt: time.Unix(1, 0)}
		release := make(chan struct{})
		store := startrecord.ProbeFirst(&stuck{memstore.New(nil), release})
		first := make(chan error)
		go func() {
			_, err := store.Create(t.Context(), key, rec)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := store.Create(ctx, key, rec)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, startrecord.ErrUnavailable)
		require.ErrorContains(t, err, store.Location(key))
		close(release)
		require.NoError(t, <-first)
	})
}

// stuck is a store whose writes wait for the release.
type stuck struct {
	startrecord.Store

	release chan struct{}
}

func (s *stuck) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	<-s.release
	return s.Store.Create(ctx, key, rec)
}
