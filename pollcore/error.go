package pollcore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a wait can end with, for errors.Is.
var (
	// ErrFailed means that the job has failed, or that the describe call
	// returned an error that no acceptor expects.
	ErrFailed = errors.New("waiter failed")
	// ErrTimedOut means that the total wait has passed. Such an error also
	// matches context.DeadlineExceeded.
	ErrTimedOut = errors.New("waiter timed out")
	// ErrTooManyAttempts means that the calls of MaxAttempts have been made, or
	// that a Poller ended the series for a reason other than time.
	ErrTooManyAttempts = errors.New("waiter made too many attempts")
	// ErrCanceled means that the context ended. Such an error also matches
	// the context's own.
	ErrCanceled = errors.New("waiter canceled")
)

// Error is a wait that did not end in success. It matches one of ErrFailed,
// ErrTimedOut, ErrTooManyAttempts and ErrCanceled, and whatever LastErr and
// Cause match.
type Error struct {
	Waiter   string
	Verdict  Verdict // of the last call
	Acceptor int     // index of the acceptor that matched last, or NoAcceptor
	Attempts int     // calls made
	Elapsed  time.Duration
	Total    time.Duration // that the wait could take
	Seen     any           // the value that matched
	Message  string        // of the acceptor's message expression
	// LastOutput is the output of the last call that was judged, nil if there
	// was none, and LastErr its error.
	LastOutput any
	LastErr    error
	// Cause is why a canceled context ended, or with which error a Poller ended
	// the series.
	Cause error
	// HookErr is the error of the OnTimeout hook.
	HookErr error

	kind   error
	ended  error // the context's own error, if it ended
	reason string
}

// Error says what was expected, what was seen, and how often.
func (e *Error) Error() string {
	calls := fmt.Sprintf("%d attempts", e.Attempts)
	if e.Attempts == 1 {
		calls = "1 attempt"
	}
	elapsed := round(e.Elapsed)
	var text string
	switch {
	case errors.Is(e.kind, ErrFailed):
		text = fmt.Sprintf("%s: failed after %s in %s", e.Waiter, calls, elapsed)
	case e.Cause != nil && !errors.Is(e.kind, ErrCanceled):
		text = fmt.Sprintf("%s: ended by its strategy after %s in %s (max wait %s)", e.Waiter, calls, elapsed, e.Total)
	case errors.Is(e.kind, ErrTooManyAttempts):
		text = fmt.Sprintf("%s: gave up after %s, as many as were allowed, in %s", e.Waiter, calls, elapsed)
	case errors.Is(e.kind, ErrCanceled):
		text = fmt.Sprintf("%s: canceled after %s in %s (max wait %s)", e.Waiter, calls, elapsed, e.Total)
	default:
		text = fmt.Sprintf("%s: timed out after %s in %s (max wait %s)", e.Waiter, calls, elapsed, e.Total)
	}
	if e.reason != "" {
		text += ": " + e.reason
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.HookErr != nil {
		text += "; on timeout: " + e.HookErr.Error()
	}
	return text
}

// Is makes a timeout match context.DeadlineExceeded, and a cancellation the
// context's own error besides its cause.
func (e *Error) Is(target error) bool {
	return target == e.kind || e.ended != nil && target == e.ended ||
		e.kind == ErrTimedOut && target == context.DeadlineExceeded
}

// Unwrap returns the last call's error, the cause and the hook's error.
func (e *Error) Unwrap() []error {
	var inner []error
	for _, err := range []error{e.LastErr, e.Cause, e.HookErr} {
		if err != nil {
			inner = append(inner, err)
		}
	}
	return inner
}

// round shortens a duration for people.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(100 * time.Millisecond)
	default:
		return d.Round(time.Millisecond)
	}
}

// callTimeoutError is the cause of a call's context that has ended by itself.
type callTimeoutError struct{ limit time.Duration }

func (e *callTimeoutError) Error() string { return fmt.Sprintf("call took longer than %s", e.limit) }

func (e *callTimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// callError is the error of a call that was cut short, with the reason.
type callError struct{ cause, err error }

func (e *callError) Error() string { return fmt.Sprintf("%s: %s", e.cause, e.err) }

func (e *callError) Unwrap() []error { return []error{e.cause, e.err} }
