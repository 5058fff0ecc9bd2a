package jobs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// query is a driver of one query, or of an error.
type query struct {
	jobs.Driver

	state string
	err   error
}

var queryEnded = pollcore.MustNew("QueryEnded",
	pollcore.Succeed(pollcore.Output("State").Is("SUCCEEDED")), pollcore.Fail(pollcore.Output("State").Is("FAILED")))

func (query) Waiter() *pollcore.Waiter { return queryEnded }

func (q query) Describe(context.Context, jobs.Ref) (any, error) {
	return map[string]any{"State": q.state}, q.err
}

func TestStopResult(t *testing.T) {
	t.Parallel()
	refused := &smithy.GenericAPIError{Code: "InvalidRequestException", Fault: smithy.FaultClient}
	throttled := &smithy.GenericAPIError{Code: "ThrottlingException", Fault: smithy.FaultClient}
	lost := errors.New("connection lost")
	tests := []struct {
		name  string
		query query
		err   error
		want  error
	}{
		{"no error", query{state: "RUNNING"}, nil, nil},
		{"refused, runs", query{state: "RUNNING"}, refused, refused},
		{"refused, has succeeded", query{state: "SUCCEEDED"}, refused, nil},
		{"refused, has failed", query{state: "FAILED"}, refused, nil},
		{"refused, nobody knows", query{err: lost}, refused, refused},
		{"throttled", query{state: "SUCCEEDED"}, throttled, throttled},
		{"unclear", query{state: "SUCCEEDED"}, lost, lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, jobs.StopResult(t.Context(), tt.query, jobs.Ref{"QueryExecutionId": "q"}, tt.err))
		})
	}
}
