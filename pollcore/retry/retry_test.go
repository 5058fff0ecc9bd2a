package retry_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

var errDown = errors.New("service is down")

// errorsRetry succeeds with a value and retries every error.
func errorsRetry(_ string, err error) retry.Directive {
	if err == nil {
		return retry.Succeed()
	}
	return retry.Again(awserror.Fault)
}

// fixed is a backoff of one length.
func fixed(d time.Duration) retry.Backoff { return retry.Backoff{Base: d, Max: d, Jitter: noJitter} }

func noJitter(ceiling time.Duration) time.Duration { return ceiling }

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
				s := retry.Strategy{Backoff: fixed(time.Second)}
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
	s := retry.Strategy{Backoff: fixed(time.Nanosecond)}
	do := func(d retry.Directive, result string, err error) (string, error) {
		return retry.Do(t.Context(), s,
			func(string, error) retry.Directive { return d },
			func(context.Context) (string, error) { return result, err })
	}
	_, err := do(retry.Succeed(), "", errDown)
	require.NoError(t, err)

	got, err := do(retry.Fail(), "CANCELED", nil)
	require.ErrorIs(t, err, retry.ErrFailed)
	require.Equal(t, "CANCELED", got)
	failure, ok := errors.AsType[*retry.Error](err)
	require.True(t, ok)
	require.Equal(t, "CANCELED", failure.LastResult)
	require.NoError(t, failure.LastErr)
	require.Equal(t, 1, failure.Attempts)

	_, err = do(retry.Again(awserror.Unclear), "RUNNING", nil)
	require.ErrorIs(t, err, retry.ErrTooManyAttempts)
	require.EqualError(t, err, "gave up after 3 attempts in 0s, as many as were allowed")

	_, err = do(retry.Directive{}, "", errDown)
	require.ErrorIs(t, err, retry.ErrFailed)
	require.EqualError(t, err, "failed after 1 attempt in 0s: service is down")
}

func TestNoLimitOfAttempts(t *testing.T) {
	t.Parallel()
	s := retry.Strategy{MaxAttempts: retry.Unlimited, Backoff: fixed(time.Nanosecond)}
	got, err := retry.Do(t.Context(), s, errorsRetry, failing(1000))
	require.NoError(t, err)
	require.Equal(t, "up", got)
}

func TestDirectiveDelayReplacesTheBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := retry.Strategy{Backoff: fixed(time.Hour)}
		start := time.Now()
		delays := []time.Duration{7 * time.Second, -time.Second}
		_, err := retry.Do(t.Context(), s, func(_ string, err error) retry.Directive {
			if err == nil {
				return retry.Succeed()
			}
			d := retry.Again(awserror.Throttled).After(delays[0])
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
				bucket, err := retry.NewBucket(retry.BucketOptions{Capacity: 1, RefillEvery: time.Minute})
				require.NoError(t, err)
				s := retry.Strategy{MaxTime: limit, Bucket: bucket, Backoff: fixed(tt.backoff), MaxAttempts: retry.Unlimited}
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
		s := retry.Strategy{MaxTime: time.Second}
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
				bucket, err := retry.NewBucket(retry.BucketOptions{Capacity: 1, RefillEvery: time.Hour})
				require.NoError(t, err)
				s := retry.Strategy{MaxTime: 24 * time.Hour, Bucket: bucket, Backoff: fixed(tt.backoff)}
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
		_, err := retry.Do(ctx, retry.Strategy{}, errorsRetry, hangs(0))
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
	_, err := retry.Do(ctx, retry.Strategy{}, errorsRetry, failing(0))
	require.ErrorIs(t, err, retry.ErrCanceled)
	require.EqualError(t, err, "canceled after 0 attempts in 0s: context canceled")
}

func TestStrategyReportsAllFieldsOutOfRange(t *testing.T) {
	t.Parallel()
	s := retry.Strategy{MaxAttempts: -2, MaxTime: -time.Second, Backoff: retry.Backoff{Base: -1, Factor: math.NaN(), Max: -1}}
	_, err := retry.Do(t.Context(), s, errorsRetry, func(context.Context) (string, error) { panic("called") })
	require.Equal(t, s.Validate(), err)
	require.EqualError(t, err, strings.Join([]string{
		"MaxAttempts must be at least 0, or Unlimited, got -2",
		"MaxTime must be at least 0, got -1s",
		"Backoff.Base must be at least 0, got -1ns",
		"Backoff.Factor must be at least 1, got NaN",
		"Backoff.Max must be at least 0, got -1ns",
	}, "\n"))
	require.NoError(t, retry.Strategy{}.Validate())
}

func TestDirectiveTexts(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]retry.Directive{
		"succeed":                    retry.Succeed().After(time.Second),
		"fail":                       {},
		"again (unclear)":            retry.Again(awserror.Unclear),
		"again (throttled) after 3s": retry.Again(awserror.Throttled).After(3 * time.Second),
	} {
		require.Equal(t, want, d.String())
	}
	require.Equal(t, retry.Directive{}, retry.Fail())
}

