package pollcore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var stateDone = pollcore.MustNew("JobDone",
	pollcore.Succeed(pollcore.Output("State").Is("DONE")),
	pollcore.FailWithMessage(pollcore.Output("State").Is("FAILED"), "Why"),
	pollcore.Succeed(pollcore.ErrorType("Gone")),
	pollcore.Delay(10*time.Second, 40*time.Second))

// after is an operation whose answer changes with time, and that takes latency.
type after struct {
	latency time.Duration
	answers []answer
	calls   []time.Duration // when each call began
	start   time.Time
}

type answer struct {
	from  time.Duration
	state string
	err   error
}

func (a *after) describe(ctx context.Context, _ string) (map[string]any, error) {
	if a.start.IsZero() {
		a.start = time.Now()
	}
	began := time.Since(a.start)
	a.calls = append(a.calls, began)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(a.latency):
	}
	var now answer
	for _, answer := range a.answers {
		if began >= answer.from {
			now = answer
		}
	}
	if now.err != nil {
		return nil, now.err
	}
	return map[string]any{"State": now.state, "Why": "disk full"}, nil
}

func upper(_, hi time.Duration) time.Duration { return hi }

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	gone := &smithy.GenericAPIError{Code: "Gone", Message: "deleted"}
	denied := &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"}
	throttled := &smithy.GenericAPIError{Code: "Throttling", Message: "slow down"}
	hook := errors.New("cannot stop")
	tests := []struct {
		name    string
		op      after
		total   time.Duration
		options []pollcore.WaitOption
		outcome pollcore.Outcome[map[string]any]
		is      error // nil for success
		text    string
	}{
		{
			name: "success", op: after{answers: []answer{{0, "RUNNING", nil}, {15 * time.Second, "DONE", nil}}}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Seen: "DONE", Attempts: 3, Elapsed: 22650 * time.Millisecond},
		},
		{
			name: "success by an error", op: after{answers: []answer{{0, "", gone}}}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Acceptor: 2, Seen: "Gone", OpErr: gone, Attempts: 1},
		},
		{
			name: "failure", op: after{answers: []answer{{0, "RUNNING", nil}, {time.Second, "FAILED", nil}}}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Failed, Verdict: pollcore.Failure, Acceptor: 1, Seen: "FAILED", Message: "disk full", Attempts: 2, Elapsed: 10 * time.Second},
			is:      pollcore.ErrFailed, text: `JobDone: failed after 2 attempts in 10s: State == "FAILED" (acceptor 2 of 3): disk full`,
		},
		{
			name: "unmatched error", op: after{answers: []answer{{0, "", denied}}}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Failed, Verdict: pollcore.Failure, Acceptor: -1, OpErr: denied, Attempts: 1},
			is:      pollcore.ErrFailed, text: "JobDone: failed after 1 attempt in 0s: unexpected error: api error AccessDenied: no",
		},
		{
			name: "timeout", op: after{answers: []answer{{0, "RUNNING", nil}}}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.TimedOut, Verdict: pollcore.Retry, Acceptor: -1, Attempts: 5, Elapsed: time.Minute},
			is:      pollcore.ErrTimedOut, text: `JobDone: timed out after 5 attempts in 1m0s (max wait 1m0s): no acceptor matched: State = "RUNNING"`,
		},
		{
			name: "timeout with a hook that fails", op: after{answers: []answer{{0, "RUNNING", nil}}}, total: time.Second,
			options: []pollcore.WaitOption{pollcore.OnTimeout(func(context.Context) error { return hook })},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.TimedOut, Verdict: pollcore.Retry, Acceptor: -1, Attempts: 2, Elapsed: time.Second},
			is:      hook, text: `State = "RUNNING"; on timeout: cannot stop`,
		},
		{
			name: "finished beats late", op: after{latency: 5 * time.Second, answers: []answer{{0, "RUNNING", nil}, {30 * time.Second, "DONE", nil}}}, total: 31 * time.Second,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Seen: "DONE", Attempts: 3, Elapsed: 36 * time.Second},
		},
		{
			name: "late is late in exact mode", op: after{latency: 5 * time.Second, answers: []answer{{0, "DONE", nil}}}, total: 4 * time.Second,
			options: []pollcore.WaitOption{pollcore.Exact(), pollcore.Every(time.Second)},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.TimedOut, Verdict: pollcore.Failure, Acceptor: -1, Attempts: 1, Elapsed: 4 * time.Second},
			is:      pollcore.ErrTimedOut, text: "call took longer than 4s",
		},
		{
			name: "exact mode ends a minimum early", op: after{answers: []answer{{0, "RUNNING", nil}}}, total: time.Minute,
			options: []pollcore.WaitOption{pollcore.Exact()},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.TimedOut, Verdict: pollcore.Retry, Acceptor: -1, Attempts: 4, Elapsed: 50 * time.Second},
			is:      pollcore.ErrTimedOut, text: "in 50s (max wait 1m0s)",
		},
		{
			name: "too many attempts", op: after{answers: []answer{{0, "RUNNING", nil}}}, total: time.Hour,
			options: []pollcore.WaitOption{pollcore.MaxAttempts(2)},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.TimedOut, Verdict: pollcore.Retry, Acceptor: -1, Attempts: 2, Elapsed: 10 * time.Second},
			is:      pollcore.ErrTooManyAttempts, text: "JobDone: gave up after 2 attempts, as many as were allowed, in 10s",
		},
		{
			name: "call timeout", op: after{latency: time.Hour}, total: time.Minute,
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Failed, Verdict: pollcore.Failure, Acceptor: -1, Attempts: 1, Elapsed: 30 * time.Second},
			is:      context.DeadlineExceeded, text: "JobDone: failed after 1 attempt in 30s: unexpected error: call took longer than 30s: context deadline exceeded",
		},
		{
			name: "initial delay and fixed interval", op: after{answers: []answer{{0, "RUNNING", nil}, {9 * time.Second, "DONE", nil}}}, total: time.Minute,
			options: []pollcore.WaitOption{pollcore.InitialDelay(20 * time.Second), pollcore.Every(3 * time.Second)},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Seen: "DONE", Attempts: 4, Elapsed: 29 * time.Second},
		},
		{
			name: "transient error", op: after{answers: []answer{{0, "", throttled}, {10 * time.Second, "DONE", nil}}}, total: time.Minute,
			options: []pollcore.WaitOption{pollcore.Transient(func(err error) bool { return errors.Is(err, throttled) })},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Seen: "DONE", Attempts: 2, Elapsed: 10 * time.Second},
		},
		{
			name: "not found for longer than its grace", op: after{answers: []answer{{0, "", denied}}}, total: time.Hour,
			options: []pollcore.WaitOption{pollcore.NotFoundGrace(15*time.Second, "NotFound", "com.example#AccessDenied")},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Failed, Verdict: pollcore.Failure, Acceptor: -1, OpErr: denied, Attempts: 3, Elapsed: 22650 * time.Millisecond},
			is:      pollcore.ErrFailed, text: "failed after 3 attempts in 22.7s",
		},
		{
			name: "two successes in a row", total: time.Hour,
			op:      after{answers: []answer{{0, "DONE", nil}, {5 * time.Second, "RUNNING", nil}, {25 * time.Second, "DONE", nil}}},
			options: []pollcore.WaitOption{pollcore.Successes(2), pollcore.Every(10 * time.Second)},
			outcome: pollcore.Outcome[map[string]any]{Status: pollcore.Succeeded, Verdict: pollcore.Success, Seen: "DONE", Attempts: 5, Elapsed: 40 * time.Second},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				options := append([]pollcore.WaitOption{pollcore.Jitter(upper)}, tt.options...)
				got, err := pollcore.Wait(t.Context(), stateDone, "in", tt.total, tt.op.describe, options...)
				if tt.is == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, tt.is)
					require.ErrorContains(t, err, tt.text)
				}
				want := tt.outcome
				want.Output, want.Reason = got.Output, got.Reason
				if want.OpErr == nil {
					want.OpErr = got.OpErr
				}
				require.Equal(t, want, got)
				require.NotEmpty(t, got.Reason)
				require.Equal(t, got.Output != nil, got.OpErr == nil)
			})
		})
	}
}

func TestWaitErrorIsFilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := after{answers: []answer{{0, "RUNNING", nil}, {time.Second, "FAILED", nil}}}
		_, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, op.describe, pollcore.Jitter(upper))
		e, ok := errors.AsType[*pollcore.Error](err)
		require.True(t, ok)
		require.Equal(t, "JobDone", e.Waiter)
		require.Equal(t, pollcore.Failure, e.Verdict)
		require.Equal(t, 1, e.Acceptor)
		require.Equal(t, 2, e.Attempts)
		require.Equal(t, 10*time.Second, e.Elapsed)
		require.Equal(t, time.Minute, e.Total)
		require.Equal(t, "FAILED", e.Seen)
		require.Equal(t, "disk full", e.Message)
		require.Equal(t, map[string]any{"State": "FAILED", "Why": "disk full"}, e.LastOutput)
		require.NoError(t, e.LastErr)
		for _, other := range []error{pollcore.ErrTimedOut, pollcore.ErrTooManyAttempts, pollcore.ErrCanceled, context.DeadlineExceeded} {
			require.NotErrorIs(t, err, other)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		op := after{answers: []answer{{0, "", &types.ExportNotFoundException{}}}}
		_, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, op.describe)
		require.ErrorAs(t, err, new(*types.ExportNotFoundException), "the service's own error is kept")
	})
	synctest.Test(t, func(t *testing.T) {
		op := after{answers: []answer{{0, "RUNNING", nil}}}
		_, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, op.describe)
		require.ErrorIs(t, err, context.DeadlineExceeded, "a timeout is one for callers that know no waiters")
	})
}

