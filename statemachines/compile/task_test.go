package compile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// ownWaiter waits for what a function answers.
const ownWaiter = `{"acceptors": [
	{"state": "success", "matcher": {"output": {"path": "Payload.job.state", "expected": "done", "comparator": "stringEquals"}}},
	{"state": "failure", "matcher": {"output": {"path": "Payload.job.state", "expected": "broken", "comparator": "stringEquals"}}},
	{"state": "retry", "matcher": {"errorType": "NotThereYet"}}
]}`

func askFunction() map[string]any {
	return map[string]any{
		"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
		"Arguments": map[string]any{"FunctionName": "ask", "Payload": map[string]any{"id": "{% $states.input.id %}"}},
		"Retry":     []any{map[string]any{"ErrorEquals": []any{"Lambda.TooManyRequestsException"}, "MaxAttempts": 9}},
	}
}

func compileTask(t *testing.T, task map[string]any, o compile.Options) (*compile.Compiled, error) {
	t.Helper()
	w, err := pollcore.ParseWaiter("Own", []byte(ownWaiter))
	require.NoError(t, err)
	return compile.Compile(w, compile.Call{Task: task}, o)
}

// A Task of the caller's own polls with the arguments of the input, until the waiter has a verdict of what it returns.
func TestTaskPolls(t *testing.T) {
	t.Parallel()
	m, err := compileTask(t, askFunction(), compile.Options{MaxWait: time.Hour})
	require.NoError(t, err)
	poll := m.Machine.State(compile.TaskName)
	require.Equal(t, "arn:aws:states:::lambda:invoke", poll.Task.Resource)
	require.Equal(t, []string{"Lambda.TooManyRequestsException"}, poll.Retry[0].ErrorEquals, "the caller's first")
	require.NotContains(t, poll.Retry[1].ErrorEquals, "Lambda.TooManyRequestsException")
	require.Contains(t, poll.Retry[1].ErrorEquals, "Lambda.ServiceException")
	require.Equal(t, []string{"lambda:InvokeFunction"}, m.Policy.Statement[0].Action)
	require.Equal(t, []string{"arn:*:lambda:*:*:function:ask"}, m.Policy.Statement[0].Resource)
	for _, of := range []struct{ last, status, calls string }{{"done", "SUCCEEDED", "4"}, {"broken", "FAILED", "4"}} {
		calls := 0
		answer := func(_ context.Context, call sim.Call) (sim.Reply, error) {
			calls++
			require.Equal(t, map[string]any{"FunctionName": "ask", "Payload": map[string]any{"id": "i-1"}}, call.Arguments)
			state := "running"
			switch calls {
			case 1:
				return sim.Reply{}, &sim.TaskError{Name: "NotThereYet", Cause: "soon"}
			case 4:
				state = of.last
			}
			return sim.Reply{Output: map[string]any{"Payload": map[string]any{"job": map[string]any{"state": state}}}}, nil
		}
		r, err := sim.Run(t.Context(), m.Machine, []byte(`{"id": "i-1"}`), sim.Options{
			Clock: sim.NewVirtualClock(sim.DefaultStart()), StateHandlers: map[string]sim.Handler{compile.TaskName: answer},
		})
		require.NoError(t, err)
		require.Equal(t, of.status, string(r.Status), r.Cause)
		require.Equal(t, 4, calls)
	}
}

// A job that does not end times out, with what was seen last.
func TestTaskTimesOut(t *testing.T) {
	t.Parallel()
	m, err := compileTask(t, askFunction(), compile.Options{MaxWait: time.Minute})
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m.Machine, []byte(`{"id": "i-1"}`), sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart()), StateHandlers: map[string]sim.Handler{
			compile.TaskName: func(context.Context, sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: map[string]any{"Payload": map[string]any{"job": map[string]any{"state": "running"}}}}, nil
			},
		},
	})
	require.NoError(t, err)
	require.Equal(t, "JobPoller.TimedOut", r.Error)
	require.Contains(t, r.Cause, "Payload.job.state = running")
}

