package clients_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"
)

const role = "arn:aws:iam::123456789012:role/orders"

// newClient is the SDK's client, before the server at a URL.
func newClient(t *testing.T, to endpoint) *sfn.Client {
	t.Helper()
	transport := dialTo(t, to.url)
	return sfn.New(sfn.Options{
		BaseEndpoint: aws.String(to.url), Region: "us-east-1", Credentials: credentials.StaticCredentialsProvider{Value: to.keys},
		HTTPClient: &http.Client{Transport: transport}, RetryMaxAttempts: 1,
	})
}

// ordersDefinition is that of the machine that all clients create, whose Tasks are an
// activity's.
func ordersDefinition(t *testing.T, activity string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/orders.asl.json")
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "${Activity}", activity)
}

// sdk is what the SDK for Go does with a machine.
type sdk struct {
	*sfn.Client

	machine, activity string
}

// driveSDK creates a machine and an activity, does everything with them, and deletes
// them.
func driveSDK(t *testing.T, to endpoint) {
	t.Helper()
	c := &sdk{Client: newClient(t, to)}
	c.create(t)
	c.update(t)
	c.executions(t)
	c.history(t)
	c.activityTask(t)
	c.callback(t)
	c.mapRun(t)
	c.versions(t)
	c.express(t)
	c.testState(t)
	c.remove(t)
}

