package scale_test

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// meteredStore counts what DynamoDB would bill.
type meteredStore struct {
	startrecord.Indexed

	reads, writes atomic.Int64
}

// units is how many parts of a size a record has.
func units(rec startrecord.Record, part int) int64 {
	text, err := json.Marshal(rec)
	if err != nil {
		panic(err) // it was JSON
	}
	return int64((len(text) + part - 1) / part)
}

func (s *meteredStore) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	s.written(rec)
	return s.Indexed.Create(ctx, key, rec)
}

func (s *meteredStore) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.written(rec)
	return s.Indexed.Replace(ctx, key, rec, version)
}

func (s *meteredStore) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.writes.Add(2 * (units(rec, 1<<10) + int64(len(startrecord.ListJobIDs(rec)))))
	return s.Indexed.ReplaceIndexed(ctx, key, rec, version)
}

func (s *meteredStore) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	stored, err := s.Indexed.Load(ctx, key)
	if err == nil {
		s.reads.Add(units(stored.Record, 4<<10))
	}
	return stored, err
}

func (s *meteredStore) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	s.reads.Add(1)
	return s.Indexed.Find(ctx, jobID)
}

func (s *meteredStore) written(rec startrecord.Record) { s.writes.Add(units(rec, 1<<10)) }
