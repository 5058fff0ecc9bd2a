package retry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// What a Bucket has by default, in units of capacity.
const (
	defaultCapacity    = 500
	defaultCost        = 5
	defaultHighCost    = 10 // after Throttled and Unclear
	defaultFirstReturn = 1
	// defaultRefill is the time in which a bucket gains one unit.
	defaultRefill = 100 * time.Millisecond
)

// Bucket limits how much the callers of one service try again together. Each
// further attempt takes capacity, the more the graver the error before it; a first
// attempt takes none. An attempt that succeeds returns what it took, a first one a
// little, and the bucket refills over time whatever happens. An attempt that finds
// too little capacity waits for it in turn, or fails with [ErrNoCapacity] if the
// bucket fails fast or does not refill.
//
// A bucket serves any number of goroutines. Share one between all callers of a
// service.
type Bucket struct {
	options BucketOptions

	mu     sync.Mutex
	level  int         // 0 to capacity
	filled time.Time   // up to when refill is in level
	queue  []*claimant // in turn; only the first may take capacity
}

// BucketOptions are what a [Bucket] is made of. Fields that are 0 or nil have their
// default.
type BucketOptions struct {
	// Capacity is how many units a full bucket holds. Default 500.
	Capacity int
	// Costs are the units that an attempt takes after an error of a class. Default
	// is 10 for Throttled and Unclear, 5 for others, and at most the capacity.
	Costs map[awserror.Class]int
	// FirstReturn is how many units a first attempt that succeeds returns. Default 1;
	// negative is none.
	FirstReturn int
	// RefillEvery is the time in which the bucket gains one unit. Default 100 ms;
	// negative is never.
	RefillEvery time.Duration
	// FailFast makes an attempt fail with ErrNoCapacity where it would wait.
	FailFast bool
}

// claimant is an attempt that waits for capacity.
type claimant struct{ changed chan struct{} }

// NewBucket returns a full bucket. Its error reports every value out of range: a
// capacity below 1, and a cost outside 0 to the capacity.
func NewBucket(options BucketOptions) (*Bucket, error) {
	options.Capacity = cmp.Or(options.Capacity, defaultCapacity)
	options.FirstReturn = max(0, cmp.Or(options.FirstReturn, defaultFirstReturn))
	options.RefillEvery = max(0, cmp.Or(options.RefillEvery, defaultRefill))
	options.Costs = maps.Clone(options.Costs)
	var found []error
	if options.Capacity < 1 {
		found = append(found, fmt.Errorf("bucket: Capacity must be at least 1, got %d", options.Capacity))
	}
	for _, class := range slices.Sorted(maps.Keys(options.Costs)) {
		if cost := options.Costs[class]; cost < 0 || cost > options.Capacity {
			found = append(found, fmt.Errorf("bucket: cost of an attempt after %s must be from 0 to the capacity of %d, got %d", class, options.Capacity, cost))
		}
	}
	if err := errors.Join(found...); err != nil {
		return nil, err
	}
	return &Bucket{options: options, level: options.Capacity, filled: time.Now()}, nil
}

// Level returns how many units the bucket holds now.
func (b *Bucket) Level() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(time.Now())
	return b.level
}

// cost is what an attempt takes after an error of the class. A default cost never
// exceeds the capacity.
func (b *Bucket) cost(class awserror.Class) int {
	if cost, ok := b.options.Costs[class]; ok {
		return cost
	}
	if class == awserror.Throttled || class == awserror.Unclear {
		return min(defaultHighCost, b.options.Capacity)
	}
	return min(defaultCost, b.options.Capacity)
}

// fill adds what has flowed in since the last time. Whole units are added, and
// the rest of the time is kept for the next one.
func (b *Bucket) fill(now time.Time) {
	if b.options.RefillEvery == 0 {
		return
	}
	units := int64(now.Sub(b.filled) / b.options.RefillEvery)
	b.filled = b.filled.Add(time.Duration(units) * b.options.RefillEvery)
	b.level += int(min(units, int64(b.options.Capacity-b.level)))
}

// firstReward is what a first attempt that succeeds returns.
func (b *Bucket) firstReward() int {
	if b == nil {
		return 0
	}
	return b.options.FirstReturn
}

// put returns capacity; what does not fit is lost.
func (b *Bucket) put(units int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fill(time.Now())
	b.level += min(units, b.options.Capacity-b.level)
	b.wake()
}

// take takes the capacity that an attempt costs, once it is there and all who asked
// before have theirs. It returns the cost.
func (b *Bucket) take(ctx context.Context, class awserror.Class) (units int, err error) {
	if b == nil {
		return 0, ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	units = b.cost(class)
	b.fill(time.Now())
	if len(b.queue) == 0 && b.level >= units {
		b.level -= units
		return units, nil
	}
	if b.options.FailFast || b.options.RefillEvery == 0 {
		return 0, fmt.Errorf("an attempt after %s costs %d units, %d of %d are left", class, units, b.level, b.options.Capacity)
	}
	c := &claimant{changed: make(chan struct{}, 1)}
	b.queue = append(b.queue, c)
	for {
		if err := b.wait(ctx, c, units); err != nil {
			b.leave(c)
			return 0, err
		}
		b.fill(time.Now()) // only the first in the queue gets here
		if b.level >= units {
			b.level -= units
			b.leave(c)
			return units, nil
		}
	}
}

// wait sleeps until c is the first in the queue and either enough has flowed in
// or something else has changed. The lock is released meanwhile.
func (b *Bucket) wait(ctx context.Context, c *claimant, units int) error {
	var enough <-chan time.Time
	if b.queue[0] == c {
		at := b.filled.Add(time.Duration(units-b.level) * b.options.RefillEvery)
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
func (b *Bucket) leave(c *claimant) {
	b.queue = slices.DeleteFunc(b.queue, func(other *claimant) bool { return other == c })
	b.wake()
}

// wake makes the first in the queue look again.
func (b *Bucket) wake() {
	if len(b.queue) == 0 {
		return
	}
	select {
	case b.queue[0].changed <- struct{}{}:
	default: // it is about to look already
	}
}