func TestByClassTriesAgainWhatPasses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want retry.Directive
	}{
		{nil, retry.Succeed()},
		{&smithy.GenericAPIError{Code: "ThrottlingException"}, retry.Again(awserror.Throttled)},
		{&smithy.GenericAPIError{Code: "InternalServerException"}, retry.Again(awserror.Fault)},
		{context.DeadlineExceeded, retry.Again(awserror.Unclear)},
		{&net.DNSError{IsNotFound: true}, retry.Again(awserror.NotSent)},
		{context.Canceled, retry.Fail()},
		{&smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient}, retry.Fail()},
		{errDown, retry.Fail()},
	} {
		require.Equal(t, tt.want, retry.ByClass("", tt.err), "%v", tt.err)
	}
}

// A client of the SDK that makes each call once.
func TestDoWithAClientOfTheSDK(t *testing.T) {
	t.Parallel()
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if calls++; calls < 3 {
			w.WriteHeader(map[int]int{1: http.StatusBadRequest, 2: http.StatusInternalServerError}[calls])
			_, _ = io.WriteString(w, `{"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "slower"}`)
			return
		}
		_, _ = io.WriteString(w, `{"ExportDescription": {"ExportStatus": "COMPLETED"}}`)
	}))
	t.Cleanup(server.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), Retryer: aws.NopRetryer{}, Credentials: aws.AnonymousCredentials{},
	})
	s := retry.Strategy{Backoff: fixed(time.Nanosecond)}
	out, err := retry.Do(t.Context(), s, retry.ByClass, func(ctx context.Context) (*dynamodb.DescribeExportOutput, error) {
		return client.DescribeExport(ctx, &dynamodb.DescribeExportInput{ExportArn: aws.String("arn:aws:dynamodb:eu-west-1:111122223333:table/T/export/1")})
	})
	require.NoError(t, err)
	require.Equal(t, types.ExportStatusCompleted, out.ExportDescription.ExportStatus)
	require.Equal(t, 3, calls)
}

func TestPollMakesAnAttemptAfterEachDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start, polls := time.Now(), 0
		err := retry.Strategy{MaxAttempts: retry.Unlimited}.Poll(t.Context(), func(context.Context) (time.Duration, bool, error) {
			polls++
			return time.Minute, polls < 10, nil
		})
		require.NoError(t, err)
		require.Equal(t, 10, polls)
		require.Equal(t, 9*time.Minute, time.Since(start))
		err = retry.Strategy{}.Poll(t.Context(), func(context.Context) (time.Duration, bool, error) { return 0, false, errDown })
		require.ErrorIs(t, err, retry.ErrFailed)
		require.ErrorIs(t, err, errDown)
	})
}
