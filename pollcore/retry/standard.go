package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultMaxAttempts is how many tries a [StandardStrategy] makes at most
// unless it is told otherwise.
const DefaultMaxAttempts = 3

// StandardStrategy is the standard strategy of the retry design:
//
//   - It acquires a token before the first try.
//   - After a try that is to be retried it backs off first and takes capacity
//     from the token bucket then; neither comes before the first try.
//   - It resolves each token exactly once, also if the block panics.
//   - It stops at a limit of attempts and at a limit of time, and at once when
//     the context ends, whatever it is waiting for.
//
// A result that was obtained counts, even if the time limit passed meanwhile.
// A strategy holds no state but its bucket's: one serves many goroutines.
type StandardStrategy struct {
	maxAttempts int
	totalTime   time.Duration
	bucket      TokenBucket
	delayer     BackoffDelayer
}

// StrategyOption sets a part of a [StandardStrategy].
type StrategyOption func(*StandardStrategy)

// MaxAttempts limits the tries, the first included; 0 is no limit. Default
// [DefaultMaxAttempts].
func MaxAttempts(n int) StrategyOption {
	return func(s *StandardStrategy) { s.maxAttempts = n }
}

// TotalTime limits the time that all tries and delays take together; 0, the
// default, is no limit. A try under way is told by its context.
func TotalTime(d time.Duration) StrategyOption {
	return func(s *StandardStrategy) { s.totalTime = d }
}

// WithTokenBucket sets the token bucket. Default is a [StandardTokenBucket]
// that the strategy has to itself.
func WithTokenBucket(b TokenBucket) StrategyOption {
	return func(s *StandardStrategy) { s.bucket = b }
}

// WithBackoff sets the delay between tries. Default is [ExponentialBackoff].
func WithBackoff(d BackoffDelayer) StrategyOption {
	return func(s *StandardStrategy) { s.delayer = d }
}

// NewStandardStrategy returns a strategy. Its error reports every option that
// is out of range.
func NewStandardStrategy(options ...StrategyOption) (*StandardStrategy, error) {
	s := &StandardStrategy{maxAttempts: DefaultMaxAttempts, delayer: ExponentialBackoff{}}
	bucket, err := NewStandardTokenBucket()
	if err != nil {
		return nil, err
	}
	s.bucket = bucket
	for _, option := range options {
		option(s)
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("retry strategy: %w", err)
	}
	return s, nil
}

// Retry runs try until its directive ends it or a limit does. Its error is an
// *[Error].
func (s *StandardStrategy) Retry(ctx context.Context, try func(context.Context) Attempt) error {
	r := &series{StandardStrategy: s, caller: ctx, ctx: ctx, start: time.Now()}
	if s.totalTime > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, s.totalTime, ErrTimeLimit)
		defer cancel()
		r.ctx = limited
	}
	// What is left after a panic of try; its error would have no reader.
	defer func() { _ = r.release() }()
	return r.run(try)
}

func (s *StandardStrategy) validate() error {
	var found []error
	if s.maxAttempts < 0 {
		found = append(found, fmt.Errorf("maximum number of attempts must not be negative, got %d", s.maxAttempts))
	}
	if s.totalTime < 0 {
		found = append(found, fmt.Errorf("total time must not be negative, got %s", s.totalTime))
	}
	if s.bucket == nil {
		found = append(found, errors.New("token bucket must not be nil; NoOpTokenBucket limits nothing"))
	}
	if s.delayer == nil {
		found = append(found, errors.New("backoff must not be nil"))
	}
	if b, ok := s.delayer.(interface{ Validate() error }); ok {
		found = append(found, b.Validate())
	}
	return errors.Join(found...)
}

// series is a run of tries under way.
type series struct {
	*StandardStrategy

	caller   context.Context //nolint:containedctx // of one call of Retry, which owns this value
	ctx      context.Context //nolint:containedctx // caller within the time limit
	start    time.Time
	token    Token // held, not resolved yet
	attempts int
	last     Attempt
}

func (r *series) run(try func(context.Context) Attempt) error {
	if r.ctx.Err() != nil {
		return r.stopped(nil)
	}
	token, err := r.bucket.AcquireToken(r.ctx)
	if err != nil {
		return r.stopped(err)
	}
	for {
		r.token = token
		r.attempts++
		attempt := try(r.ctx)
		cut := cutShort(r.ctx, attempt.Err)
		if !cut || r.attempts == 1 {
			r.last = attempt
		}
		if cut {
			return r.stopped(nil)
		}
		reason, retry := r.last.Directive.Reason()
		switch {
		case r.last.Directive == TerminateAndSucceed:
			return r.succeeded()
		case !retry:
			return r.ended(ErrFailed, nil)
		case r.maxAttempts > 0 && r.attempts >= r.maxAttempts:
			return r.ended(ErrTooManyAttempts, nil)
		}
		if err := r.pause(); err != nil {
			return r.stopped(err)
		}
		if token, err = r.token.ScheduleRetry(r.ctx, reason); err != nil {
			return r.stopped(err)
		}
	}
}

// pause waits as long as the directive says, or else the backoff.
func (r *series) pause() error {
	if delay, set := r.last.Directive.Delay(); set {
		return sleep(r.ctx, delay)
	}
	return r.delayer.Backoff(r.ctx, r.attempts)
}

func (r *series) succeeded() error {
	token := r.token
	r.token = nil
	if err := token.NotifySuccess(); err != nil {
		return r.ended(ErrStopped, err)
	}
	return nil
}

// stopped is the end by something that returned err: a context that ended
// meanwhile is the reason, else err is.
func (r *series) stopped(err error) error {
	switch {
	case r.caller.Err() != nil:
		e := r.ended(ErrCanceled, context.Cause(r.caller))
		e.ctxErr = r.caller.Err()
		return e
	case r.ctx.Err() != nil:
		e := r.ended(ErrTimeLimit, nil)
		e.ctxErr = r.ctx.Err()
		return e
	default:
		return r.ended(ErrStopped, err)
	}
}

func (r *series) ended(kind, cause error) *Error {
	e := &Error{
		Attempts: r.attempts, Elapsed: time.Since(r.start), LastResult: r.last.Result, LastErr: r.last.Err,
		Cause: cause, kind: kind,
	}
	if err := r.release(); err != nil {
		e.Cause = errors.Join(cause, err)
	}
	return e
}

// release resolves the token that is held, if there is one, as failed.
func (r *series) release() error {
	if r.token == nil {
		return nil
	}
	token := r.token
	r.token = nil
	return token.NotifyFailure()
}
