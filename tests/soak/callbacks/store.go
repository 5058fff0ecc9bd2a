package callbacks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// store is a store of start records that may be slow, lose calls, and answer with the
// version before the last.
type store struct {
	inner *memstore.Store

	mu      sync.Mutex
	written []version
}

type version struct {
	stored startrecord.Stored
	at     time.Time
}

var _ startrecord.Indexed = (*store)(nil)

var storeFaults = []fault{lostBefore, lostAfter, slow, slow, diesBefore, diesAfter}

// Create implements startrecord.Store.
func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.write(ctx, "Create", func() (startrecord.Stored, error) { return s.inner.Create(context.WithoutCancel(ctx), key, rec) })
}

// Replace implements startrecord.Store.
func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, v string) (startrecord.Stored, error) {
	return s.write(ctx, "Replace", func() (startrecord.Stored, error) { return s.inner.Replace(context.WithoutCancel(ctx), key, rec, v) })
}

// ReplaceIndexed implements startrecord.Indexed.
func (s *store) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, v string) (startrecord.Stored, error) {
	return s.write(ctx, "ReplaceIndexed", func() (startrecord.Stored, error) {
		return s.inner.ReplaceIndexed(context.WithoutCancel(ctx), key, rec, v)
	})
}

// Load implements startrecord.Store. There is one key.
func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	var stored startrecord.Stored
	err := call(ctx, "Load", storeFaults, func() (err error) {
		stored, err = s.inner.Load(context.WithoutCancel(ctx), key)
		return err
	})
	i, ok := ctx.Value(invocationKey{}).(*invocation)
	if err != nil || !ok || !i.readsLate() {
		return stored, unavailable(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.written); n > 1 {
		before := s.written[n-2]
		before.stored.Age = time.Since(before.at)
		return before.stored, nil
	}
	return startrecord.Stored{}, fmt.Errorf("%w: read late", startrecord.ErrNotFound)
}

// Find implements startrecord.Indexed.
func (s *store) Find(ctx context.Context, jobID string) (key startrecord.Key, err error) {
	err = call(ctx, "Find", storeFaults, func() (err error) {
		key, err = s.inner.Find(context.WithoutCancel(ctx), jobID)
		return err
	})
	return key, unavailable(err)
}

// Location implements startrecord.Store.
func (s *store) Location(key startrecord.Key) string { return s.inner.Location(key) }

// write keeps what was written, for reads that come late.
func (s *store) write(ctx context.Context, name string, do func() (startrecord.Stored, error)) (startrecord.Stored, error) {
	var stored startrecord.Stored
	err := call(ctx, name, storeFaults, func() (err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if stored, err = do(); err == nil {
			s.written = append(s.written, version{stored, time.Now()})
		}
		return err
	})
	return stored, unavailable(err)
}

func unavailable(err error) error {
	if errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", startrecord.ErrUnavailable, err)
	}
	return err
}

// readsLate decides whether a read gives the version before the last.
func (i *invocation) readsLate() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.calm || i.random.Float64() >= i.world.lateReadShare {
		return false
	}
	i.world.counts.Add("fault: late read")
	return true
}
