package retry

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// What a Backoff has by default.
const (
	defaultBase   = 100 * time.Millisecond
	defaultFactor = 2.0
	defaultMax    = 20 * time.Second
)

// Backoff is the delay before the next attempt. Its ceiling grows with each
// attempt: Base after the first, Factor times as much after each further one, at
// most Max. Jitter draws the delay from the ceiling. Fields that are 0 or nil have
// their default.
type Backoff struct {
	Base   time.Duration // default 100 ms
	Factor float64       // default 2; at least 1
	Max    time.Duration // default 20 s
	// Jitter returns a delay from 0 to the ceiling; values outside are moved to the
	// nearest bound. By default it draws evenly from the whole range, so that
	// clients which failed together do not come back together.
	Jitter func(ceiling time.Duration) time.Duration
}

// Delay draws the delay after the attempt of this number, counted from 1.
func (b Backoff) Delay(attempt int) time.Duration {
	ceiling := b.ceiling(attempt)
	jitter := b.Jitter
	if jitter == nil {
		jitter = drawUpTo
	}
	return min(max(0, jitter(ceiling)), ceiling)
}

func (b Backoff) validate() error {
	var found []error
	if b.Base < 0 {
		found = append(found, fmt.Errorf("Backoff.Base must be at least 0, got %s", b.Base))
	}
	if b.Factor != 0 && !(b.Factor >= 1) { // NaN too
		found = append(found, fmt.Errorf("Backoff.Factor must be at least 1, got %v", b.Factor))
	}
	if b.Max < 0 {
		found = append(found, fmt.Errorf("Backoff.Max must be at least 0, got %s", b.Max))
	}
	return errors.Join(found...)
}

func (b Backoff) ceiling(attempt int) time.Duration {
	base, factor, limit := b.Base, b.Factor, b.Max
	if base == 0 {
		base = defaultBase
	}
	if factor == 0 {
		factor = defaultFactor
	}
	if limit == 0 {
		limit = defaultMax
	}
	if grown := float64(base) * math.Pow(factor, float64(max(0, attempt-1))); grown < float64(limit) {
		return time.Duration(grown)
	}
	return limit
}

// drawUpTo draws from [0, ceiling].
func drawUpTo(ceiling time.Duration) time.Duration {
	if ceiling == math.MaxInt64 {
		ceiling--
	}
	return rand.N(ceiling + 1) //nolint:gosec // jitter needs no secrecy
}
