package clients_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"
)

// mapRun runs three items one by one, and lets more run at once on the way.
func (c *sdk) mapRun(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	execution := c.start(t, `{"do": "many", "items": [1, 2, 3]}`)
	first := c.token(t)
	runs, err := c.ListMapRuns(ctx, &sfn.ListMapRunsInput{ExecutionArn: &execution})
	require.NoError(t, err)
	require.Len(t, runs.MapRuns, 1)
	run := runs.MapRuns[0].MapRunArn
	described, err := c.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: run})
	require.NoError(t, err)
	require.Equal(t, types.MapRunStatusRunning, described.Status)
	require.EqualValues(t, 1, described.MaxConcurrency)
	require.EqualValues(t, 3, described.ItemCounts.Total)
	require.EqualValues(t, 1, described.ExecutionCounts.Running)

	_, err = c.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{MapRunArn: run, MaxConcurrency: aws.Int32(3)})
	require.NoError(t, err)
	for _, token := range []string{first, c.token(t), c.token(t)} {
		_, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(`"done"`)})
		require.NoError(t, err)
	}
	ended := c.end(t, execution)
	require.JSONEq(t, `{"do": "many", "items": [1, 2, 3], "answer": ["done", "done", "done"]}`, *ended.Output)
	described, err = c.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: run})
	require.NoError(t, err)
	require.Equal(t, types.MapRunStatusSucceeded, described.Status)
	require.EqualValues(t, 3, described.MaxConcurrency)
	require.EqualValues(t, 3, described.ItemCounts.Succeeded)
	children, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{MapRunArn: run})
	require.NoError(t, err)
	require.Len(t, children.Executions, 3)
	child, err := c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: children.Executions[0].ExecutionArn})
	require.NoError(t, err)
	require.Equal(t, *run, *child.MapRunArn)
}

// versions are published, and an alias leads to one after the other.
func (c *sdk) versions(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	first, err := c.PublishStateMachineVersion(ctx, &sfn.PublishStateMachineVersionInput{StateMachineArn: &c.machine, Description: aws.String("first")})
	require.NoError(t, err)
	require.Equal(t, c.machine+":1", *first.StateMachineVersionArn)
	simple := `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "second", "End": true}}}`
	updated, err := c.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{StateMachineArn: &c.machine, Definition: &simple, Publish: true, VersionDescription: aws.String("second")})
	require.NoError(t, err)
	second := updated.StateMachineVersionArn
	require.Equal(t, c.machine+":2", *second)
	versions, err := c.ListStateMachineVersions(ctx, &sfn.ListStateMachineVersionsInput{StateMachineArn: &c.machine})
	require.NoError(t, err)
	require.Len(t, versions.StateMachineVersions, 2)
	require.Equal(t, *second, *versions.StateMachineVersions[0].StateMachineVersionArn, "the newest comes first")

	to := func(version *string) []types.RoutingConfigurationListItem {
		return []types.RoutingConfigurationListItem{{StateMachineVersionArn: version, Weight: 100}}
	}
	alias, err := c.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: aws.String("live"), RoutingConfiguration: to(first.StateMachineVersionArn)})
	require.NoError(t, err)
	require.Equal(t, c.machine+":live", *alias.StateMachineAliasArn)
	_, err = c.UpdateStateMachineAlias(ctx, &sfn.UpdateStateMachineAliasInput{StateMachineAliasArn: alias.StateMachineAliasArn, RoutingConfiguration: to(second)})
	require.NoError(t, err)
	described, err := c.DescribeStateMachineAlias(ctx, &sfn.DescribeStateMachineAliasInput{StateMachineAliasArn: alias.StateMachineAliasArn})
	require.NoError(t, err)
	require.Equal(t, to(second), described.RoutingConfiguration)
	aliases, err := c.ListStateMachineAliases(ctx, &sfn.ListStateMachineAliasesInput{StateMachineArn: &c.machine})
	require.NoError(t, err)
	require.Len(t, aliases.StateMachineAliases, 1)

	started, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: alias.StateMachineAliasArn})
	require.NoError(t, err)
	ended := c.end(t, *started.ExecutionArn)
	require.Equal(t, `"second"`, *ended.Output)
	require.Equal(t, *second, *ended.StateMachineVersionArn)
	require.Equal(t, *alias.StateMachineAliasArn, *ended.StateMachineAliasArn)
	of := func(arn *string) int {
		list, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: arn})
		require.NoError(t, err)
		return len(list.Executions)
	}
	require.Equal(t, []int{1, 1, 0}, []int{of(alias.StateMachineAliasArn), of(second), of(first.StateMachineVersionArn)})

	_, err = c.DeleteStateMachineVersion(ctx, &sfn.DeleteStateMachineVersionInput{StateMachineVersionArn: second})
	require.ErrorAs(t, err, new(*types.ConflictException), "the alias leads to it")
	_, err = c.DeleteStateMachineAlias(ctx, &sfn.DeleteStateMachineAliasInput{StateMachineAliasArn: alias.StateMachineAliasArn})
	require.NoError(t, err)
	_, err = c.DeleteStateMachineVersion(ctx, &sfn.DeleteStateMachineVersionInput{StateMachineVersionArn: second})
	require.NoError(t, err)
}

