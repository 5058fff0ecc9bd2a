package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/retry"
)

var errDown = errors.New("service is down")

// errorsRetry succeeds with a value and retries every error.
func errorsRetry(_ string, err error) retry.Directive {
	if err == nil {
		return retry.TerminateAndSucceed
	}
	return retry.RetryError(retry.ServerSide)
}

// fixed is a backoff of one length.
func fixed(d time.Duration) retry.ExponentialBackoff {
	return retry.ExponentialBackoff{Base: d, Max: d, Jitter: retry.NoJitter}
}

func strategy(t *testing.T, options ...retry.StrategyOption) *retry.StandardStrategy {
	t.Helper()
	s, err := retry.NewStandardStrategy(options...)
	require.NoError(t, err)
	return s
}

// failing returns a block that fails so many times and then succeeds.
func failing(times int) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if times--; times >= 0 {
			return "", errDown
		}
		return "up", nil
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		failures int
		want     string
		kind     error
		attempts int
		elapsed  time.Duration
	}{
		{name: "first try", failures: 0, want: "up"},
		{name: "last try", failures: 2, want: "up", elapsed: 2 * time.Second},
		{name: "too many attempts", failures: 3, kind: retry.ErrTooManyAttempts, attempts: 3, elapsed: 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				s := strategy(t, retry.WithBackoff(fixed(time.Second)))
				got, err := retry.Do(t.Context(), s, errorsRetry, failing(tt.failures))
				require.Equal(t, tt.elapsed, time.Since(start))
				require.Equal(t, tt.want, got)
				if tt.kind == nil {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, tt.kind)
				require.ErrorIs(t, err, errDown)
				failure, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, tt.attempts, failure.Attempts)
				require.Equal(t, tt.elapsed, failure.Elapsed)
				require.Equal(t, errDown, failure.LastErr)
			})
		})
	}
}

// The policy has the last word: an error may be the success, a value the
// failure, and a value a reason to try again.
func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	s := strategy(t, retry.WithBackoff(fixed(time.Nanosecond)))
	do := func(d retry.Directive, result string, err error) (string, error) {
		return retry.Do(t.Context(), s,
			func(string, error) retry.Directive { return d },
			func(context.Context) (string, error) { return result, err })
	}
	_, err := do(retry.TerminateAndSucceed, "", errDown)
	require.NoError(t, err)

	got, err := do(retry.TerminateAndFail, "CANCELED", nil)
	require.ErrorIs(t, err, retry.ErrFailed)
	require.Equal(t, "CANCELED", got)
	failure, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, "CANCELED", failure.LastResult)
	require.NoError(t, failure.LastErr)
	require.Equal(t, 1, failure.Attempts)

	_, err = do(retry.RetryError(retry.Timeout), "RUNNING", nil)
	require.ErrorIs(t, err, retry.ErrTooManyAttempts)
	require.EqualError(t, err, "gave up after 3 attempts in 0s, as many as were allowed")

	_, err = do(retry.Directive{}, "", errDown)
	require.ErrorIs(t, err, retry.ErrFailed)
	require.EqualError(t, err, "failed after 1 attempt in 0s: service is down")
}

func TestNoLimitOfAttempts(t *testing.T) {
	t.Parallel()
	s := strategy(t, retry.MaxAttempts(0), retry.WithTokenBucket(retry.NoOpTokenBucket{}), retry.WithBackoff(fixed(time.Nanosecond)))
	got, err := retry.Do(t.Context(), s, errorsRetry, failing(1000))
	require.NoError(t, err)
	require.Equal(t, "up", got)
}

func TestDirectiveDelayReplacesTheBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := strategy(t, retry.WithBackoff(fixed(time.Hour)))
		start := time.Now()
		delays := []time.Duration{7 * time.Second, -time.Second}
		_, err := retry.Do(t.Context(), s, func(_ string, err error) retry.Directive {
			if err == nil {
				return retry.TerminateAndSucceed
			}
			d := retry.RetryError(retry.Throttling).After(delays[0])
			delays = delays[1:]
			return d
		}, failing(2))
		require.NoError(t, err)
		require.Equal(t, 7*time.Second, time.Since(start))
	})
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	limit := 10 * time.Second
	tests := []struct {
		name     string
		backoff  time.Duration
		try      func(context.Context) (string, error)
		attempts int
		lastErr  error
	}{
		{"in the backoff", time.Minute, failing(9), 1, errDown},
		{"in the token bucket", time.Nanosecond, failing(9), 2, errDown},
		{"in the first try", time.Second, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}, 1, retry.ErrTimeLimit},
		{"in a later try", time.Second, hangs(1), 2, errDown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// One retry is free, the next one has to wait for a minute.
				bucket, err := retry.NewStandardTokenBucket(retry.Capacity(1), retry.RefillEvery(time.Minute))
				require.NoError(t, err)
				s := strategy(t, retry.TotalTime(limit), retry.WithTokenBucket(bucket), retry.WithBackoff(fixed(tt.backoff)), retry.MaxAttempts(0))
				start := time.Now()
				_, err = retry.Do(t.Context(), s, errorsRetry, tt.try)
				require.Equal(t, limit, time.Since(start))
				require.ErrorIs(t, err, retry.ErrTimeLimit)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorContains(t, err, "reached the time limit after ")
				require.NotErrorIs(t, err, retry.ErrCanceled)
				failure, ok := errors.AsType[*retry.Error](err)
				require.True(t, ok)
				require.Equal(t, tt.attempts, failure.Attempts)
				require.ErrorIs(t, failure.LastErr, tt.lastErr)
			})
		})
	}
}

// hangs returns a block that fails so many times and then waits for the end of
// its context.
func hangs(times int) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if times--; times >= 0 {
			return "", errDown
		}
		<-ctx.Done()
		return "", ctx.Err()
	}
}

func TestResultAfterTheTimeLimitCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := strategy(t, retry.TotalTime(time.Second))
		got, err := retry.Do(t.Context(), s, errorsRetry, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "late", nil
		})
		require.NoError(t, err)
		require.Equal(t, "late", got)
	})
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	reason := errors.New("user left")
	tests := []struct {
		name    string
		backoff time.Duration
		try     func(context.Context) (string, error)
	}{
		{"in the backoff", time.Hour, failing(9)},
		{"in the token bucket", time.Nanosecond, failing(9)},
		{"in a try", time.Second, hangs(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bucket, err := retry.NewStandardTokenBucket(retry.Capacity(1), retry.RefillEvery(time.Hour))
				require.NoError(t, err)
				s := strategy(t, retry.TotalTime(24*time.Hour), retry.WithTokenBucket(bucket), retry.WithBackoff(fixed(tt.backoff)))
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(5*time.Second, func() { cancel(reason) })
				start := time.Now()
				_, err = retry.Do(ctx, s, errorsRetry, tt.try)
				require.Equal(t, 5*time.Second, time.Since(start))
				require.ErrorIs(t, err, retry.ErrCanceled)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, reason)
				require.ErrorContains(t, err, ": user left: service is down")
				require.ErrorIs(t, err, errDown)
				require.NotErrorIs(t, err, retry.ErrTimeLimit)
			})
		})
	}
}

func TestCallersDeadlineIsACancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := retry.Do(ctx, strategy(t), errorsRetry, hangs(0))
		require.ErrorIs(t, err, retry.ErrCanceled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, retry.ErrTimeLimit)
		require.EqualError(t, err, "canceled after 1 attempt in 1s: context deadline exceeded")
	})
}

func TestNoTryInAnEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := retry.Do(ctx, strategy(t), errorsRetry, failing(0))
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.EqualError(t, err, "canceled after 0 attempts in 0s: context canceled")
}

func TestNewStandardStrategyReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := retry.NewStandardStrategy(
		retry.MaxAttempts(-1), retry.TotalTime(-time.Second), retry.WithTokenBucket(nil),
		retry.WithBackoff(retry.ExponentialBackoff{Factor: 0.5}))
	for _, want := range []string{
		"maximum number of attempts must not be negative, got -1",
		"total time must not be negative, got -1s",
		"token bucket must not be nil",
		"factor must be at least 1, got 0.5",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = retry.NewStandardStrategy(retry.WithBackoff(nil))
	require.ErrorContains(t, err, "backoff must not be nil")
}

func TestDirectiveTexts(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]retry.Directive{
		"terminate and succeed":       retry.TerminateAndSucceed.After(time.Second),
		"terminate and fail":          retry.TerminateAndFail,
		"retry (server-side)":         retry.RetryError(retry.ServerSide),
		"retry (client-side)":         retry.RetryError(retry.ClientSide),
		"retry (timeout)":             retry.RetryError(retry.Timeout),
		"retry (throttling) after 3s": retry.RetryError(retry.Throttling).After(3 * time.Second),
		"retry (error type 9)":        retry.RetryError(9),
	} {
		require.Equal(t, want, d.String())
	}
	require.Equal(t, retry.TerminateAndSucceed, retry.TerminateAndSucceed.After(time.Second))
}
