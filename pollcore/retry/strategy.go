package retry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Unlimited is a MaxAttempts without a limit.
const Unlimited = -1

// defaultMaxAttempts is how many attempts the zero Strategy makes.
const defaultMaxAttempts = 3

// Strategy says how often and at what pace a call is made again. Its zero value
// makes three attempts. A Strategy holds no state but its bucket's: one serves many
// goroutines.
//
// After an attempt that is to be repeated it backs off first and takes capacity from
// the bucket then. It stops at once when the context ends, whatever it waits for. A
// result that was obtained counts, even if MaxTime passed meanwhile.
type Strategy struct {
	// MaxAttempts limits the attempts, the first included. 0 is three, and Unlimited
	// is for loops that have a limit of their own.
	MaxAttempts int
	// MaxTime limits the time that all attempts and delays take together; 0 is no
	// limit. The context tells an attempt under way.
	MaxTime time.Duration
	// Backoff is the delay between attempts.
	Backoff Backoff
	// Bucket limits the attempts of all strategies that share it; nil is no limit.
	Bucket *Bucket
}

// Validate reports all fields that are out of range.
func (s Strategy) Validate() error {
	var found []error
	if s.MaxAttempts < Unlimited {
		found = append(found, fmt.Errorf("MaxAttempts must be at least 0, or Unlimited, got %d", s.MaxAttempts))
	}
	if s.MaxTime < 0 {
		found = append(found, fmt.Errorf("MaxTime must be at least 0, got %s", s.MaxTime))
	}
	return errors.Join(append(found, s.Backoff.validate())...)
}

// Poll calls poll once, and again after the delay that poll returned, for as long
// as it returns again. The last err, if there is one, fails the series; an err
// beside again is what the strategy reports should it end the series first. Its
// errors are those of [Do].
//
// Poll fits the option Using of pollcore.Wait. Such a loop has a limit and delays of
// its own, and a job that is not done is not a failure: so its strategy is Unlimited and
// has no Bucket.
func (s Strategy) Poll(ctx context.Context, poll func(context.Context) (delay time.Duration, again bool, err error)) error {
	return s.run(ctx, func(ctx context.Context) attempt {
		delay, again, err := poll(ctx)
		switch {
		case again:
			return attempt{directive: Again(awserror.Unknown).After(delay), err: err}
		case err != nil:
			return attempt{directive: Fail(), err: err}
		default:
			return attempt{directive: Succeed()}
		}
	})
}

// attempt is the result of one attempt, and the directive of its policy.
type attempt struct {
	directive Directive
	result    any
	err       error
}

// run makes the attempts.
func (s Strategy) run(ctx context.Context, try func(context.Context) attempt) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if s.MaxAttempts == 0 {
		s.MaxAttempts = defaultMaxAttempts
	}
	r := &series{Strategy: s, caller: ctx, ctx: ctx, start: time.Now()}
	if s.MaxTime > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, s.MaxTime, ErrTimeLimit)
		defer cancel()
		r.ctx = limited
	}
	return r.run(try)
}

// series is a run of attempts under way.
type series struct {
	Strategy

	caller   context.Context //nolint:containedctx // of one call of run, which owns this value
	ctx      context.Context //nolint:containedctx // caller within the time limit
	start    time.Time
	attempts int
	last     attempt
}

func (r *series) run(try func(context.Context) attempt) error {
	if r.ctx.Err() != nil {
		return r.stop(nil)
	}
	reward := r.Bucket.firstReward()
	for {
		r.attempts++
		a := try(r.ctx)
		cut := isCutShort(r.ctx, a.err)
		if !cut || r.attempts == 1 {
			r.last = a
		}
		switch d := r.last.directive; {
		case cut:
			return r.stop(nil)
		case d.kind == kindSucceed:
			r.Bucket.put(reward)
			return nil
		case d.kind == kindFail:
			return r.fail(ErrFailed, nil)
		case r.attempts == r.MaxAttempts:
			return r.fail(ErrTooManyAttempts, nil)
		}
		if err := r.pause(); err != nil {
			return r.stop(err)
		}
		cost, err := r.Bucket.take(r.ctx, r.last.directive.class)
		if err != nil {
			return r.stop(err)
		}
		reward = cost
	}
}

// pause waits as long as the directive says, or else the backoff.
func (r *series) pause() error {
	if d := r.last.directive; d.timed {
		return sleep(r.ctx, d.delay)
	}
	return sleep(r.ctx, r.Backoff.Delay(r.attempts))
}

// stop ends the series by something that returned err: a context that ended
// meanwhile is the reason, else err is.
func (r *series) stop(err error) error {
	switch {
	case r.caller.Err() != nil:
		e := r.fail(ErrCanceled, context.Cause(r.caller))
		e.ctxErr = r.caller.Err()
		return e
	case r.ctx.Err() != nil:
		e := r.fail(ErrTimeLimit, nil)
		e.ctxErr = r.ctx.Err()
		return e
	default:
		return r.fail(ErrNoCapacity, err)
	}
}

func (r *series) fail(kind, cause error) *Error {
	return &Error{
		Attempts: r.attempts, Elapsed: time.Since(r.start), LastResult: r.last.result, LastErr: r.last.err,
		Cause: cause, kind: kind,
	}
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
