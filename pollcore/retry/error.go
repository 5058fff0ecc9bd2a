package retry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a series of attempts ends with, for errors.Is.
var (
	// ErrFailed means that the policy said [Fail].
	ErrFailed = errors.New("attempts ended by the policy")
	// ErrTooManyAttempts means that the policy asked for another attempt, but
	// MaxAttempts were made.
	ErrTooManyAttempts = errors.New("too many attempts")
	// ErrTimeLimit means that MaxTime had passed. Such an error also matches
	// context.DeadlineExceeded.
	ErrTimeLimit = errors.New("time limit of the attempts reached")
	// ErrNoCapacity means that a [Bucket] has not the capacity that an attempt costs.
	ErrNoCapacity = errors.New("bucket has too little capacity")
	// ErrCanceled means that the caller's context ended. Such an error also matches
	// the context's own and its cause.
	ErrCanceled = errors.New("attempts canceled")
)

// Error is a series of attempts that did not end in success. It matches one of
// ErrFailed, ErrTooManyAttempts, ErrTimeLimit, ErrNoCapacity and ErrCanceled, and
// whatever LastErr and Cause match.
type Error struct {
	Attempts int           // that were made
	Elapsed  time.Duration // since the series began
	// LastResult is the value that the last attempt returned, nil before the first
	// one, and LastErr its error. Where the end of the context cut an attempt short,
	// they are those of the attempt before it, which says more.
	LastResult any
	LastErr    error
	// Cause is why the caller's context ended, or what the bucket lacks; else nil.
	Cause error

	kind   error
	ctxErr error // of the context that has ended
}

// Error says why the attempts ended, after how many, and the last error.
func (e *Error) Error() string {
	count := fmt.Sprintf("%d attempts", e.Attempts)
	if e.Attempts == 1 {
		count = "1 attempt"
	}
	after := fmt.Sprintf("after %s in %s", count, round(e.Elapsed))
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

// Unwrap returns the cause and the last attempt's error.
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

// isCutShort reports whether an attempt's error is the end of its context.
func isCutShort(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
