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

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

var reasons = []retry.ErrorType{retry.ServerSide, retry.ClientSide, retry.Throttling, retry.Timeout}

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
	do     string
	token  int // modulo those held
	reason retry.ErrorType
	pause  time.Duration
}

// history is a random use of a random bucket.
type history struct {
	capacity, firstTryReturn int
	refill                   time.Duration
	costs                    map[retry.ErrorType]int
	operations               []operation
}

func drawHistory(t *rapid.T) history {
	h := history{
		capacity:       rapid.IntRange(1, 30).Draw(t, "capacity"),
		firstTryReturn: rapid.IntRange(0, 3).Draw(t, "first try return"),
		refill:         time.Duration(rapid.IntRange(0, 5).Draw(t, "refill")) * time.Second,
		costs:          map[retry.ErrorType]int{},
	}
	for _, reason := range reasons {
		h.costs[reason] = rapid.IntRange(0, h.capacity).Draw(t, reason.String())
	}
	h.operations = rapid.SliceOf(rapid.Custom(func(t *rapid.T) operation {
		return operation{
			do:     rapid.SampledFrom([]string{"acquire", "succeed", "fail", "retry", "retry", "pause"}).Draw(t, "do"),
			token:  rapid.IntRange(0, 99).Draw(t, "token"),
			reason: rapid.SampledFrom(reasons).Draw(t, "reason"),
			pause:  time.Duration(rapid.IntRange(0, 20_000).Draw(t, "ms")) * time.Millisecond,
		}
	})).Draw(t, "operations")
	return h
}

// play runs the history on a real bucket and on the accounts, and returns
// where they first differ. It runs in virtual time.
func (h history) play() error {
	options := []retry.BucketOption{
		retry.Capacity(h.capacity), retry.RefillEvery(h.refill), retry.FirstTryReturn(h.firstTryReturn), retry.FailFast(),
	}
	for reason, cost := range h.costs {
		options = append(options, retry.Cost(reason, cost))
	}
	bucket, err := retry.NewStandardTokenBucket(options...)
	if err != nil {
		return err
	}
	books := accounts{capacity: h.capacity, level: h.capacity, refill: h.refill, next: time.Now().Add(h.refill)}
	type held struct {
		token  retry.Token
		reward int
	}
	var tokens []held
	for i, op := range h.operations {
		var holder *held
		if len(tokens) > 0 {
			holder = &tokens[op.token%len(tokens)]
		}
		switch {
		case op.do == "pause":
			<-time.After(op.pause)
			books.until(time.Now())
		case op.do == "acquire" || holder == nil:
			token, err := bucket.AcquireToken(context.Background())
			if err != nil {
				return err
			}
			tokens = append(tokens, held{token, h.firstTryReturn})
		case op.do == "retry":
			cost := h.costs[op.reason]
			next, err := holder.token.ScheduleRetry(context.Background(), op.reason)
			if enough := cost <= books.level; enough != (err == nil) || !enough && !errors.Is(err, retry.ErrNoCapacity) {
				return fmt.Errorf("operation %d: a retry of cost %d at level %d: %w", i, cost, books.level, err)
			}
			if err == nil {
				books.level -= cost
				books.taken += cost
				*holder = held{next, cost}
			}
		default:
			notify := holder.token.NotifyFailure
			if op.do == "succeed" {
				notify = holder.token.NotifySuccess
				books.put(holder.reward, &books.returned)
			}
			if err := notify(); err != nil {
				return err
			}
			*holder = tokens[len(tokens)-1]
			tokens = tokens[:len(tokens)-1]
		}
		level := bucket.Level()
		if level < 0 || level > h.capacity || level != books.level || level != h.capacity-books.taken+books.returned+books.flowed-books.spilt {
			return fmt.Errorf("operation %d: the level is %d, the books say %+v", i, level, books)
		}
	}
	return nil
}

// TestBucketAccounting drives buckets with random resolutions and pauses. The
// level is never negative, never above the capacity, and nothing is made or
// lost: it is what was there, less what retries took, plus what successes
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

// schedule takes the capacity of a retry and returns when it got it.
func schedule(ctx context.Context, t *testing.T, b retry.TokenBucket, reason retry.ErrorType) (time.Duration, error) {
	t.Helper()
	start := time.Now()
	token, err := b.AcquireToken(ctx)
	require.NoError(t, err)
	_, err = token.ScheduleRetry(ctx, reason)
	return time.Since(start), err
}

func newBucket(t *testing.T, options ...retry.BucketOption) *retry.StandardTokenBucket {
	t.Helper()
	b, err := retry.NewStandardTokenBucket(options...)
	require.NoError(t, err)
	return b
}

