package stepfunctions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/retry"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// ourShare is the part of a quota of the account that a client uses. The rest is left
// to others.
const ourShare = 0.5

// steady are the operations whose bursts are left to others: deployments and consoles
// describe state machines, too, and a look at all of an account has time.
var steady = []string{"DescribeStateMachine", "ListStateMachines"}

// bucket has the tokens of an operation. It may owe some.
type bucket struct {
	capacity, perSecond float64

	tokens float64
	at     time.Time // up to when refill is in tokens
}

// bucketOf is the client's share of an operation in a region; nil if its quota is not
// known.
func (c *Client) bucketOf(operation, region string) *bucket {
	b, known := c.buckets[operation]
	if !known {
		if quota, ok := asl.QuotaOf(operation, region, asl.Standard); ok {
			b = &bucket{capacity: ourShare * float64(quota.Burst), perSecond: ourShare * float64(quota.PerSecond), at: time.Now()}
			if slices.Contains(steady, operation) {
				b.capacity = 1
			}
			b.tokens = b.capacity
		}
		c.buckets[operation] = b
	}
	return b
}

func (b *bucket) fill() {
	now := time.Now()
	b.tokens = min(b.capacity, b.tokens+b.perSecond*now.Sub(b.at).Seconds())
	b.at = now
}

// take is how long a call waits for its token.
func (b *bucket) take() time.Duration {
	b.fill()
	b.tokens--
	return max(0, time.Duration(-b.tokens/b.perSecond*float64(time.Second)))
}

// pace waits before a call that would use more than our share of the quota.
func (c *Client) pace(ctx context.Context, operation, region string) error {
	b := c.bucketOf(operation, region)
	if b == nil {
		return nil
	}
	timer := time.NewTimer(b.take())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return failCall(operation, context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}

// giveUp leaves what the bucket of an operation has to others, who have used up theirs.
func (c *Client) giveUp(operation string) {
	if b := c.buckets[operation]; b != nil {
		b.fill()
		b.tokens = min(0, b.tokens)
	}
}

// PaceOf is how long so many calls of an operation with a known quota take at the pace of
// the client, at least.
func (c *Client) PaceOf(operation string, calls int, region string) time.Duration {
	b := c.bucketOf(operation, region)
	b.fill()
	return max(0, time.Duration((float64(calls)-b.tokens)/b.perSecond*float64(time.Second)))
}

// persistence is how often a call is tried while its error passes.
var persistence = retry.Strategy{MaxAttempts: 12, Backoff: retry.Backoff{Base: time.Second, Max: time.Minute}}

// Persist makes a call again while its error passes, for some minutes if the service has
// answered before. It tells tried, which may be nil, of each error after which it makes
// the call again, and of nil after an answer. Its error is that of the last try, or the
// cause of the context's end.
func Persist[T any](ctx context.Context, answered *bool, tried func(error), call func(context.Context) (T, error)) (T, error) {
	tries := 0
	judge := func(out T, err error) retry.Directive {
		directive, class := retry.ByClass(out, err), goerror.Classify(err)
		// A service that never answered is more likely misspelt than down.
		if !*answered && (class == awserror.NotSent || class == awserror.Unclear) {
			directive = retry.Fail()
		}
		tries++
		isLast := directive == retry.Fail() || tries == persistence.MaxAttempts || ctx.Err() != nil
		if tried != nil && (err == nil || !isLast) {
			tried(err)
		}
		return directive
	}
	out, err := retry.Do(ctx, persistence, judge, call)
	series, failed := errors.AsType[*retry.Error](err)
	switch {
	case !failed:
		return out, err
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	default:
		return out, series.LastErr
	}
}

func (c *Client) persist(ctx context.Context, call func(context.Context) error) error {
	_, err := Persist(ctx, &c.answered, c.Tried, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}
