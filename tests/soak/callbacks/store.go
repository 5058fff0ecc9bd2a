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

// store is a store of start records that may be slow, lose calls, and answer with an
// older version.
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

// inS3 is a store in which no record is found by its job.
type inS3 struct{ startrecord.Store }

// Create implements startrecord.Store.
func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.write(ctx, "Create", startrecord.ErrExists, func() (startrecord.Stored, error) { return s.inner.Create(context.WithoutCancel(ctx), key, rec) })
}

// Replace implements startrecord.Store.
func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, v string) (startrecord.Stored, error) {
	return s.write(ctx, "Replace", startrecord.ErrChanged, func() (startrecord.Stored, error) { return s.inner.Replace(context.WithoutCancel(ctx), key, rec, v) })
}

// ReplaceIndexed implements startrecord.Indexed.
func (s *store) ReplaceIndexed(ctx context.Context, key startrecord.Key, rec startrecord.Record, v string) (startrecord.Stored, error) {
	return s.write(ctx, "ReplaceIndexed", startrecord.ErrChanged, func() (startrecord.Stored, error) {
		return s.inner.ReplaceIndexed(context.WithoutCancel(ctx), key, rec, v)
	})
}

// Load implements startrecord.Store. There is one key.
func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	stored, err := call(ctx, "Load", storeFaults, func() (startrecord.Stored, error) { return s.inner.Load(context.WithoutCancel(ctx), key) })
	i, ok := ctx.Value(invocationKey{}).(*invocation)
	if err != nil || !ok || !i.readsLate() {
		return stored, unavailable(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	back := 2 // the version before the last
	if i.chance(0.5) {
		back += i.intN(len(s.written))
	}
	if n := len(s.written) - back; n >= 0 {
		old := s.written[n]
		old.stored.Age = time.Since(old.at)
		return old.stored, nil
	}
	i.world.counts.Add("fault: late read of no record")
	return startrecord.Stored{}, fmt.Errorf("%w: read late", startrecord.ErrNotFound)
}

// Find implements startrecord.Indexed.
func (s *store) Find(ctx context.Context, jobID string) (startrecord.Key, error) {
	key, err := call(ctx, "Find", storeFaults, func() (startrecord.Key, error) { return s.inner.Find(context.WithoutCancel(ctx), jobID) })
	if i, ok := ctx.Value(invocationKey{}).(*invocation); ok && err == nil && i.readsLate() {
		return startrecord.Key{}, fmt.Errorf("%w: read late", startrecord.ErrNotFound)
	}
	return key, unavailable(err)
}

// Location implements startrecord.Store.
func (s *store) Location(key startrecord.Key) string { return s.inner.Location(key) }

// write keeps what was written, for reads that come late.
func (s *store) write(ctx context.Context, name string, taken error, do func() (startrecord.Stored, error)) (startrecord.Stored, error) {
	var mine startrecord.Stored // with the effect, of which there may be no answer
	stored, err := call(ctx, name, storeFaults, func() (startrecord.Stored, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		stored, err := do()
		if err == nil {
			mine, s.written = stored, append(s.written, version{stored, time.Now()})
		}
		return stored, err
	})
	if i, ok := ctx.Value(invocationKey{}).(*invocation); ok && errors.Is(err, errLost) && ctx.Err() == nil && i.chance(0.5) {
		return s.readBack(i, &mine, taken)
	}
	return stored, unavailable(err)
}

// readBack settles a write without an answer, as the stores in S3 and DynamoDB do. Another
// write may have come meanwhile: then nobody can say whether this one had its effect.
func (s *store) readBack(i *invocation, mine *startrecord.Stored, taken error) (startrecord.Stored, error) {
	i.world.counts.Add("writes that were read back")
	<-time.After(i.upTo(20 * time.Second))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case mine.Version == "":
		return startrecord.Stored{}, fmt.Errorf("%w: read back", startrecord.ErrUnavailable)
	case mine.Version == s.written[len(s.written)-1].stored.Version:
		return *mine, nil
	default:
		i.world.counts.Add("writes that another one has covered")
		return startrecord.Stored{}, fmt.Errorf("%w: read back", taken)
	}
}

func unavailable(err error) error {
	if errors.Is(err, errLost) {
		return fmt.Errorf("%w: %w", startrecord.ErrUnavailable, err)
	}
	return err
}

// readsLate decides whether a read gives an older version.
func (i *invocation) readsLate() bool {
	if i.calm || !i.chance(i.world.lateReadShare) {
		return false
	}
	i.world.counts.Add("fault: late read")
	return true
}
