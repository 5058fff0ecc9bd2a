// Package jobstest is the conformance suite of jobs.Driver. It runs a driver
// against a scripted service that speaks the real one's protocol, so that the
// client which the driver ships with is part of what is tested.
package jobstest

import (
	"fmt"
	"testing"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// Case is what the suite must know of a driver. A driver whose idempotency
// depends on the request has a case for each class.
type Case struct {
	// Maker makes the driver. It gets an environment whose AWS configuration
	// and S3 client lead to the service, with the SDK's own retries but no
	// pauses between them, and the bucket "jobpoller".
	Maker jobs.Maker
	// Getenv returns the environment variables for a service at the endpoint,
	// a URL. Nil stands for none.
	Getenv func(endpoint string) map[string]string
	// Service returns the service, new and without jobs.
	Service func(t *testing.T) Service
	// Arguments are valid ones: a JSON object that starts a job.
	Arguments string
	// Required are the members that Arguments cannot do without, and Reserved
	// those that the driver sets itself, such as a token.
	Required, Reserved []string
	// AnyJSON are the members that take any JSON value.
	AnyJSON []string
	// Bad are arguments that the driver refuses, besides those that the suite
	// makes of Arguments.
	Bad []BadArguments
	// Output is a value of the type that Describe gets from the SDK, such as
	// dynamodb.DescribeExportOutput{}: the waiter is checked against the form
	// that jobs.Output gives it. Nil stands for JSON without a type.
	Output any
	// OwnOutput says that the output is the job's own JSON, which has not the
	// form of an SDK integration's result.
	OwnOutput bool
	// Timestamps are the places of timestamps in the output of a job that has
	// ended, as member names joined by dots.
	Timestamps []string
	// Statuses are the statuses that a job can have.
	Statuses Statuses
	// Enum are the values of the SDK's type of the status, see Values. Each of
	// them is one of Statuses.
	Enum []string
	// Reason is a part of what the service says about a failure; empty if it
	// says nothing.
	Reason string
	// Refusal is the code with which the service refuses a call, by default
	// "AccessDeniedException".
	Refusal string
	// Actions names the IAM action of an operation where it is not the
	// driver's service and the operation; empty where it needs none.
	Actions map[string]string
}

// BadArguments are arguments that a driver refuses, and a part of what it says.
type BadArguments struct{ Name, Arguments, Want string }

// Statuses are the statuses that a job can have, by what they mean. The first
// of Running is that of a new job.
type Statuses struct{ Running, Success, Failure []string }

// Values returns the values of an SDK enum as strings:
//
//	jobstest.Values(types.ExportStatus("").Values())
func Values[E ~string](values []E) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

// Run tests that the driver behaves as jobs.Driver says.
func Run(t *testing.T, c Case) {
	t.Helper()
	if c.Refusal == "" {
		c.Refusal = "AccessDeniedException"
	}
	tests := []struct {
		name string
		test func(h *harness)
	}{
		{"Name", testName},
		{"Waiter", testWaiter},
		{"Statuses", testStatuses},
		{"Life", testLife},
		{"Output", testOutput},
		{"Ref", testRef},
		{"UnknownRef", testUnknownRef},
		{"Token", testToken},
		{"Find", testFind},
		{"StartErrors", testStartErrors},
		{"StartLosesAnswer", testStartLosesAnswer},
		{"StartHidesNothing", testStartHidesNothing},
		{"DescribeErrors", testDescribeErrors},
		{"Batch", testBatch},
		{"Canceled", testCanceled},
		{"Stop", testStop},
		{"StopEnded", testStopEnded},
		{"StopErrors", testStopErrors},
		{"Permissions", testPermissions},
		{"Concurrent", testConcurrent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(newHarness(t, &c))
		})
	}
	t.Run("Arguments", func(t *testing.T) {
		t.Parallel()
		testArguments(t, &c)
	})
}

// token returns the n-th token.
func token(n int) string { return fmt.Sprintf("%036x", 0xabc000+n) }
