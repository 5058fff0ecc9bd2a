package startrecordtest

import (
	"context"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// Expiry says when a store removes a record, by its last write and its ExpiresAt.
type Expiry func(writtenAt time.Time, rec startrecord.Record) time.Time

// ByAttribute is the time to live of a DynamoDB table at its hastiest: DynamoDB
// removes items when ExpiresAt has passed, or days later.
func ByAttribute(_ time.Time, rec startrecord.Record) time.Time { return rec.ExpiresAt }

// ByAge is the lifecycle rule of a bucket at its hastiest: S3 counts from the last
// write, and rounds up to midnight.
func ByAge(retention time.Duration) Expiry {
	return func(writtenAt time.Time, _ startrecord.Record) time.Time { return writtenAt.Add(retention) }
}

// Expiring is a store in memory that removes the records that have expired. It is
// for tests with a clock.
type Expiring struct {
	now    func() time.Time
	expiry Expiry

	mu      sync.Mutex
	stores  map[startrecord.Key]*memstore.Store // one a record, since none can be deleted
	due     map[startrecord.Key]time.Time
	removed int
	writes  int
}

var _ startrecord.Store = (*Expiring)(nil)

// NewExpiring returns an empty store on a clock.
func NewExpiring(now func() time.Time, expiry Expiry) *Expiring {
	return &Expiring{now: now, expiry: expiry, stores: map[startrecord.Key]*memstore.Store{}, due: map[startrecord.Key]time.Time{}}
}

// Removals is how many records have expired.
func (s *Expiring) Removals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removed
}

// Writes is how many records have been written, the same ones included.
func (s *Expiring) Writes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// Create implements startrecord.Store.
func (s *Expiring) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noteWrite(key)(s.store(key).Create(ctx, key, rec))
}

// Load implements startrecord.Store.
func (s *Expiring) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store(key).Load(ctx, key)
}

// Replace implements startrecord.Store.
func (s *Expiring) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noteWrite(key)(s.store(key).Replace(ctx, key, rec, version))
}

// Location implements startrecord.Store.
func (s *Expiring) Location(key startrecord.Key) string { return "memory:" + key.Path() }

// store returns where the record of a key is, after it has been removed if it is
// time.
func (s *Expiring) store(key startrecord.Key) *memstore.Store {
	due, written := s.due[key]
	if expired := written && !s.now().Before(due); expired || s.stores[key] == nil {
		if expired {
			s.removed++
		}
		s.stores[key] = memstore.New(s.now)
		delete(s.due, key)
	}
	return s.stores[key]
}

func (s *Expiring) noteWrite(key startrecord.Key) func(startrecord.Stored, error) (startrecord.Stored, error) {
	return func(stored startrecord.Stored, err error) (startrecord.Stored, error) {
		if err == nil {
			s.writes++
			s.due[key] = s.expiry(s.now(), stored.Record)
		}
		return stored, err
	}
}
