package sfntest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
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

const askOnce = `{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "OutputPath": "$.Payload", "End": true}}}`

// The ARN of a start names a case of the file of mocks.
func TestMockFile(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t)
	file := filepath.Join(t.TempDir(), "MockConfigFile.json")
	require.NoError(t, os.WriteFile(file, []byte(`{
	  "StateMachines": {"m": {"TestCases": {"Happy": {"Ask": "Yes"}, "Sad": {"Ask": "No"}}}},
	  "MockedResponses": {"Yes": {"0": {"Return": {"StatusCode": 200, "Payload": "yes"}}}, "No": {"0": {"Throw": {"Error": "No", "Cause": "c"}}}}}`), 0o600))
	s.MockFile(file)
	s.On("Ask").Return(map[string]any{"Payload": "without a case"})
	machine := create(t, s, "m", askOnce, "")
	require.Equal(t, `"yes"`, *s.Wait(start(t, s, aws.String(*machine+"#Happy"), "{}")).Output)
	require.Equal(t, "No", *s.Wait(start(t, s, aws.String(*machine+"#Sad"), "{}")).Error)
	require.Equal(t, `"without a case"`, *s.Wait(start(t, s, machine, "{}")).Output)
	_, err := s.Client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: aws.String(*machine + "#Hapy")})
	require.ErrorContains(t, err, "Hapy")
}

// A worker in the test does an activity.
func TestActivity(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t)
	activity, err := s.Client.CreateActivity(t.Context(), &sfn.CreateActivityInput{Name: aws.String("a")})
	require.NoError(t, err)
	execution := start(t, s, create(t, s, "m", `{"StartAt": "Work", "States": {"Work": {"Type": "Task", "Resource": "`+*activity.ActivityArn+`", "End": true}}}`, ""), `{"n": 1}`)
	work, err := s.Client.GetActivityTask(t.Context(), &sfn.GetActivityTaskInput{ActivityArn: activity.ActivityArn})
	require.NoError(t, err)
	require.JSONEq(t, `{"n": 1}`, *work.Input)
	_, err = s.Client.SendTaskFailure(t.Context(), &sfn.SendTaskFailureInput{TaskToken: work.TaskToken, Error: aws.String("Lazy")})
	require.NoError(t, err)
	require.Equal(t, "Lazy", *s.Wait(execution).Error)
}

func TestRealTime(t *testing.T) {
	t.Parallel()
	s := sfntest.Start(t, sfntest.RealTime())
	require.WithinDuration(t, time.Now(), s.Clock.Now(), time.Minute)
	end := s.Wait(start(t, s, create(t, s, "m", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`, ""), "{}"))
	require.Equal(t, types.ExecutionStatusSucceeded, end.Status)
}

// unasked is a test whose server is asked for what it cannot do.
type unasked struct {
	ctx     context.Context //nolint:containedctx // as that of a test
	said    string
	cleanup []func()
}

func (u *unasked) Helper()                  {}
func (u *unasked) Context() context.Context { return u.ctx }
func (u *unasked) Cleanup(f func())         { u.cleanup = append(u.cleanup, f) }

func (u *unasked) Fatalf(format string, args ...any) {
	u.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// What cannot be ends the test, and says why.
func TestFatal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(s *sfntest.Server)
		says string
	}{
		"no file":      {func(s *sfntest.Server) { s.MockFile("nowhere.json") }, "the mocks in nowhere.json: open"},
		"no mocks":     {func(s *sfntest.Server) { s.MockFile("sfntest.go") }, "the mocks in sfntest.go: "},
		"no execution": {func(s *sfntest.Server) { s.Wait("arn:aws:states:us-east-1:123456789012:execution:m:x") }, "ExecutionDoesNotExist"},
	} {
		fake := &unasked{ctx: t.Context()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.do(sfntest.Start(fake, sfntest.RealTime()))
		}()
		<-done
		require.Contains(t, fake.said, c.says, name)
		require.Len(t, fake.cleanup, 1)
		fake.cleanup[0]()
	}
}

// Nothing of a server is left when its test has ended, whatever still ran.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		s := sfntest.Start(t, sfntest.Manual())
		activity, err := s.Client.CreateActivity(t.Context(), &sfn.CreateActivityInput{Name: aws.String("left")})
		require.NoError(t, err)
		s.On("Ask").Call(func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			<-ctx.Done()
			return sim.Reply{}, ctx.Err()
		})
		start(t, s, create(t, s, "day", waitDay, ""), "{}")
		start(t, s, create(t, s, "ask", askOnce, ""), "{}")
		go func() {
			_, _ = s.Client.GetActivityTask(context.WithoutCancel(t.Context()), &sfn.GetActivityTaskInput{ActivityArn: activity.ActivityArn})
		}()
		synctest.Wait()
	})
}
