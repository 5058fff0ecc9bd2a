package sfntest_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sfntest"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const role = "arn:aws:iam::123456789012:role/r"

func create(t *testing.T, s *sfntest.Server, name, definition string, kind types.StateMachineType) *string {
	t.Helper()
	out, err := s.Client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: &name, RoleArn: aws.String(role), Definition: &definition, Type: kind})
	require.NoError(t, err)
	return out.StateMachineArn
}

func start(t *testing.T, s *sfntest.Server, machine *string, input string) string {
	t.Helper()
	out, err := s.Client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine, Input: &input})
	require.NoError(t, err)
	return *out.ExecutionArn
}

const waitDay = `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 86400, "End": true}}}`

// On a clock that stands, a waiter sees an execution run.
func TestManualClock(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t, sfntest.Manual())
	execution := start(t, s, create(t, s, "day", waitDay, ""), "{}")
	status := func() types.ExecutionStatus {
		out, err := s.Client.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &execution})
		require.NoError(t, err)
		return out.Status
	}
	require.Equal(t, types.ExecutionStatusRunning, status())
	s.Advance(23 * time.Hour)
	require.Equal(t, types.ExecutionStatusRunning, status())
	s.Advance(time.Hour)
	require.Equal(t, types.ExecutionStatusSucceeded, status())
}

// The operations whose host begins with "sync-" reach the server.
func TestSynchronousExecution(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t)
	machine := create(t, s, "express", `{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 90, "End": true}}}`, types.StateMachineTypeExpress)
	out, err := s.Client.StartSyncExecution(t.Context(), &sfn.StartSyncExecutionInput{StateMachineArn: machine, Input: aws.String(`{"a": 1}`)})
	require.NoError(t, err)
	require.Equal(t, types.SyncExecutionStatusSucceeded, out.Status)
	require.JSONEq(t, `{"a": 1}`, *out.Output)
	require.Equal(t, int64(90_000), out.BillingDetails.BilledDurationInMilliseconds)
}

// A Task that waits for its token holds the clock.
func TestTokenHoldsTheClock(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t)
	machine := create(t, s, "token", `{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
	  "Parameters": {"QueueUrl": "q", "MessageBody": {"Token.$": "$$.Task.Token"}}, "TimeoutSeconds": 60, "End": true}}}`, "")
	asked := make(chan string, 1)
	s.On("Ask").Call(func(_ context.Context, call sim.Call) (sim.Reply, error) {
		asked <- call.TaskToken
		return sim.Reply{Never: true}, nil
	})
	execution := start(t, s, machine, "{}")
	_, err := s.Client.SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: aws.String(<-asked), Output: aws.String(`"yes"`)})
	require.NoError(t, err)
	require.Equal(t, `"yes"`, *s.Wait(execution).Output)
}
