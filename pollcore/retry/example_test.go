package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

func ExampleDo() {
	strategy := retry.Strategy{MaxAttempts: 5, MaxTime: time.Minute, Backoff: retry.Backoff{Base: time.Millisecond}}
	calls := 0
	load := func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", &smithy.GenericAPIError{Code: "ThrottlingException"}
		}
		return "42 rows", nil
	}
	rows, err := retry.Do(context.Background(), strategy, retry.ByClass, load)
	fmt.Println(rows, err, calls)
	// Output: 42 rows <nil> 3
}

// The error says how the attempts ended and carries the last result.
func ExampleError() {
	strategy := retry.Strategy{MaxAttempts: 2, Backoff: retry.Backoff{Base: time.Millisecond}}
	policy := func(string, error) retry.Directive { return retry.Again(awserror.Fault) }
	status, err := retry.Do(context.Background(), strategy, policy, func(context.Context) (string, error) { return "503", nil })
	if failure, ok := errors.AsType[*retry.Error](err); ok {
		fmt.Println(status, failure.Attempts, failure.LastResult, errors.Is(err, retry.ErrTooManyAttempts))
	}
	// Output: 503 2 503 true
}

// A service that says when to come back is obeyed.
func ExampleDirective_After() {
	fmt.Println(retry.Again(awserror.Throttled).After(3 * time.Second))
	// Output: again (throttled) after 3s
}

// One bucket for all callers of a service keeps them together from trying again too
// much.
func ExampleBucket() {
	bucket, err := retry.NewBucket(retry.BucketOptions{Capacity: 100, RefillEvery: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	strategy := retry.Strategy{MaxAttempts: 4, Backoff: retry.Backoff{Base: time.Millisecond}, Bucket: bucket}
	_, err = retry.Do(context.Background(), strategy, retry.ByClass, func(context.Context) (string, error) {
		return "", &smithy.GenericAPIError{Code: "SlowDown"}
	})
	fmt.Println(errors.Is(err, retry.ErrTooManyAttempts), bucket.Level())
	// Output: true 70
}

func ExampleBackoff() {
	backoff := retry.Backoff{Base: time.Second, Max: 5 * time.Second, Jitter: func(ceiling time.Duration) time.Duration { return ceiling }}
	for attempt := 1; attempt <= 4; attempt++ {
		fmt.Println(backoff.Delay(attempt))
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 5s
}

// A waiter's acceptors are a policy: its failure ends the attempts, and "not yet"
// asks for another.
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
			return retry.Succeed()
		case pollcore.Failure:
			return retry.Fail()
		default:
			return retry.Again(awserror.Unknown).After(time.Millisecond)
		}
	}
	states := []string{"QUEUED", "RUNNING", "DONE"}
	strategy := retry.Strategy{MaxAttempts: retry.Unlimited}
	output, err := retry.Do(context.Background(), strategy, policy, func(context.Context) (any, error) {
		state := states[0]
		states = states[1:]
		return map[string]any{"status": state}, nil
	})
	fmt.Println(output, err)
	// Output: map[status:DONE] <nil>
}