// A grave retry that waits is not starved by cheap ones that come after it.
func TestBucketServesInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.Capacity(10), retry.Cost(retry.Throttling, 10), retry.Cost(retry.Timeout, 1), retry.RefillEvery(time.Second))
		waited, err := schedule(t.Context(), t, b, retry.Throttling)
		require.NoError(t, err)
		require.Zero(t, waited)
		require.Zero(t, b.Level())

		var wg sync.WaitGroup
		for _, c := range []struct {
			reason retry.ErrorType
			want   time.Duration
		}{{retry.Throttling, 10 * time.Second}, {retry.Timeout, 8 * time.Second}, {retry.Timeout, 6 * time.Second}} {
			wg.Go(func() {
				waited, err := schedule(t.Context(), t, b, c.reason)
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
		b := newBucket(t, retry.Capacity(10), retry.Cost(retry.Throttling, 10), retry.Cost(retry.Timeout, 2), retry.RefillEvery(time.Second))
		_, err := schedule(t.Context(), t, b, retry.Throttling)
		require.NoError(t, err)

		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		wg.Go(func() {
			waited, err := schedule(ctx, t, b, retry.Throttling)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 5*time.Second, waited)
		})
		synctest.Wait()
		wg.Go(func() {
			waited, err := schedule(t.Context(), t, b, retry.Timeout)
			require.NoError(t, err)
			require.Equal(t, 5*time.Second, waited)
		})
		wg.Wait()
		require.Equal(t, 3, b.Level())
	})
}

func TestSuccessLetsAWaitingRetryGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.Capacity(5), retry.RefillEvery(time.Hour))
		first, err := b.AcquireToken(t.Context())
		require.NoError(t, err)
		second, err := first.ScheduleRetry(t.Context(), retry.ServerSide)
		require.NoError(t, err)
		require.Zero(t, b.Level())
		time.AfterFunc(3*time.Second, func() { require.NoError(t, second.NotifySuccess()) })
		waited, err := schedule(t.Context(), t, b, retry.ServerSide)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, waited, "not the five hours that a refill takes")
	})
}

func TestBucketWithoutRefillDoesNotWait(t *testing.T) {
	t.Parallel()
	b := newBucket(t, retry.Capacity(7), retry.RefillEvery(0))
	_, err := schedule(t.Context(), t, b, retry.ServerSide)
	require.NoError(t, err)
	_, err = schedule(t.Context(), t, b, retry.ClientSide)
	require.ErrorIs(t, err, retry.ErrNoCapacity)
	require.ErrorContains(t, err, "a client-side retry costs 5 units, 2 of 7 are left")
}

func TestDefaultCosts(t *testing.T) {
	t.Parallel()
	for reason, want := range map[retry.ErrorType]int{
		retry.ServerSide: retry.DefaultCost, retry.ClientSide: retry.DefaultCost,
		retry.Throttling: retry.DefaultThrottlingCost, retry.Timeout: retry.DefaultTimeoutCost,
	} {
		b := newBucket(t, retry.RefillEvery(0))
		_, err := schedule(t.Context(), t, b, reason)
		require.NoError(t, err)
		require.Equal(t, retry.DefaultCapacity-want, b.Level(), reason)
	}
	small := newBucket(t, retry.Capacity(3), retry.RefillEvery(0))
	_, err := schedule(t.Context(), t, small, retry.Throttling)
	require.NoError(t, err, "a default cost is never more than the bucket can hold")
	require.Zero(t, small.Level())
}

// Many retriers share a bucket: under the race detector, and no capacity is
// made or lost.
func TestBucketIsSharedByManyGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBucket(t, retry.Capacity(20), retry.FirstTryReturn(0), retry.RefillEvery(time.Second))
		var wg sync.WaitGroup
		start := time.Now()
		const callers = 50
		for range callers {
			wg.Go(func() {
				_, err := schedule(t.Context(), t, b, retry.ServerSide)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		// 250 units in all: 20 were there, the others had to flow in.
		require.Equal(t, (callers*retry.DefaultCost-20)*time.Second, time.Since(start))
		require.Zero(t, b.Level())
	})
}

func TestNewStandardTokenBucketReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := retry.NewStandardTokenBucket(
		retry.Capacity(4), retry.Cost(retry.Throttling, 5), retry.Cost(retry.Timeout, -1), retry.FirstTryReturn(-1), retry.RefillEvery(-time.Second))
	for _, want := range []string{
		"cost of a throttling retry must be from 0 to the capacity of 4, got 5",
		"cost of a timeout retry must be from 0 to the capacity of 4, got -1",
		"return of a first try must not be negative, got -1",
		"refill time must not be negative, got -1s",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = retry.NewStandardTokenBucket(retry.Capacity(0))
	require.ErrorContains(t, err, "capacity must be at least 1, got 0")
}
