package compile_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// A job of the catalogue becomes a state machine that starts it, waits for it,
// and stops it when its time is over.
func ExampleCompile() {
	job, err := catalog.Lookup("athena", "StartQueryExecution")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := compile.Compile(job.Waiter, compile.CallOf(job), compile.Options{Strategy: compile.Variables, MaxWait: 30 * time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range m.Machine.States {
		fmt.Printf("%s (%s)\n", s.Name, s.Type)
	}
	worst := m.Report().Worst
	fmt.Printf("at most %g polls, %g transitions, $%.4f\n", worst.Polls, worst.Transitions, worst.USD)
	// Output:
	// Start (Pass)
	// StartQueryExecution (Task)
	// GetQueryExecution (Task)
	// Check (Choice)
	// Wait (Wait)
	// StopQueryExecution (Task)
	// Succeeded (Succeed)
	// Failed (Fail)
	// TimedOut (Fail)
	// at most 75 polls, 230 transitions, $0.0057
}

// All that is wrong with the options is said at once, by field.
func ExampleOptionError() {
	job, err := catalog.Lookup("athena", "StartQueryExecution")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = compile.Compile(job.Waiter, compile.CallOf(job), compile.Options{Strategy: compile.Variables, Events: -1})
	wrong, ok := errors.AsType[*compile.OptionError](err)
	fmt.Println(ok, wrong.Field)
	fmt.Println(err)
	// Output:
	// true MaxWait
	// MaxWait is missing: say how long to wait at most, such as 2h
	// Events must be from 1 to the 25000 events of an execution, is -1
}

// A Task of the user's own polls: it asks a Lambda function.
func ExampleCall_task() {
	w, err := pollcore.ParseWaiter("Approved", []byte(`{"acceptors": [
		{"state": "success", "matcher": {"output": {"path": "Payload.status", "expected": "approved", "comparator": "stringEquals"}}},
		{"state": "failure", "matcher": {"output": {"path": "Payload.status", "expected": "denied", "comparator": "stringEquals"}}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	call := compile.Call{Task: map[string]any{
		"Resource":  "arn:aws:states:::lambda:invoke",
		"Arguments": map[string]any{"FunctionName": "ask", "Payload": "{% $states.input %}"},
	}}
	m, err := compile.Compile(w, call, compile.Options{MaxWait: 2 * time.Hour})
	if err != nil {
		fmt.Println(err)
		return
	}
	poll := m.Machine.State(compile.TaskName)
	fmt.Println(poll.Task.Resource, poll.Retry[0].ErrorEquals)
	fmt.Println(m.Policy.Statement[0].Action, m.Policy.Statement[0].Resource)
	// Output:
	// arn:aws:states:::lambda:invoke [Lambda.ServiceException Lambda.AWSLambdaException Lambda.SdkClientException Lambda.TooManyRequestsException]
	// [lambda:InvokeFunction] [arn:*:lambda:*:*:function:ask]
}