func (c *sdk) create(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	activity, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("sdk-ask")})
	require.NoError(t, err)
	c.activity = *activity.ActivityArn
	definition := ordersDefinition(t, c.activity)
	valid, err := c.ValidateStateMachineDefinition(ctx, &sfn.ValidateStateMachineDefinitionInput{Definition: &definition})
	require.NoError(t, err)
	require.Equal(t, types.ValidateStateMachineDefinitionResultCodeOk, valid.Result, "%+v", valid.Diagnostics)
	wrong, err := c.ValidateStateMachineDefinition(ctx, &sfn.ValidateStateMachineDefinitionInput{Definition: aws.String(`{"StartAt": "A", "States": {}}`)})
	require.NoError(t, err)
	require.Equal(t, types.ValidateStateMachineDefinitionResultCodeFail, wrong.Result)
	require.NotEmpty(t, wrong.Diagnostics)

	in := &sfn.CreateStateMachineInput{
		Name: aws.String("sdk-orders"), Definition: &definition, RoleArn: aws.String(role),
		Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("orders")}},
	}
	created, err := c.CreateStateMachine(ctx, in)
	require.NoError(t, err)
	c.machine = *created.StateMachineArn
	require.Equal(t, "arn:aws:states:us-east-1:123456789012:stateMachine:sdk-orders", c.machine)
	again, err := c.CreateStateMachine(ctx, in)
	require.NoError(t, err)
	require.Equal(t, created.CreationDate, again.CreationDate)
	other := *in
	other.Definition = aws.String(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`)
	_, err = c.CreateStateMachine(ctx, &other)
	require.ErrorAs(t, err, new(*types.StateMachineAlreadyExists))
	_, err = c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("x"), Definition: aws.String("{}"), RoleArn: aws.String(role)})
	require.ErrorAs(t, err, new(*types.InvalidDefinition))

	described, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &c.machine})
	require.NoError(t, err)
	require.Equal(t, definition, *described.Definition)
	require.Equal(t, types.StateMachineTypeStandard, described.Type)
	require.Equal(t, types.StateMachineStatusActive, described.Status)

	var machines, activities []string
	for p := sfn.NewListStateMachinesPaginator(c, &sfn.ListStateMachinesInput{MaxResults: 1}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		for _, m := range page.StateMachines {
			machines = append(machines, *m.StateMachineArn)
		}
	}
	require.Contains(t, machines, c.machine)
	for p := sfn.NewListActivitiesPaginator(c, &sfn.ListActivitiesInput{MaxResults: 1}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		for _, a := range page.Activities {
			activities = append(activities, *a.ActivityArn)
		}
	}
	require.Contains(t, activities, c.activity)
	one, err := c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: &c.activity})
	require.NoError(t, err)
	require.Equal(t, "sdk-ask", *one.Name)

	_, err = c.TagResource(ctx, &sfn.TagResourceInput{ResourceArn: &c.machine, Tags: []types.Tag{{Key: aws.String("stage"), Value: aws.String("test")}}})
	require.NoError(t, err)
	_, err = c.UntagResource(ctx, &sfn.UntagResourceInput{ResourceArn: &c.machine, TagKeys: []string{"team"}})
	require.NoError(t, err)
	tags, err := c.ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: &c.machine})
	require.NoError(t, err)
	require.Equal(t, []types.Tag{{Key: aws.String("stage"), Value: aws.String("test")}}, tags.Tags)
}

// update changes the definition under a running execution, which keeps the old one.
func (c *sdk) update(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	definition := ordersDefinition(t, c.activity)
	before := c.start(t, `{"do": "wait"}`)
	changed := strings.Replace(definition, "Does what its input asks for", "Changed", 1)
	updated, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &c.machine, Definition: &changed})
	require.NoError(t, err)
	require.NotEmpty(t, aws.ToString(updated.RevisionId))
	old, err := c.DescribeStateMachineForExecution(ctx, &sfn.DescribeStateMachineForExecutionInput{ExecutionArn: &before})
	require.NoError(t, err)
	require.Equal(t, definition, *old.Definition)
	require.Equal(t, c.machine, *old.StateMachineArn)
	described, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &c.machine})
	require.NoError(t, err)
	require.Equal(t, changed, *described.Definition)
	require.Equal(t, updated.RevisionId, described.RevisionId)

	running, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &before})
	require.NoError(t, err)
	require.Equal(t, types.ExecutionStatusRunning, running.Status)
	require.Nil(t, running.StopDate)
	_, err = c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &before, Error: aws.String("Enough"), Cause: aws.String("seen")})
	require.NoError(t, err)
	stopped := c.end(t, before)
	require.Equal(t, types.ExecutionStatusAborted, stopped.Status)
	require.Equal(t, "Enough", *stopped.Error)
	require.Equal(t, "seen", *stopped.Cause)
}

func (c *sdk) start(t *testing.T, input string) (execution string) {
	t.Helper()
	started, err := c.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: &c.machine, Input: &input})
	require.NoError(t, err)
	return *started.ExecutionArn
}

// patience is how long a test waits for the server, which is slow only on a busy
// machine.
const patience = time.Minute

// end waits until an execution has ended.
func (c *sdk) end(t *testing.T, execution string) *sfn.DescribeExecutionOutput {
	t.Helper()
	var described *sfn.DescribeExecutionOutput
	require.Eventually(t, func() bool {
		var err error
		described, err = c.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &execution})
		return err != nil || described.Status != types.ExecutionStatusRunning
	}, patience, 2*time.Millisecond, "%s does not end", execution)
	require.NotNil(t, described)
	require.NotNil(t, described.StopDate)
	return described
}

// executions are started, told apart by name, listed and counted.
func (c *sdk) executions(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	in := &sfn.StartExecutionInput{StateMachineArn: &c.machine, Name: aws.String("once"), Input: aws.String(`{"do": "wait"}`)}
	first, err := c.StartExecution(ctx, in)
	require.NoError(t, err)
	again, err := c.StartExecution(ctx, in)
	require.NoError(t, err)
	require.Equal(t, first.ExecutionArn, again.ExecutionArn)
	require.Equal(t, first.StartDate, again.StartDate)
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.machine, Name: aws.String("once"), Input: aws.String(`{"do": "fail"}`)})
	require.ErrorAs(t, err, new(*types.ExecutionAlreadyExists))
	_, err = c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: first.ExecutionArn})
	require.NoError(t, err)
	_, err = c.StartExecution(ctx, in)
	require.ErrorAs(t, err, new(*types.ExecutionAlreadyExists), "an ended execution keeps its name")
	_, err = c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(*first.ExecutionArn + "-none")})
	require.ErrorAs(t, err, new(*types.ExecutionDoesNotExist))
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.machine, Input: aws.String(`{`)})
	require.ErrorAs(t, err, new(*types.InvalidExecutionInput))

	failed := c.end(t, c.start(t, `{"do": "fail"}`))
	require.Equal(t, types.ExecutionStatusFailed, failed.Status)
	require.Equal(t, "Refused", *failed.Error)
	succeeded := c.end(t, c.start(t, `{"do": "nothing"}`))
	require.Equal(t, types.ExecutionStatusSucceeded, succeeded.Status)
	require.JSONEq(t, `{"do": "nothing"}`, *succeeded.Output)

	var found []string
	for p := sfn.NewListExecutionsPaginator(c, &sfn.ListExecutionsInput{StateMachineArn: &c.machine, MaxResults: 2}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Executions), 2)
		for _, x := range page.Executions {
			found = append(found, *x.ExecutionArn)
		}
	}
	require.Len(t, found, 4)
	require.Equal(t, *succeeded.ExecutionArn, found[0], "the newest comes first")
	byStatus, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &c.machine, StatusFilter: types.ExecutionStatusFailed})
	require.NoError(t, err)
	require.Len(t, byStatus.Executions, 1)
	require.Equal(t, failed.ExecutionArn, byStatus.Executions[0].ExecutionArn)
	_, err = c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &c.machine, NextToken: aws.String("none")})
	require.ErrorAs(t, err, new(*types.InvalidToken))
}

// history is read by pages, forwards and backwards, with and without data.
func (c *sdk) history(t *testing.T) {
	t.Helper()
	execution := c.start(t, `{"do": "nothing"}`)
	c.end(t, execution)
	read := func(in sfn.GetExecutionHistoryInput) (kinds []types.HistoryEventType, ids []int64, inputs int) {
		in.ExecutionArn, in.MaxResults = &execution, 2
		for p := sfn.NewGetExecutionHistoryPaginator(c, &in); p.HasMorePages(); {
			page, err := p.NextPage(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, len(page.Events), 2)
			for _, e := range page.Events {
				kinds, ids = append(kinds, e.Type), append(ids, e.Id)
				require.False(t, e.Timestamp.IsZero())
				if d := e.StateEnteredEventDetails; d != nil && d.Input != nil {
					inputs++
				}
			}
		}
		return kinds, ids, inputs
	}
	kinds, ids, inputs := read(sfn.GetExecutionHistoryInput{})
	require.Equal(t, []types.HistoryEventType{"ExecutionStarted", "ChoiceStateEntered", "ChoiceStateExited", "SucceedStateEntered", "SucceedStateExited", "ExecutionSucceeded"}, kinds)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6}, ids)
	require.Equal(t, 2, inputs)
	_, ids, inputs = read(sfn.GetExecutionHistoryInput{ReverseOrder: true, IncludeExecutionData: aws.Bool(false)})
	require.Equal(t, []int64{6, 5, 4, 3, 2, 1}, ids)
	require.Zero(t, inputs)
}

// token waits until the activity hands out a Task.
func (c *sdk) token(t *testing.T) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*patience)
	defer stop()
	task, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: &c.activity, WorkerName: aws.String("sdk")})
	require.NoError(t, err)
	require.NotEmpty(t, aws.ToString(task.TaskToken))
	require.True(t, json.Valid([]byte(aws.ToString(task.Input))))
	return *task.TaskToken
}

// activityTask fails a Task and redrives its execution.
func (c *sdk) activityTask(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	execution := c.start(t, `{"do": "ask"}`)
	token := c.token(t)
	_, err := c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: &token})
	require.NoError(t, err)
	_, err = c.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: &token, Error: aws.String("No"), Cause: aws.String("not today")})
	require.NoError(t, err)
	_, err = c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`{}`)})
	require.Error(t, err, "the Task is over")
	failed := c.end(t, execution)
	require.Equal(t, "No", *failed.Error)
	require.Equal(t, types.ExecutionRedriveStatusRedrivable, failed.RedriveStatus)

	redriven, err := c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &execution})
	require.NoError(t, err)
	require.False(t, redriven.RedriveDate.IsZero())
	token = c.token(t)
	_, err = c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`"yes"`)})
	require.NoError(t, err)
	succeeded := c.end(t, execution)
	require.Equal(t, types.ExecutionStatusSucceeded, succeeded.Status)
	require.JSONEq(t, `{"do": "ask", "answer": "yes"}`, *succeeded.Output)
	require.EqualValues(t, 1, *succeeded.RedriveCount)
	_, err = c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: &execution})
	require.ErrorAs(t, err, new(*types.ExecutionNotRedrivable))
}

// callback finds the token of a Task in the input of the execution that the Task
// starts.
func (c *sdk) callback(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	execution := c.start(t, `{"do": "call back"}`)
	var token, child string
	require.Eventually(t, func() bool {
		running, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: &c.machine, StatusFilter: types.ExecutionStatusRunning})
		require.NoError(t, err)
		for _, x := range running.Executions {
			described, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: x.ExecutionArn})
			require.NoError(t, err)
			var input struct {
				Token string `json:"token"`
			}
			require.NoError(t, json.Unmarshal([]byte(*described.Input), &input))
			if input.Token != "" {
				token, child = input.Token, *x.ExecutionArn
			}
		}
		return token != ""
	}, patience, 2*time.Millisecond)
	_, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`1`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"do": "call back", "answer": 1}`, *c.end(t, execution).Output)
	_, err = c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: &child})
	require.NoError(t, err)
	c.end(t, child)
}
