package sfntest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/jobpoller/jobpoller/statemachines/sfntest"
)

// t stands in the example for a *testing.T.
var t = exampleT{}

type exampleT struct{}

func (exampleT) Helper()                           {}
func (exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (exampleT) Context() context.Context          { return context.Background() }
func (exampleT) Cleanup(func())                    {}

// A state machine that asks every hour. On a virtual clock the three hours take no time.
func Example() {
	s := sfntest.Start(t)
	status := func(status string) map[string]any { return map[string]any{"Status": status} }
	s.On("Describe").Return(status("RUNNING")).Times(2).Return(status("DONE"))

	ctx := context.Background()
	machine, err := s.Client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("poll"), RoleArn: aws.String("arn:aws:iam::123456789012:role/poll"),
		Definition: aws.String(`{"QueryLanguage": "JSONata", "StartAt": "Wait", "States": {
		  "Wait": {"Type": "Wait", "Seconds": 3600, "Next": "Describe"},
		  "Describe": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "describe"}, "Next": "Done?"},
		  "Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.Status = 'DONE' %}", "Next": "Done"}], "Default": "Wait"},
		  "Done": {"Type": "Succeed"}}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	execution, err := s.Client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine.StateMachineArn})
	if err != nil {
		fmt.Println(err)
		return
	}
	end := s.Wait(*execution.ExecutionArn)
	fmt.Println(end.Status, end.StopDate.Sub(*end.StartDate).Round(time.Second))
	// Output: SUCCEEDED 3h0m0s
}
