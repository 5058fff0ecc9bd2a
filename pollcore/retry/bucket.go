package retry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ErrNoCapacity means that a token bucket has not the capacity that a retry
// costs.
var ErrNoCapacity = errors.New("token bucket has too little capacity")

// Defaults of [StandardTokenBucket], in units of capacity.
const (
	DefaultCapacity       = 500
	DefaultCost           = 5
	DefaultThrottlingCost = 10
	DefaultTimeoutCost    = 10
	DefaultFirstTryReturn = 1
	// DefaultRefill is the time in which a bucket gains one unit.
	DefaultRefill = 100 * time.Millisecond
)

// StandardTokenBucket is the token bucket of the retry design. A retry takes
// capacity, the more the graver its error type; a first try takes none. A
// retry that succeeds returns what it took, a first try that succeeds returns
// a little, and the bucket refills over time whatever happens. A retry that
// finds too little capacity waits for it in turn, or fails with
// [ErrNoCapacity] if the bucket is [FailFast] or does not refill.
//
// A bucket serves any number of goroutines. Share one between all callers of a
// service.
type StandardTokenBucket struct {
	capacity       int
	costs          map[ErrorType]int
	firstTryReturn int
	refill         time.Duration // per unit; 0 is never
	failFast       bool

	mu     sync.Mutex
	level  int         // 0 to capacity
	filled time.Time   // up to when refill is in level
	queue  []*claimant // in turn; only the first may take capacity
}

// claimant is a retry that waits for capacity.
type claimant struct{ changed chan struct{} }

// BucketOption sets a part of a [StandardTokenBucket].
type BucketOption func(*StandardTokenBucket)

// Capacity is how many units a full bucket holds.
func Capacity(units int) BucketOption {
	return func(b *StandardTokenBucket) { b.capacity = units }
}

// Cost is how many units a retry after an error of the class takes.
func Cost(reason ErrorType, units int) BucketOption {
	return func(b *StandardTokenBucket) { b.costs[reason] = units }
}

// FirstTryReturn is how many units a first try that succeeds returns.
func FirstTryReturn(units int) BucketOption {
	return func(b *StandardTokenBucket) { b.firstTryReturn = units }
}

// RefillEvery is the time in which the bucket gains one unit; 0 is never.
func RefillEvery(d time.Duration) BucketOption {
	return func(b *StandardTokenBucket) { b.refill = d }
}

// FailFast makes a retry fail with [ErrNoCapacity] where it would wait.
func FailFast() BucketOption {
	return func(b *StandardTokenBucket) { b.failFast = true }
}

// NewStandardTokenBucket returns a full bucket. Its error reports every value
// out of range: a capacity below 1, a cost outside 0 to capacity, and a
// negative return or refill time.
func NewStandardTokenBucket(options ...BucketOption) (*StandardTokenBucket, error) {
	b := &StandardTokenBucket{
		capacity:       DefaultCapacity,
		costs:          map[ErrorType]int{},
		firstTryReturn: DefaultFirstTryReturn,
		refill:         DefaultRefill,
	}
	for _, option := range options {
		option(b)
	}
	if err := b.validate(); err != nil {
		return nil, fmt.Errorf("token bucket: %w", err)
	}
	b.level, b.filled = b.capacity, time.Now()
	return b, nil
}

// Level returns how many units the bucket holds now.
func (b *StandardTokenBucket) Level() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(time.Now())
	return b.level
}

// AcquireToken returns the token of a first try at once. It fails only if ctx
// has ended.
func (b *StandardTokenBucket) AcquireToken(ctx context.Context) (Token, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &standardToken{bucket: b, reward: b.firstTryReturn}, nil
}

func (b *StandardTokenBucket) validate() error {
	var found []error
	report := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if b.capacity < 1 {
		report("capacity must be at least 1, got %d", b.capacity)
	}
	for _, reason := range slices.Sorted(maps.Keys(b.costs)) {
		if cost := b.costs[reason]; cost < 0 || cost > b.capacity {
			report("cost of a %s retry must be from 0 to the capacity of %d, got %d", reason, b.capacity, cost)
		}
	}
	if b.firstTryReturn < 0 {
		report("return of a first try must not be negative, got %d", b.firstTryReturn)
	}
	if b.refill < 0 {
		report("refill time must not be negative, got %s", b.refill)
	}
	return errors.Join(found...)
}

