package localloop

import (
	"context"
	"sync"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Index returns a store that finds records by their jobs: of this program, where the
// store does not find them itself.
func Index(s startrecord.Store) startrecord.Indexed {
	if i, ok := s.(startrecord.Indexed); ok {
		return i
	}
	return &index{Store: s, keys: map[string]startrecord.Key{}}
}

type index struct {
	startrecord.Store

	mu   sync.Mutex
	keys map[string]startrecord.Key
}

// ReplaceIndexed implements startrecord.Indexed.
func (s *index) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	stored, err := s.Replace(ctx, key, rec, version)
	if err != nil {
		return stored, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range startrecord.ListJobIDs(rec) {
		s.keys[id] = key
	}
	return stored, nil
}

// Find implements startrecord.Indexed.
func (s *index) Find(_ context.Context, jobID string) (startrecord.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[jobID]
	if !ok {
		return startrecord.Key{}, startrecord.ErrNotFound
	}
	return key, nil
}
