// Package memstore keeps start records in memory, for tests and for runs that
// end with the process.
package memstore

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Store is a startrecord.Indexed in memory.
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	writes  uint64
	objects map[string]object
	byJob   map[string]startrecord.Key
}

type object struct {
	body      []byte
	version   string
	writtenAt time.Time
}

var _ startrecord.Indexed = (*Store)(nil)

// New returns an empty store. Its clock, by which ages are judged, is now, or
// time.Now if now is nil.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, objects: map[string]object{}, byJob: map[string]startrecord.Key{}}
}

// Create implements startrecord.Store.
func (s *Store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.write(ctx, key, rec, "", func(_ object, found bool) error {
		if found {
			return fmt.Errorf("%w: %s; load it", startrecord.ErrExists, s.Location(key))
		}
		return nil
	})
}

// Replace implements startrecord.Store.
func (s *Store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	return s.write(ctx, key, rec, version, s.requireVersion(key, version))
}

// ReplaceIndexed implements startrecord.Indexed.
func (s *Store) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	unchanged := s.requireVersion(key, version)
	return s.write(ctx, key, rec, version, func(stored object, found bool) error {
		if err := unchanged(stored, found); err != nil {
			return err
		}
		for _, id := range startrecord.ListJobIDs(rec) {
			s.byJob[id] = key
		}
		return nil
	})
}

// Find implements startrecord.Indexed.
func (s *Store) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	if err := ctx.Err(); err != nil {
		return startrecord.Key{}, fmt.Errorf("%w: memory: %w", startrecord.ErrUnavailable, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key, found := s.byJob[jobID]
	if !found {
		return startrecord.Key{}, fmt.Errorf("%w: memory has none of the job %q", startrecord.ErrNotFound, jobID)
	}
	return key, nil
}

// Load implements startrecord.Store.
func (s *Store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := key.Validate(); err != nil {
		return startrecord.Stored{}, err
	}
	if err := ctx.Err(); err != nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s: %w", startrecord.ErrUnavailable, s.Location(key), err)
	}
	s.mu.Lock()
	stored, found := s.objects[key.Path()]
	s.mu.Unlock()
	if !found {
		return startrecord.Stored{}, fmt.Errorf("%w: %s", startrecord.ErrNotFound, s.Location(key))
	}
	rec, err := startrecord.Decode(key, stored.body)
	if err != nil {
		return startrecord.Stored{}, fmt.Errorf("%s: %w", s.Location(key), err)
	}
	return startrecord.Stored{
		Record:  rec,
		Version: stored.version,
		Age:     max(0, s.now().Sub(stored.writtenAt)),
	}, nil
}

// Location implements startrecord.Store.
func (s *Store) Location(key startrecord.Key) string { return "memory:" + key.Path() }

// requireVersion allows a write if the stored record is of the version.
func (s *Store) requireVersion(key startrecord.Key, version string) func(stored object, found bool) error {
	return func(stored object, found bool) error {
		if !found || stored.version != version {
			return fmt.Errorf("%w: %s is not of version %q by now; load it", startrecord.ErrChanged, s.Location(key), version)
		}
		return nil
	}
}

// write stores rec if allow, called with what is stored, agrees.
func (s *Store) write(
	ctx context.Context, key startrecord.Key, rec startrecord.Record, version string,
	allow func(stored object, found bool) error,
) (startrecord.Stored, error) {
	w, err := startrecord.NewWrite(s.Location(key), key, rec, version)
	if err != nil {
		return startrecord.Stored{}, err
	}
	if err := ctx.Err(); err != nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s: %w", startrecord.ErrUnavailable, s.Location(key), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, found := s.objects[key.Path()]
	if err := allow(stored, found); err != nil {
		return startrecord.Stored{}, err
	}
	s.writes++
	stored = object{body: w.Body, version: strconv.FormatUint(s.writes, 10), writtenAt: s.now()}
	s.objects[key.Path()] = stored
	return startrecord.Stored{Record: w.Record, Version: stored.version}, nil
}