func TestWaitIsCanceledAtOnce(t *testing.T) {
	t.Parallel()
	cause := errors.New("shutting down")
	tests := []struct {
		name     string
		op       after
		cancel   time.Duration
		attempts int
		text     string
	}{
		{"in a sleep", after{answers: []answer{{0, "RUNNING", nil}}}, 15 * time.Second, 2, `JobDone: canceled after 2 attempts in 15s (max wait 1h0m0s): no acceptor matched: State = "RUNNING": shutting down`},
		{"in a call", after{latency: 20 * time.Second}, 5 * time.Second, 1, "JobDone: canceled after 1 attempt in 5s (max wait 1h0m0s): shutting down"},
		{"before the first call", after{}, 0, 0, "JobDone: canceled after 0 attempts in 0s (max wait 1h0m0s): shutting down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				if tt.cancel == 0 {
					cancel(cause)
				}
				time.AfterFunc(tt.cancel, func() { cancel(cause) })
				got, err := pollcore.Wait(ctx, stateDone, "in", time.Hour, tt.op.describe, pollcore.Jitter(upper))
				require.ErrorIs(t, err, pollcore.ErrCanceled)
				require.ErrorIs(t, err, cause)
				require.ErrorIs(t, err, context.Canceled, "the context's own error too")
				require.NotErrorIs(t, err, pollcore.ErrFailed)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
				require.EqualError(t, err, tt.text)
				require.Equal(t, tt.attempts, got.Attempts)
				require.Equal(t, tt.cancel, got.Elapsed)
				require.Equal(t, pollcore.Running, got.Status, "the job may go on")
			})
		})
	}
}

