package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What the retries of a [StandardStrategy] can end with, for errors.Is.
var (
	// ErrFailed means that the policy said [TerminateAndFail].
	ErrFailed = errors.New("retries ended by the policy")
	// ErrTooManyAttempts means that the policy asked for another try, but
	// [MaxAttempts] were made.
	ErrTooManyAttempts = errors.New("too many attempts")
	// ErrTimeLimit means that the [TotalTime] had passed. Such an error also
	// matches context.DeadlineExceeded.
	ErrTimeLimit = errors.New("time limit of the retries reached")
	// ErrStopped means that the token bucket or the backoff returned an error,
	// [ErrNoCapacity] for instance, which the error also matches.
	ErrStopped = errors.New("retries stopped by the token bucket or the backoff")
	// ErrCanceled means that the caller's context ended. Such an error also
	// matches the context's own and its cause.
	ErrCanceled = errors.New("retries canceled")
)

// Error is a series of tries that did not end in success. It matches one of
// ErrFailed, ErrTooManyAttempts, ErrTimeLimit, ErrStopped and ErrCanceled, and
// whatever LastErr and Cause match.
type Error struct {
	Attempts int           // tries made
	Elapsed  time.Duration // since Retry was called
	// LastResult is the value that the last try returned, nil before the first
	// one, and LastErr its error. Where the end of the context cut a try short,
	// they are those of the try before it, which says more.
	LastResult any
	LastErr    error
	// Cause is why the caller's context ended, or what the token bucket or the
	// backoff returned; else nil.
	Cause error

	kind   error
	ctxErr error // of the context that has ended
}

// Error says why the retries ended, after how many tries, and the last error.
func (e *Error) Error() string {
	tries := fmt.Sprintf("%d attempts", e.Attempts)
	if e.Attempts == 1 {
		tries = "1 attempt"
	}
	after := fmt.Sprintf("after %s in %s", tries, round(e.Elapsed))
	var text string
	switch e.kind {
	case ErrFailed: //nolint:errorlint // the kind is one of the sentinels itself
		text = "failed " + after
	case ErrTooManyAttempts:
		text = "gave up " + after + ", as many as were allowed"
	case ErrTimeLimit:
		text = "reached the time limit " + after
	case ErrCanceled:
		text = "canceled " + after
	default:
		text = "stopped " + after
	}
	if e.Cause != nil && !errors.Is(e.LastErr, e.Cause) {
		text += ": " + e.Cause.Error()
	}
	if e.LastErr != nil {
		text += ": " + e.LastErr.Error()
	}
	return text
}

// Is makes the error match its kind, and the error of the context that ended.
func (e *Error) Is(target error) bool {
	return target == e.kind || e.ctxErr != nil && target == e.ctxErr
}

// Unwrap returns the cause and the last try's error.
func (e *Error) Unwrap() []error {
	var inner []error
	for _, err := range []error{e.Cause, e.LastErr} {
		if err != nil {
			inner = append(inner, err)
		}
	}
	return inner
}

// round shortens a duration for people.
func round(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// cutShort tells whether a try's error is the end of its context.
func cutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
