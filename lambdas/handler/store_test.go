package handler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// store is a startrecord.Store that notes its calls and gives them their fate.
type store struct {
	startrecord.Store

	mu    sync.Mutex
	calls []string
}

// openStore opens an empty store on a clock.
type openStore func(t *testing.T, c *clock) startrecord.Store

// openStores returns a way to open each kind of store that is no program of its own.
func openStores() map[string]openStore {
	return map[string]openStore{
		"memory": func(_ *testing.T, c *clock) startrecord.Store { return memstore.New(c.Now) },
		"S3": func(t *testing.T, c *clock) startrecord.Store {
			t.Helper()
			server, err := embeddeds3.Start(embeddeds3.Options{Now: c.Now})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, server.Close()) })
			require.NoError(t, server.CreateBucket("records"))
			records, err := s3store.New(server.DirectClient(), "records", "")
			require.NoError(t, err)
			return records
		},
	}
}

// newWorldOf returns a world with a store of the kind.
func newWorldOf(t *testing.T, open openStore, class string) *world {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	return newWorldOn(t, c, open(t, c), class)
}

var errUnanswered = fmt.Errorf("%w: no answer", startrecord.ErrUnavailable)

func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	s.note("Create")
	return operate(ctx, "Create", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Create(ctx, key, rec) })
}

func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	s.note("Load")
	return operate(ctx, "Load", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Load(ctx, key) })
}

func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.note("Replace")
	return operate(ctx, "Replace", errUnanswered, nil, func() (startrecord.Stored, error) { return s.Store.Replace(ctx, key, rec, version) })
}

func (s *store) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

// take returns the calls since the last take.
func (s *store) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := strings.Join(s.calls, " ")
	s.calls = nil
	return calls
}

// indexed is a store of which records are found by their jobs.
type indexed struct {
	*store

	index startrecord.Indexed
}

func (s *indexed) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.note("ReplaceIndexed")
	return operate(ctx, "Replace", errUnanswered, nil, func() (startrecord.Stored, error) { return s.index.ReplaceIndexed(ctx, key, rec, version) })
}

func (s *indexed) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	s.note("Find")
	return operate(ctx, "FindRecord", errUnanswered, nil, func() (startrecord.Key, error) { return s.index.Find(ctx, jobID) })
}
