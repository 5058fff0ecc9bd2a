package retry

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrTokenResolved means that a token was resolved a second time, which the
// contract of [Token] forbids.
var ErrTokenResolved = errors.New("retry token is resolved already")

// TokenBucket limits retries, usually those of all callers of one service
// together.
//
// A strategy must call AcquireToken before the first try. AcquireToken may
// block, and returns an error as soon as ctx ends.
type TokenBucket interface {
	AcquireToken(ctx context.Context) (Token, error)
}

// Token is the permission for one try. Once the try is judged, the holder must
// resolve the token, exactly once, by one of the three methods:
//
//   - NotifySuccess if the try was successful and no more tries are needed,
//   - NotifyFailure if the try was unsuccessful and no more tries are made,
//   - ScheduleRetry if the try was unsuccessful and another one is needed; it
//     returns the token of that one. It is called after the backoff.
//
// A second resolution changes nothing and returns [ErrTokenResolved].
// ScheduleRetry may block, and returns an error as soon as ctx ends; a token
// whose ScheduleRetry failed is not resolved, and is resolved by
// NotifyFailure then. The two notifications do not block.
type Token interface {
	NotifySuccess() error
	NotifyFailure() error
	ScheduleRetry(ctx context.Context, reason ErrorType) (Token, error)
}

// resolution is the state of a token.
type resolution struct{ resolved atomic.Bool }

func (r *resolution) resolve() error {
	if r.resolved.CompareAndSwap(false, true) {
		return nil
	}
	return ErrTokenResolved
}

// reopen takes a resolution back that did not come about.
func (r *resolution) reopen() { r.resolved.Store(false) }

// NoOpTokenBucket limits nothing: for waiters, whose tries are not failures,
// and for loops that are limited otherwise. Its tokens keep the contract of
// [Token] nevertheless. The zero value is ready to use.
type NoOpTokenBucket struct{}

// AcquireToken returns a token at once. It fails only if ctx has ended.
func (NoOpTokenBucket) AcquireToken(ctx context.Context) (Token, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &noOpToken{}, nil
}

type noOpToken struct{ resolution }

func (t *noOpToken) NotifySuccess() error { return t.resolve() }

func (t *noOpToken) NotifyFailure() error { return t.resolve() }

func (t *noOpToken) ScheduleRetry(ctx context.Context, _ ErrorType) (Token, error) {
	if err := t.resolve(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		t.reopen()
		return nil, err
	}
	return &noOpToken{}, nil
}