// What cannot be said of a Task is said by the field.
func TestTaskIsChecked(t *testing.T) {
	t.Parallel()
	with := func(field string, value any) map[string]any {
		task := askFunction()
		task[field] = value
		return task
	}
	hour := compile.Options{MaxWait: time.Hour}
	for name, of := range map[string]struct {
		task map[string]any
		o    compile.Options
		says string
	}{
		"no resource":               {with("Resource", nil), hour, "must have a Resource"},
		"an Output":                 {with("Output", "{% $states.result.Payload %}"), hour, "has the field Output"},
		"any time":                  {with("Resource", "arn:aws:states:::states:startExecution.sync:2"), hour, "must have TimeoutSeconds"},
		"a Catch":                   {with("Catch", []any{map[string]any{"ErrorEquals": []any{"States.ALL"}, "Next": "Other"}}), hour, "set Exits"},
		"a Catch that is a text":    {with("Catch", "x"), hour, "must have a list of objects in Catch"},
		"a Retry that is an object": {with("Retry", map[string]any{"a": 1}), hour, `"Retry" must be an array`},
		"a Retry of texts":          {with("Retry", []string{"States.ALL"}), hour, "is not valid: /Retry/0"},
		"a Retry that is computed":  {with("Retry", "{% $retry %}"), hour, `"Retry" must be an array`},
		"a Retry block":             {askFunction(), compile.Options{MaxWait: time.Hour, Strategy: compile.RetryTask}, "is not for the strategy retry-task"},
		"functions":                 {askFunction(), compile.Options{MaxWait: time.Hour, Strategy: compile.LambdaLoop}, "is not for the strategy lambda-loop"},
	} {
		_, err := compileTask(t, of.task, of.o)
		wrong, ok := errors.AsType[*compile.OptionError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, "Task", wrong.Field, name)
		require.ErrorContains(t, err, of.says, name)
	}
}

// With an operation, the waiter is in the spelling of its model, and the errors of that are retried.
func TestTaskOfOperation(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	call := compile.Call{Operation: e.Operation, Task: map[string]any{
		"Resource": "arn:aws-cn:states:::aws-sdk:dynamodb:describeExport", "Arguments": "{% $states.input.export %}", "TimeoutSeconds": 20,
		"Credentials": map[string]any{"RoleArn": "arn:aws-cn:iam::123456789012:role/other"},
	}}
	m, err := compile.Compile(e.Waiter, call, compile.Options{MaxWait: time.Hour})
	require.NoError(t, err)
	var retried []string
	for _, r := range m.Machine.State("DescribeExport").Retry {
		retried = append(retried, r.ErrorEquals...)
	}
	require.Subset(t, retried, []string{"DynamoDb.SdkClientException", "DynamoDb.InternalServerErrorException", "DynamoDb.ThrottlingException"})
	r, err := sim.Run(t.Context(), m.Machine, []byte(`{"export": {"ExportArn": "a"}}`), sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart()), StateHandlers: map[string]sim.Handler{
			"DescribeExport": func(_ context.Context, call sim.Call) (sim.Reply, error) {
				require.Equal(t, map[string]any{"ExportArn": "a"}, call.Arguments)
				return sim.Reply{Output: map[string]any{"ExportDescription": map[string]any{"ExportStatus": "COMPLETED"}}}, nil
			},
		},
	})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
}

// The execution's limit leaves each call the time that the Task has.
func TestTaskHasItsTime(t *testing.T) {
	t.Parallel()
	short, err := compileTask(t, askFunction(), compile.Options{MaxWait: time.Hour})
	require.NoError(t, err)
	task := askFunction()
	task["TimeoutSeconds"] = 30
	less, err := compileTask(t, task, compile.Options{MaxWait: time.Hour})
	require.NoError(t, err)
	require.Greater(t, short.Machine.TimeoutSeconds, less.Machine.TimeoutSeconds)
}
