package awsretry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/retry"
	"github.com/jobpoller/jobpoller/pollcore/retry/awsretry"
)

func ExampleStandardPolicy() {
	strategy, err := retry.NewStandardStrategy(retry.WithBackoff(retry.ExponentialBackoff{Base: time.Millisecond, Max: time.Millisecond}))
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := 0
	describe := func(context.Context) (string, error) {
		if calls++; calls == 1 {
			return "", &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slower, please"}
		}
		return "COMPLETED", nil
	}
	status, err := retry.Do(context.Background(), strategy, awsretry.StandardPolicy, describe)
	fmt.Println(status, err, calls)
	// Output: COMPLETED <nil> 2
}

// A classifier of the caller's adds errors that only this service has.
func ExamplePolicyWith() {
	policy := awsretry.PolicyWith[string](func(err error) (retry.Directive, bool) {
		var coded smithy.APIError
		busy := errors.As(err, &coded) && coded.ErrorCode() == "ClusterIsResizing"
		return retry.RetryError(retry.ServerSide), busy
	})
	fmt.Println(policy("", &smithy.GenericAPIError{Code: "ClusterIsResizing"}))
	fmt.Println(policy("", &smithy.GenericAPIError{Code: "ValidationException"}))
	// Output:
	// retry (server-side)
	// terminate and fail
}

func ExampleTransient() {
	fmt.Println(awsretry.Transient(&smithy.GenericAPIError{Code: "SlowDown"}))
	fmt.Println(awsretry.Transient(&smithy.GenericAPIError{Code: "AccessDenied"}))
	// Output:
	// true
	// false
}

func ExampleClassify() {
	d, ok := awsretry.Classify(fmt.Errorf("describe: %w", context.DeadlineExceeded))
	fmt.Println(d, ok)
	// Output: retry (timeout) true
}
