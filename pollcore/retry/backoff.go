package retry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// BackoffDelayer delays a retry.
//
// Backoff returns after the delay that is due after the attempt of this
// number, counted from 1, or with an error as soon as ctx ends.
type BackoffDelayer interface {
	Backoff(ctx context.Context, attempt int) error
}

// Defaults of [ExponentialBackoff].
const (
	DefaultBase   = 100 * time.Millisecond
	DefaultFactor = 2.0
	DefaultMax    = 20 * time.Second
)

// ExponentialBackoff is a delay whose ceiling grows with each attempt: Base
// after the first, Factor times as much after each further one, at most Max.
// Jitter draws the delay from the ceiling. Fields that are 0 or nil have
// their default.
type ExponentialBackoff struct {
	Base   time.Duration // default [DefaultBase]
	Factor float64       // default [DefaultFactor]; at least 1
	Max    time.Duration // default [DefaultMax]
	// Jitter returns a delay from 0 to the ceiling; values outside are moved
	// to the nearest bound. Default [FullJitter].
	Jitter func(ceiling time.Duration) time.Duration
}

// FullJitter draws from [0, ceiling] uniformly: the choice that keeps clients
// which failed together from coming back together.
func FullJitter(ceiling time.Duration) time.Duration {
	if ceiling <= 0 {
		return 0
	}
	if ceiling == math.MaxInt64 {
		ceiling--
	}
	return rand.N(ceiling + 1) //nolint:gosec // jitter needs no secrecy
}

// NoJitter returns the ceiling: every client waits as long.
func NoJitter(ceiling time.Duration) time.Duration { return ceiling }

// Validate reports all fields that are out of range.
func (b ExponentialBackoff) Validate() error {
	var found []error
	if b.Base < 0 {
		found = append(found, fmt.Errorf("base delay must not be negative, got %s", b.Base))
	}
	if b.Factor != 0 && !(b.Factor >= 1) { // NaN too
		found = append(found, fmt.Errorf("factor must be at least 1, got %v", b.Factor))
	}
	if b.Max < 0 {
		found = append(found, fmt.Errorf("maximum delay must not be negative, got %s", b.Max))
	}
	return errors.Join(found...)
}

// Delay draws the delay that is due after the attempt of this number, counted
// from 1.
func (b ExponentialBackoff) Delay(attempt int) time.Duration {
	ceiling := b.ceiling(attempt)
	jitter := b.Jitter
	if jitter == nil {
		jitter = FullJitter
	}
	return min(max(0, jitter(ceiling)), ceiling)
}

// Backoff sleeps for [ExponentialBackoff.Delay].
func (b ExponentialBackoff) Backoff(ctx context.Context, attempt int) error {
	if err := b.Validate(); err != nil {
		return err
	}
	return sleep(ctx, b.Delay(attempt))
}

func (b ExponentialBackoff) ceiling(attempt int) time.Duration {
	base, factor, limit := b.Base, b.Factor, b.Max
	if base == 0 {
		base = DefaultBase
	}
	if factor == 0 {
		factor = DefaultFactor
	}
	if limit == 0 {
		limit = DefaultMax
	}
	if grown := float64(base) * math.Pow(factor, float64(max(0, attempt-1))); grown < float64(limit) {
		return time.Duration(grown)
	}
	return limit
}

// sleep waits for d, or returns why ctx ended as soon as it has.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}