// A call that the end of the context cut short leaves what was known before.
func TestCanceledOutcomeIsOfTheLastJudgedCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		calls := 0
		got, err := pollcore.Wait(ctx, stateDone, "in", time.Hour, func(ctx context.Context, _ string) (map[string]any, error) {
			if calls++; calls == 1 {
				return map[string]any{"State": "RUNNING"}, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, pollcore.Jitter(upper))
		require.ErrorIs(t, err, pollcore.ErrCanceled)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the context's own error")
		require.NotErrorIs(t, err, pollcore.ErrTimedOut)
		require.Equal(t, map[string]any{"State": "RUNNING"}, got.Output)
		require.NoError(t, got.OpErr)
		require.Equal(t, 2, got.Attempts)
		require.Equal(t, `no acceptor matched: State = "RUNNING"`, got.Reason)
	})
}

// A last call that hangs does not tell that the job has failed.
func TestHangingLastCallIsATimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start, stopped := time.Now(), false
		got, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, func(ctx context.Context, _ string) (map[string]any, error) {
			if time.Since(start) < time.Minute {
				return map[string]any{"State": "RUNNING"}, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}, pollcore.Jitter(upper), pollcore.OnTimeout(func(context.Context) error { stopped = true; return nil }))
		require.ErrorIs(t, err, pollcore.ErrTimedOut)
		require.NotErrorIs(t, err, pollcore.ErrFailed)
		require.True(t, stopped)
		require.Equal(t, pollcore.TimedOut, got.Status)
		require.Equal(t, 90*time.Second, got.Elapsed)
	})
}

// Whatever is drawn, no two calls stand closer than the minimum delay.
func TestJitterStaysInside(t *testing.T) {
	t.Parallel()
	for _, draw := range []time.Duration{-time.Hour, 0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			op := after{answers: []answer{{0, "RUNNING", nil}}}
			_, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, op.describe,
				pollcore.Jitter(func(_, _ time.Duration) time.Duration { return draw }))
			require.ErrorIs(t, err, pollcore.ErrTimedOut)
			require.LessOrEqual(t, len(op.calls), 7)
			require.GreaterOrEqual(t, len(op.calls), 3)
		})
	}
}

func TestReasonsAreShort(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("Done", pollcore.Succeed(pollcore.Output("Items").Any("x")), pollcore.Fail(pollcore.Output("Text").Is("x")))
	output := map[string]any{"Items": slices.Repeat([]any{"item"}, 20_000), "Text": strings.Repeat("é", 10_000)}
	_, err := pollcore.Wait(t.Context(), w, "in", time.Second, func(context.Context, string) (any, error) { return output, nil }, pollcore.MaxAttempts(1))
	require.ErrorIs(t, err, pollcore.ErrTooManyAttempts)
	require.Less(t, utf8.RuneCountInString(err.Error()), 600)
	require.Contains(t, err.Error(), `Text = "`+strings.Repeat("é", 200)+`..."`)
}

// A verdict that was obtained counts, even if the caller gave up meanwhile.
func TestWaitKeepsAVerdictAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	got, err := pollcore.Wait(ctx, stateDone, "in", time.Hour, func(context.Context, string) (map[string]any, error) {
		cancel()
		return map[string]any{"State": "DONE"}, nil
	})
	require.NoError(t, err)
	require.Equal(t, pollcore.Succeeded, got.Status)
}

func TestOnAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		op := after{answers: []answer{{0, "RUNNING", nil}, {time.Second, "DONE", nil}}}
		var seen []pollcore.Attempt
		_, err := pollcore.Wait(t.Context(), stateDone, "in", time.Minute, op.describe,
			pollcore.Jitter(upper), pollcore.OnAttempt(func(a pollcore.Attempt) { seen = append(seen, a) }))
		require.NoError(t, err)
		require.Equal(t, []pollcore.Attempt{
			{
				Number: 1, Total: time.Minute, Verdict: pollcore.Retry, Acceptor: -1, Reason: `no acceptor matched: State = "RUNNING"`,
				Output: map[string]any{"State": "RUNNING", "Why": "disk full"}, Status: pollcore.Running, Delay: 10 * time.Second,
			},
			{
				Number: 2, Elapsed: 10 * time.Second, Total: time.Minute, Verdict: pollcore.Success, Seen: "DONE", Reason: `State == "DONE" (acceptor 1 of 3)`,
				Output: map[string]any{"State": "DONE", "Why": "disk full"}, Status: pollcore.Succeeded,
			},
		}, seen)
	})
}

func TestOnTimeoutOutlivesTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		op := after{answers: []answer{{0, "RUNNING", nil}}}
		var stopped bool
		_, err := pollcore.Wait(ctx, stateDone, "in", time.Minute, op.describe, pollcore.OnTimeout(func(ctx context.Context) error {
			cancel()
			stopped = ctx.Err() == nil
			_, limited := ctx.Deadline()
			require.True(t, limited)
			return nil
		}))
		require.ErrorIs(t, err, pollcore.ErrTimedOut)
		require.True(t, stopped)
	})
}

func TestWaitRefuses(t *testing.T) {
	t.Parallel()
	never := func(context.Context, string) (map[string]any, error) { panic("called") }
	_, err := pollcore.Wait(t.Context(), stateDone, "in", 0, never,
		pollcore.Between(0, -1), pollcore.InitialDelay(-1), pollcore.MaxAttempts(-1), pollcore.CallTimeout(0), pollcore.Successes(0), pollcore.NotFoundGrace(-1, ""))
	require.ErrorAs(t, err, new(diag.Problems))
	for _, want := range []string{"9 problems", "NotFoundGrace needs error codes or shape names", "total wait must be above 0", "CallTimeout must be above 0", "Successes must be at least 1", "NotFoundGrace must not be negative"} {
		require.ErrorContains(t, err, want)
	}
	_, err = pollcore.Wait(t.Context(), stateDone, "in", time.Minute, never, pollcore.Exact(), pollcore.InitialDelay(time.Minute), pollcore.NotFoundGrace(1))
	require.ErrorContains(t, err, "initial delay (1m0s) leaves no time for a call in the total wait of 1m0s")
	require.ErrorContains(t, err, "NotFoundGrace needs the names of the errors")
	_, err = pollcore.Wait(t.Context(), stateDone, "in", time.Minute, never, nil)
	require.ErrorContains(t, err, "option 1 is nil")
	_, err = pollcore.Wait[string, any](t.Context(), stateDone, "in", time.Minute, nil)
	require.ErrorContains(t, err, "op is nil")
	_, err = pollcore.Wait(t.Context(), nil, "in", time.Minute, never)
	require.ErrorContains(t, err, "no waiter to compile")
	_, err = pollcore.Wait(t.Context(), &pollcore.Waiter{}, "in", time.Second, never)
	require.ErrorAs(t, err, new(diag.Problems))
}

func TestExactKeepsTheWaitersOwnDelays(t *testing.T) {
	t.Parallel()
	slow := *stateDone
	slow.MinDelay, slow.MaxDelay = 100, 1000
	for _, tt := range []struct {
		options []pollcore.WaitOption
		want    time.Duration
	}{
		{nil, 100 * time.Second}, // above the cap of a minute, but its shortest
		{[]pollcore.WaitOption{pollcore.Exact()}, 1000 * time.Second},
		{[]pollcore.WaitOption{pollcore.Between(time.Second, 500*time.Second)}, 500 * time.Second},
		{[]pollcore.WaitOption{pollcore.Between(time.Second, 500*time.Second), pollcore.Exact()}, 500 * time.Second},
	} {
		t.Run(fmt.Sprint(tt.want), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				op := after{answers: []answer{{0, "RUNNING", nil}}}
				var longest time.Duration
				observe := pollcore.OnAttempt(func(a pollcore.Attempt) { longest = max(longest, a.Delay) })
				options := slices.Concat(tt.options, []pollcore.WaitOption{pollcore.Jitter(upper), observe})
				_, err := pollcore.Wait(t.Context(), &slow, "in", 30*time.Hour, op.describe, options...)
				require.ErrorIs(t, err, pollcore.ErrTimedOut)
				require.GreaterOrEqual(t, longest, tt.want)
				require.Less(t, longest, tt.want+100*time.Second)
			})
		})
	}
}
