package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

// ledger is a token bucket that writes down what its holder does. Its tokens
// are numbered from 1.
type ledger struct {
	entries []string
	refuse  error // what ScheduleRetry returns
	tokens  int
}

type ledgerToken struct {
	*ledger

	number int
}

func (l *ledger) AcquireToken(context.Context) (retry.Token, error) {
	l.note("acquire")
	return l.issue(), nil
}

func (t *ledgerToken) NotifySuccess() error {
	t.note("success %d", t.number)
	return nil
}

func (t *ledgerToken) NotifyFailure() error {
	t.note("failure %d", t.number)
	return nil
}

func (t *ledgerToken) ScheduleRetry(_ context.Context, reason retry.ErrorType) (retry.Token, error) {
	t.note("schedule %d %s", t.number, reason)
	if t.refuse != nil {
		return nil, t.refuse
	}
	return t.issue(), nil
}

// Backoff writes the delay into the same ledger, to show the order.
func (l *ledger) Backoff(_ context.Context, attempt int) error {
	l.note("backoff %d", attempt)
	return nil
}

func (l *ledger) note(format string, args ...any) {
	l.entries = append(l.entries, fmt.Sprintf(format, args...))
}

func (l *ledger) issue() retry.Token {
	l.tokens++
	return &ledgerToken{l, l.tokens}
}

// TestStrategyKeepsTheTokenContract checks the order of the design (acquire
// before the first try, back off before taking capacity) and that each token
// is resolved exactly once, whichever way the tries end.
func TestStrategyKeepsTheTokenContract(t *testing.T) {
	t.Parallel()
	down := func(context.Context) (string, error) { return "", errDown }
	tests := []struct {
		name   string
		policy retry.Policy[string]
		try    func(context.Context) (string, error)
		refuse error
		kind   error
		want   []string
	}{
		{"success at once", errorsRetry, failing(0), nil, nil, []string{"acquire", "try", "success 1"}},
		{"success later", errorsRetry, failing(2), nil, nil, []string{
			"acquire", "try", "backoff 1", "schedule 1 server-side", "try", "backoff 2", "schedule 2 server-side", "try", "success 3",
		}},
		{"too many attempts", errorsRetry, failing(9), nil, retry.ErrTooManyAttempts, []string{
			"acquire", "try", "backoff 1", "schedule 1 server-side", "try", "backoff 2", "schedule 2 server-side", "try", "failure 3",
		}},
		{"failure", func(string, error) retry.Directive { return retry.TerminateAndFail }, down, nil, retry.ErrFailed, []string{
			"acquire", "try", "failure 1",
		}},
		{"reason", func(string, error) retry.Directive { return retry.RetryError(retry.Throttling) }, down, retry.ErrNoCapacity, retry.ErrStopped, []string{
			"acquire", "try", "backoff 1", "schedule 1 throttling", "failure 1",
		}},
		{"own delay", func(string, error) retry.Directive { return retry.RetryError(retry.Timeout).After(1) }, down, retry.ErrNoCapacity, retry.ErrNoCapacity, []string{
			"acquire", "try", "schedule 1 timeout", "failure 1",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{refuse: tt.refuse}
			s := strategy(t, retry.WithTokenBucket(l), retry.WithBackoff(l))
			_, err := retry.Do(t.Context(), s, tt.policy, func(ctx context.Context) (string, error) {
				l.note("try")
				return tt.try(ctx)
			})
			require.ErrorIs(t, err, tt.kind)
			require.Equal(t, tt.want, l.entries)
		})
	}
}

func TestStrategyResolvesTheTokenOfAPanic(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	s := strategy(t, retry.WithTokenBucket(l), retry.WithBackoff(l))
	require.PanicsWithValue(t, "boom", func() {
		_, _ = retry.Do(t.Context(), s, errorsRetry, func(context.Context) (string, error) { panic("boom") })
	})
	require.Equal(t, []string{"acquire", "failure 1"}, l.entries)
}

func TestStrategyReportsABackoffThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no clock")
	s := strategy(t, retry.WithBackoff(brokenBackoff{broken}))
	_, err := retry.Do(t.Context(), s, errorsRetry, failing(1))
	require.ErrorIs(t, err, retry.ErrStopped)
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "stopped after 1 attempt in 0s: no clock: service is down")
}

type brokenBackoff struct{ err error }

func (b brokenBackoff) Backoff(context.Context, int) error { return b.err }