// express runs a machine while the client waits.
func (c *sdk) express(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	created, err := c.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("sdk-express"), RoleArn: aws.String(role), Type: types.StateMachineTypeExpress,
		Definition: aws.String(`{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "Output": {"sum": "{% $sum($states.input.items) %}"}, "End": true}}}`),
	})
	require.NoError(t, err)
	done, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: created.StateMachineArn, Input: aws.String(`{"items": [1, 2, 3]}`)})
	require.NoError(t, err)
	require.Equal(t, types.SyncExecutionStatusSucceeded, done.Status)
	require.JSONEq(t, `{"sum": 6}`, *done.Output)
	require.NotNil(t, done.BillingDetails)
	failed, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: created.StateMachineArn, Input: aws.String(`{"items": ["x"]}`)})
	require.NoError(t, err)
	require.Equal(t, types.SyncExecutionStatusFailed, failed.Status)
	require.Equal(t, "States.QueryEvaluationError", *failed.Error)
	_, err = c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: &c.machine})
	require.ErrorAs(t, err, new(*types.StateMachineTypeNotSupported))
	_, err = c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: created.StateMachineArn})
	require.ErrorAs(t, err, new(*types.StateMachineTypeNotSupported))
	_, err = c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: created.StateMachineArn})
	require.NoError(t, err)
}

func (c *sdk) testState(t *testing.T) {
	t.Helper()
	tested, err := c.TestState(t.Context(), &sfn.TestStateInput{
		Definition: aws.String(`{"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericGreaterThan": 1, "Next": "Many"}], "Default": "Few"}`),
		RoleArn:    aws.String(role), Input: aws.String(`{"n": 2}`), InspectionLevel: types.InspectionLevelInfo,
	})
	require.NoError(t, err)
	require.Equal(t, types.TestExecutionStatusSucceeded, tested.Status)
	require.Equal(t, "Many", *tested.NextState)
	mocked, err := c.TestState(t.Context(), &sfn.TestStateInput{
		Definition: aws.String(`{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "OutputPath": "$.Payload", "End": true}`),
		Mock:       &types.MockInput{Result: aws.String(`{"Payload": "ready"}`), FieldValidationMode: types.MockResponseValidationModeNone},
	})
	require.NoError(t, err)
	require.Equal(t, `"ready"`, aws.ToString(mocked.Output))
}

func (c *sdk) remove(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, err := c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: &c.machine})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		described, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &c.machine})
		if err == nil {
			require.Equal(t, types.StateMachineStatusDeleting, described.Status)
			return false
		}
		require.ErrorAs(t, err, new(*types.StateMachineDoesNotExist))
		return true
	}, patience, 2*time.Millisecond)
	_, err = c.DeleteActivity(ctx, &sfn.DeleteActivityInput{ActivityArn: &c.activity})
	require.NoError(t, err)
	_, err = c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: &c.activity})
	require.ErrorAs(t, err, new(*types.ActivityDoesNotExist))
}
