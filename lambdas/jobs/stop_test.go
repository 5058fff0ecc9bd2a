package jobs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/athenaquery"
)

// query is Athena with one query, or with an error.
type query struct {
	athenaquery.Client

	state types.QueryExecutionState
	err   error
}

func (q query) GetQueryExecution(
	context.Context, *athena.GetQueryExecutionInput, ...func(*athena.Options),
) (*athena.GetQueryExecutionOutput, error) {
	return &athena.GetQueryExecutionOutput{QueryExecution: &types.QueryExecution{Status: &types.QueryExecutionStatus{State: q.state}}}, q.err
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
		{"no error", query{state: types.QueryExecutionStateRunning}, nil, nil},
		{"refused, runs", query{state: types.QueryExecutionStateRunning}, refused, refused},
		{"refused, has succeeded", query{state: types.QueryExecutionStateSucceeded}, refused, nil},
		{"refused, has failed", query{state: types.QueryExecutionStateFailed}, refused, nil},
		{"refused, nobody knows", query{err: lost}, refused, refused},
		{"throttled", query{state: types.QueryExecutionStateSucceeded}, throttled, throttled},
		{"unclear", query{state: types.QueryExecutionStateSucceeded}, lost, lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, jobs.StopResult(t.Context(), athenaquery.New(tt.query), jobs.Ref{"QueryExecutionId": "q"}, tt.err))
		})
	}
}
