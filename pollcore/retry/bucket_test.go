package retry_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

var classes = []awserror.Class{awserror.Fault, awserror.NotSent, awserror.Throttled, awserror.Unclear}

// accounts is what a bucket should hold, added up the slow way.
type accounts struct {
	capacity, level int
	refill          time.Duration
	next            time.Time // when the next unit flows in

	taken, returned, flowed, spilt int
}

func (a *accounts) until(now time.Time) {
	for ; a.refill > 0 && !a.next.After(now); a.next = a.next.Add(a.refill) {
		a.put(1, &a.flowed)
	}
}

func (a *accounts) put(units int, entry *int) {
	for range units {
		*entry++
		if a.level < a.capacity {
			a.level++
		} else {
			a.spilt++
		}
	}
}

// operation is a step of a random history of a bucket.
type operation struct {
	do    string
	class awserror.Class
	pause time.Duration
}

// history is a random use of a random bucket.
type history struct {
	options    retry.BucketOptions
	operations []operation
}

func drawHistory(t *rapid.T) history {
	capacity := rapid.IntRange(1, 30).Draw(t, "capacity")
	h := history{options: retry.BucketOptions{
		Capacity:    capacity,
		FirstReturn: rapid.SampledFrom([]int{-1, 1, 2, 3}).Draw(t, "first return"),
		RefillEvery: time.Duration(rapid.SampledFrom([]int{-1, 1, 2, 5}).Draw(t, "refill")) * time.Second,
		Costs:       map[awserror.Class]int{},
		FailFast:    true,
	}}
	for _, class := range classes {
		h.options.Costs[class] = rapid.IntRange(0, capacity).Draw(t, class.String())
	}
	h.operations = rapid.SliceOf(rapid.Custom(func(t *rapid.T) operation {
		return operation{
			do:    rapid.SampledFrom([]string{"succeed at once", "succeed later", "fail later", "fail later", "pause"}).Draw(t, "do"),
			class: rapid.SampledFrom(classes).Draw(t, "class"),
			pause: time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond,
		}
	})).Draw(t, "operations")
	return h
}

// play runs the history on a real bucket and on the accounts, and returns
// where they first differ. It runs in virtual time.
func (h history) play() error {
	bucket, err := retry.NewBucket(h.options)
	if err != nil {
		return err
	}
	refill, first := max(0, h.options.RefillEvery), max(0, h.options.FirstReturn)
	books := accounts{capacity: h.options.Capacity, level: h.options.Capacity, refill: refill, next: time.Now().Add(refill)}
	for i, op := range h.operations {
		if op.do == "pause" {
			<-time.After(op.pause)
			books.until(time.Now())
			continue
		}
		directives := []retry.Directive{retry.Succeed()}
		if op.do != "succeed at once" {
			last := retry.Fail()
			if op.do == "succeed later" {
				last = retry.Succeed()
			}
			directives = []retry.Directive{retry.Again(op.class).After(0), last}
		}
		err := try(context.Background(), bucket, directives...)
		cost := h.options.Costs[op.class]
		switch {
		case op.do == "succeed at once":
			books.put(first, &books.returned)
		case cost > books.level:
			if !errors.Is(err, retry.ErrNoCapacity) {
				return fmt.Errorf("operation %d: an attempt of cost %d at level %d: %w", i, cost, books.level, err)
			}
		default:
			books.level -= cost
			books.taken += cost
			if op.do == "succeed later" {
				books.put(cost, &books.returned)
			}
		}
		level := bucket.Level()
		if level < 0 || level > books.capacity || level != books.level || level != books.capacity-books.taken+books.returned+books.flowed-books.spilt {
			return fmt.Errorf("operation %d: the level is %d, the books say %+v", i, level, books)
		}
	}
	return nil
}

// try makes attempts with a bucket whose policy gives the directives in turn.
func try(ctx context.Context, bucket *retry.Bucket, directives ...retry.Directive) error {
	_, err := retry.Do(ctx, retry.Strategy{Bucket: bucket}, func(int, error) retry.Directive {
		d := directives[0]
		directives = directives[1:]
		return d
	}, func(context.Context) (int, error) { return 0, nil })
	return err
}

// TestBucketAccounting drives buckets with random attempts and pauses. The
// level is never negative, never above the capacity, and nothing is made or
// lost: it is what was there, less what attempts took, plus what successes
// returned and what flowed in, less what did not fit.
func TestBucketAccounting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHistory(rt)
		var err error
		synctest.Test(t, func(*testing.T) { err = h.play() })
		require.NoError(rt, err)
	})
}

// take takes the capacity of a second attempt, which fails, and returns how long that
// took.
func take(ctx context.Context, b *retry.Bucket, class awserror.Class) (time.Duration, error) {
	start := time.Now()
	err := try(ctx, b, retry.Again(class).After(0), retry.Fail())
	if errors.Is(err, retry.ErrFailed) {
		err = nil
	}
	return time.Since(start), err
}

func newBucket(t *testing.T, options retry.BucketOptions) *retry.Bucket {
	t.Helper()
	b, err := retry.NewBucket(options)
	require.NoError(t, err)
	return b
}

