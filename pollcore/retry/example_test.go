package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

func ExampleDo() {
	strategy, err := retry.NewStandardStrategy(
		retry.MaxAttempts(5),
		retry.TotalTime(time.Minute),
		retry.WithBackoff(retry.ExponentialBackoff{Base: time.Millisecond, Max: 10 * time.Millisecond}))
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := 0
	load := func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", errors.New("connection lost")
		}
		return "42 rows", nil
	}
	policy := func(_ string, err error) retry.Directive {
		if err != nil {
			return retry.RetryError(retry.ClientSide)
		}
		return retry.TerminateAndSucceed
	}
	rows, err := retry.Do(context.Background(), strategy, policy, load)
	fmt.Println(rows, err, calls)
	// Output: 42 rows <nil> 3
}

// The error says how the retries ended and carries the last result.
func ExampleError() {
	strategy, err := retry.NewStandardStrategy(retry.MaxAttempts(2), retry.WithBackoff(retry.ExponentialBackoff{Base: 1, Max: 1}))
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := func(string, error) retry.Directive { return retry.RetryError(retry.ServerSide) }
	status, err := retry.Do(context.Background(), strategy, policy, func(context.Context) (string, error) { return "503", nil })
	if failure, ok := errors.AsType[*retry.Error](err); ok {
		fmt.Println(status, failure.Attempts, failure.LastResult, errors.Is(err, retry.ErrTooManyAttempts))
	}
	// Output: 503 2 503 true
}

// A service that says when to come back is obeyed.
func ExampleDirective_After() {
	d := retry.RetryError(retry.Throttling).After(3 * time.Second)
	fmt.Println(d)
	// Output: retry (throttling) after 3s
}

// One bucket for all callers of a service keeps them together from retrying
// too much. The holder of a token resolves it once.
func ExampleStandardTokenBucket() {
	bucket, err := retry.NewStandardTokenBucket(retry.Capacity(100), retry.Cost(retry.Throttling, 20), retry.RefillEvery(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	token, _ := bucket.AcquireToken(ctx)
	next, _ := token.ScheduleRetry(ctx, retry.Throttling) // the first try was throttled
	fmt.Println(bucket.Level())
	_ = next.NotifySuccess() // the second was not
	fmt.Println(bucket.Level())
	fmt.Println(next.NotifyFailure())
	// Output:
	// 80
	// 100
	// retry token is resolved already
}

func ExampleExponentialBackoff() {
	backoff := retry.ExponentialBackoff{Base: time.Second, Max: 5 * time.Second, Jitter: retry.NoJitter}
	for attempt := 1; attempt <= 4; attempt++ {
		fmt.Println(backoff.Delay(attempt))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 5s
}

// A loop that chooses its own delays runs on a strategy.
func ExamplePolling() {
	strategy, err := retry.NewStandardStrategy(retry.MaxAttempts(0), retry.WithTokenBucket(retry.NoOpTokenBucket{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	progress := 0
	err = retry.Polling(strategy).Poll(context.Background(), func(context.Context) (time.Duration, bool, error) {
		progress += 50
		return time.Millisecond, progress < 100, nil
	})
	fmt.Println(progress, err)
	// Output: 100 <nil>
}

// A waiter's acceptors are a policy: its failure ends the retries, and "not
// yet" is a retry.
func ExamplePolicy() {
	waiter := pollcore.MustNew("JobDone",
		pollcore.Succeed(pollcore.Output("status").Is("DONE")),
		pollcore.Fail(pollcore.Output("status").Is("BROKEN")))
	check, err := pollcore.Compile[string, any](waiter)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := func(output any, err error) retry.Directive {
		switch check.Check("job-1", output, err).Verdict {
		case pollcore.Success:
			return retry.TerminateAndSucceed
		case pollcore.Failure:
			return retry.TerminateAndFail
		default:
			return retry.RetryError(retry.ServerSide).After(time.Millisecond)
		}
	}
	strategy, err := retry.NewStandardStrategy(retry.MaxAttempts(0), retry.WithTokenBucket(retry.NoOpTokenBucket{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	states := []string{"QUEUED", "RUNNING", "DONE"}
	output, err := retry.Do(context.Background(), strategy, policy, func(context.Context) (any, error) {
		state := states[0]
		states = states[1:]
		return map[string]any{"status": state}, nil
	})
	fmt.Println(output, err)
	// Output: map[status:DONE] <nil>
}
