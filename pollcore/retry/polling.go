package retry

import (
	"context"
	"time"
)

// Poller runs a poll loop on a strategy; see [Polling].
type Poller struct{ strategy Strategy }

// Polling makes a strategy run a loop that judges its calls and chooses its
// delays itself, such as the wait of a waiter. Such a loop wants a strategy
// with a [NoOpTokenBucket], because a job that is not done yet is no failure,
// and with MaxAttempts(0), because it has a limit of its own.
//
// The result's only method has no types of this package in it, so that the
// loop can declare it as an interface and need not import retry.
func Polling(s Strategy) Poller { return Poller{s} }

// Poll calls poll once, and again after the delay that poll returned, for as
// long as it returns again. The last err, if there is one, fails the series;
// an err beside again is what the strategy reports should it end the series
// first. Poll returns what [Strategy.Retry] does.
//
// To the strategy another poll is a retry for a server-side reason, as the
// design says of waiters.
func (p Poller) Poll(ctx context.Context, poll func(context.Context) (delay time.Duration, again bool, err error)) error {
	return p.strategy.Retry(ctx, func(ctx context.Context) Attempt {
		delay, again, err := poll(ctx)
		switch {
		case again:
			return Attempt{Directive: RetryError(ServerSide).After(delay), Err: err}
		case err != nil:
			return Attempt{Directive: TerminateAndFail, Err: err}
		default:
			return Attempt{Directive: TerminateAndSucceed}
		}
	})
}