// A bucket whose tokens come resolved stands for one that breaks its contract.
func TestStrategyReportsABucketThatFails(t *testing.T) {
	t.Parallel()
	s := strategy(t, retry.WithTokenBucket(spent{}))
	got, err := retry.Do(t.Context(), s, errorsRetry, failing(0))
	require.Equal(t, "up", got, "the result is not lost")
	require.ErrorIs(t, err, retry.ErrStopped)
	require.ErrorIs(t, err, retry.ErrTokenResolved)
	_, err = retry.Do(t.Context(), s, func(string, error) retry.Directive { return retry.TerminateAndFail }, failing(1))
	require.ErrorIs(t, err, retry.ErrFailed)
	require.ErrorIs(t, err, retry.ErrTokenResolved)
}

type spent struct{ retry.NoOpTokenBucket }

func (s spent) AcquireToken(ctx context.Context) (retry.Token, error) {
	token, err := s.NoOpTokenBucket.AcquireToken(ctx)
	if err == nil {
		err = token.NotifyFailure()
	}
	return token, err
}

// TestTokenMisuse resolves each token twice, in every combination.
func TestTokenMisuse(t *testing.T) {
	t.Parallel()
	resolutions := map[string]func(context.Context, retry.Token) error{
		"NotifySuccess": func(_ context.Context, token retry.Token) error { return token.NotifySuccess() },
		"NotifyFailure": func(_ context.Context, token retry.Token) error { return token.NotifyFailure() },
		"ScheduleRetry": func(ctx context.Context, token retry.Token) error {
			_, err := token.ScheduleRetry(ctx, retry.Throttling)
			return err
		},
	}
	standard, err := retry.NewStandardTokenBucket(retry.RefillEvery(0), retry.FirstTryReturn(7))
	require.NoError(t, err)
	for bucketName, bucket := range map[string]retry.TokenBucket{"standard": standard, "no-op": retry.NoOpTokenBucket{}} {
		for firstName, first := range resolutions {
			for secondName, second := range resolutions {
				token, err := bucket.AcquireToken(t.Context())
				require.NoError(t, err)
				require.NoError(t, first(t.Context(), token))
				before := standard.Level()
				require.ErrorIs(t, second(t.Context(), token), retry.ErrTokenResolved, "%s: %s, %s", bucketName, firstName, secondName)
				require.Equal(t, before, standard.Level(), "a refused resolution changes nothing")
			}
		}
	}
}

// A token whose retry could not be scheduled is still held.
func TestTokenIsHeldAfterAFailedSchedule(t *testing.T) {
	t.Parallel()
	standard, err := retry.NewStandardTokenBucket()
	require.NoError(t, err)
	for name, bucket := range map[string]retry.TokenBucket{"standard": standard, "no-op": retry.NoOpTokenBucket{}} {
		token, err := bucket.AcquireToken(t.Context())
		require.NoError(t, err, name)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = token.ScheduleRetry(ended, retry.Timeout)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NoError(t, token.NotifyFailure(), name)
		require.ErrorIs(t, token.NotifyFailure(), retry.ErrTokenResolved, name)
		_, err = bucket.AcquireToken(ended)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestPolling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		s := strategy(t, retry.WithTokenBucket(l), retry.WithBackoff(l), retry.MaxAttempts(0))
		start := time.Now()
		polls := 0
		// The loop's own kind of interface, without a type of this package.
		var loop interface {
			Poll(ctx context.Context, poll func(context.Context) (time.Duration, bool, error)) error
		} = retry.Polling(s)
		require.NoError(t, loop.Poll(t.Context(), func(context.Context) (time.Duration, bool, error) {
			polls++
			return time.Duration(polls) * time.Second, polls < 3, nil
		}))
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Equal(t, []string{"acquire", "schedule 1 server-side", "schedule 2 server-side", "success 3"}, l.entries)

		err := loop.Poll(t.Context(), func(context.Context) (time.Duration, bool, error) { return 0, false, errDown })
		require.ErrorIs(t, err, retry.ErrFailed)
		require.ErrorIs(t, err, errDown)

		err = retry.Polling(strategy(t)).Poll(t.Context(), func(context.Context) (time.Duration, bool, error) { return 0, true, errDown })
		require.ErrorIs(t, err, retry.ErrTooManyAttempts)
		require.ErrorIs(t, err, errDown)
	})
}