// An attempt of high cost that waits is not starved by cheap ones that come after it.
func TestBucketServesInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.BucketOptions{Capacity: 10, Costs: map[awserror.Class]int{awserror.Throttled: 10, awserror.Unclear: 1}, RefillEvery: time.Second})
		waited, err := take(t.Context(), b, awserror.Throttled)
		require.NoError(t, err)
		require.Zero(t, waited)
		require.Zero(t, b.Level())

		var wg sync.WaitGroup
		for _, c := range []struct {
			class awserror.Class
			want  time.Duration
		}{{awserror.Throttled, 10 * time.Second}, {awserror.Unclear, 8 * time.Second}, {awserror.Unclear, 6 * time.Second}} {
			wg.Go(func() {
				waited, err := take(t.Context(), b, c.class)
				require.NoError(t, err)
				require.Equal(t, c.want, waited)
			})
			// The next one comes when the bucket holds enough for it.
			<-time.After(3 * time.Second)
		}
		wg.Wait()
		require.Zero(t, b.Level())
	})
}

func TestBucketLetsTheNextOneGoWhenTheFirstGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.BucketOptions{Capacity: 10, Costs: map[awserror.Class]int{awserror.Throttled: 10, awserror.Unclear: 2}, RefillEvery: time.Second})
		_, err := take(t.Context(), b, awserror.Throttled)
		require.NoError(t, err)

		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		wg.Go(func() {
			waited, err := take(ctx, b, awserror.Throttled)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 5*time.Second, waited)
		})
		synctest.Wait()
		wg.Go(func() {
			waited, err := take(t.Context(), b, awserror.Unclear)
			require.NoError(t, err)
			require.Equal(t, 5*time.Second, waited)
		})
		wg.Wait()
		require.Equal(t, 3, b.Level())
	})
}

func TestSuccessLetsAWaitingAttemptGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.BucketOptions{Capacity: 5, RefillEvery: time.Hour})
		var wg sync.WaitGroup
		wg.Go(func() {
			attempts := 0
			_, err := retry.Do(t.Context(), retry.Strategy{Bucket: b, Backoff: retry.Backoff{Base: 1, Max: 1}}, errorsRetry,
				func(context.Context) (string, error) {
					if attempts++; attempts == 1 {
						return "", errDown
					}
					<-time.After(3 * time.Second)
					return "up", nil
				})
			require.NoError(t, err)
		})
		<-time.After(time.Millisecond)
		require.Zero(t, b.Level())
		waited, err := take(t.Context(), b, awserror.Fault)
		require.NoError(t, err)
		require.InDelta(t, 3*time.Second, waited, float64(time.Second), "not the five hours that a refill takes")
		wg.Wait()
	})
}

func TestBucketWithoutRefillDoesNotWait(t *testing.T) {
	t.Parallel()
	b := newBucket(t, retry.BucketOptions{Capacity: 7, RefillEvery: -1})
	_, err := take(t.Context(), b, awserror.Fault)
	require.NoError(t, err)
	_, err = take(t.Context(), b, awserror.NotSent)
	require.ErrorIs(t, err, retry.ErrNoCapacity)
	require.ErrorContains(t, err, "an attempt after not sent costs 5 units, 2 of 7 are left")
}

func TestDefaultCosts(t *testing.T) {
	t.Parallel()
	for class, want := range map[awserror.Class]int{awserror.Fault: 5, awserror.NotSent: 5, awserror.Throttled: 10, awserror.Unclear: 10} {
		b := newBucket(t, retry.BucketOptions{RefillEvery: -1})
		_, err := take(t.Context(), b, class)
		require.NoError(t, err)
		require.Equal(t, 500-want, b.Level(), class)
	}
	small := newBucket(t, retry.BucketOptions{Capacity: 3, RefillEvery: -1})
	_, err := take(t.Context(), small, awserror.Throttled)
	require.NoError(t, err, "a default cost is never more than the bucket can hold")
	require.Zero(t, small.Level())
}

// Many callers share a bucket: under the race detector, and no capacity is
// made or lost.
func TestBucketIsSharedByManyGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.BucketOptions{Capacity: 20, RefillEvery: time.Second})
		var wg sync.WaitGroup
		start := time.Now()
		const callers = 50
		for range callers {
			wg.Go(func() {
				_, err := take(t.Context(), b, awserror.Fault)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		// 250 units in all: 20 were there, the others had to flow in.
		require.Equal(t, (callers*5-20)*time.Second, time.Since(start))
		require.Zero(t, b.Level())
	})
}

func TestNewBucketReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := retry.NewBucket(retry.BucketOptions{Capacity: 4, Costs: map[awserror.Class]int{awserror.Throttled: 5, awserror.Unclear: -1}})
	require.ErrorContains(t, err, "cost of an attempt after throttled must be from 0 to the capacity of 4, got 5")
	require.ErrorContains(t, err, "cost of an attempt after unclear must be from 0 to the capacity of 4, got -1")
	_, err = retry.NewBucket(retry.BucketOptions{Capacity: -1})
	require.EqualError(t, err, "bucket: Capacity must be at least 1, got -1")
}
