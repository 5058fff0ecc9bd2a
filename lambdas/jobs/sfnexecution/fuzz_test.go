package sfnexecution_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/sfnexecution"
)

// taken is a Step Functions in which all names are taken.
type taken struct{ sfnexecution.Client }

func (taken) DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput, ...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error) {
	return &sfn.DescribeStateMachineOutput{Type: types.StateMachineTypeStandard}, nil
}

func (taken) StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	return nil, &types.ExecutionAlreadyExists{}
}

func (taken) DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	return &sfn.DescribeExecutionOutput{}, nil
}

// Whatever the arguments, they are refused, or lead to an ARN that Start and
// Find agree on.
func FuzzArguments(f *testing.F) {
	f.Add(arguments)
	f.Add(`{"StateMachineArn": "` + machine + `:PROD", "Input": "{}"}`)
	f.Add(`{"StateMachineArn": "` + machine + `/Rows"}`)
	f.Add(`{"StateMachineArn": "arn:::::stateMachine:", "Input": "\ud800"}`)
	f.Add(`{"StateMachineArn": 7, "Name": null}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		driver := sfnexecution.New(taken{})
		request := jobs.Request{Token: "token-1", Arguments: json.RawMessage(text)}
		ref, err := driver.Start(t.Context(), request)
		if err != nil {
			require.ErrorIs(t, err, jobs.ErrArguments)
			return
		}
		place, err := arn.Parse(ref["ExecutionArn"])
		require.NoError(t, err)
		require.Regexp(t, `(?s)^execution:[^:/]+:token-1$`, place.Resource)
		found, ok, err := driver.Find(t.Context(), request)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, ref, found)
		require.Equal(t, "states", place.Service)
	})
}