// cost is what a retry takes. A default cost never exceeds the capacity.
func (b *StandardTokenBucket) cost(reason ErrorType) int {
	if cost, ok := b.costs[reason]; ok {
		return cost
	}
	switch reason {
	case Throttling:
		return min(DefaultThrottlingCost, b.capacity)
	case Timeout:
		return min(DefaultTimeoutCost, b.capacity)
	default:
		return min(DefaultCost, b.capacity)
	}
}

// fill adds what has flowed in since the last time. Whole units are added, and
// the rest of the time is kept for the next one.
func (b *StandardTokenBucket) fill(now time.Time) {
	if b.refill == 0 {
		return
	}
	units := int64(now.Sub(b.filled) / b.refill)
	b.filled = b.filled.Add(time.Duration(units) * b.refill)
	b.level += int(min(units, int64(b.capacity-b.level)))
}

// put returns capacity; what does not fit is lost.
func (b *StandardTokenBucket) put(units int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(time.Now())
	b.level += min(units, b.capacity-b.level)
	b.wake()
}

// take takes capacity, once it is there and all who asked before have theirs.
func (b *StandardTokenBucket) take(ctx context.Context, units int, reason ErrorType) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	b.fill(time.Now())
	if len(b.queue) == 0 && b.level >= units {
		b.level -= units
		return nil
	}
	if b.failFast || b.refill == 0 {
		return fmt.Errorf("%w: a %s retry costs %d units, %d of %d are left", ErrNoCapacity, reason, units, b.level, b.capacity)
	}
	c := &claimant{changed: make(chan struct{}, 1)}
	b.queue = append(b.queue, c)
	for {
		if err := b.wait(ctx, c, units); err != nil {
			b.leave(c)
			return err
		}
		b.fill(time.Now()) // only the first in the queue gets here
		if b.level >= units {
			b.level -= units
			b.leave(c)
			return nil
		}
	}
}

// wait sleeps until c is the first in the queue and either enough has flowed in
// or something else has changed. The lock is released meanwhile.
func (b *StandardTokenBucket) wait(ctx context.Context, c *claimant, units int) error {
	var enough <-chan time.Time
	if b.queue[0] == c {
		at := b.filled.Add(time.Duration(units-b.level) * b.refill)
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		enough = timer.C
	}
	b.mu.Unlock()
	defer b.mu.Lock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-enough:
	case <-c.changed:
	}
	return nil
}

// leave takes c out of the queue and lets the next one look.
func (b *StandardTokenBucket) leave(c *claimant) {
	b.queue = slices.DeleteFunc(b.queue, func(other *claimant) bool { return other == c })
	b.wake()
}

// wake makes the first in the queue look again.
func (b *StandardTokenBucket) wake() {
	if len(b.queue) == 0 {
		return
	}
	select {
	case b.queue[0].changed <- struct{}{}:
	default: // it is about to look already
	}
}

// standardToken is a token of a StandardTokenBucket.
type standardToken struct {
	resolution

	bucket *StandardTokenBucket
	reward int // units that a success returns
}

func (t *standardToken) NotifySuccess() error {
	if err := t.resolve(); err != nil {
		return err
	}
	t.bucket.put(t.reward)
	return nil
}

func (t *standardToken) NotifyFailure() error { return t.resolve() }

func (t *standardToken) ScheduleRetry(ctx context.Context, reason ErrorType) (Token, error) {
	if err := t.resolve(); err != nil {
		return nil, err
	}
	cost := t.bucket.cost(reason)
	if err := t.bucket.take(ctx, cost, reason); err != nil {
		t.reopen()
		return nil, err
	}
	return &standardToken{bucket: t.bucket, reward: cost}, nil
}
