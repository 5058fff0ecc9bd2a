package simulate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// An integration that AWS made for Step Functions is answered with its own result, under its
// own names: elasticmapreduce:createCluster was answered with the JobFlowId of RunJobFlow.
func TestResultsOfOptimizedIntegrations(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Create", "States": {
  "Create": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:createCluster", "Parameters": {}, "ResultPath": "$.c", "Next": "Describe"},
  "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:emr:describeCluster", "Parameters": {"ClusterId.$": "$.c.ClusterId"}, "ResultPath": "$.d", "Next": "Up?"},
  "Up?": {"Type": "Choice", "Choices": [{"Variable": "$.d.Cluster.Status.State", "StringEquals": "STARTING", "Next": "Describe"}], "Default": "Add"},
  "Add": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:addStep", "Parameters": {"ClusterId.$": "$.c.ClusterId", "Step": {}}, "ResultPath": "$.s", "Next": "Cancel"},
  "Cancel": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:cancelStep",
    "Parameters": {"ClusterId.$": "$.c.ClusterId", "StepId.$": "$.s.StepId"}, "ResultPath": "$.x", "Next": "Call"},
  "Call": {"Type": "Task", "Resource": "arn:aws:states:::eks:call", "Parameters": {"x.$": "$.x.CancelStepsInfo.Status"}, "ResultPath": "$.k", "Next": "API"},
  "API": {"Type": "Task", "Resource": "arn:aws:states:::apigateway:invoke", "Parameters": {"x.$": "$.k.ResponseBody"}, "ResultPath": "$.a", "Next": "Terminate"},
  "Terminate": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:terminateCluster", "Parameters": {"ClusterId.$": "$.c.ClusterId"}, "End": true}}}`))
	require.NoError(t, err)
	responses, unknown, err := simulate.Responses(m, simulate.Options{Models: models.Load})
	require.NoError(t, err)
	usual := func(state string) map[string]any {
		answer, ok := responses[state].Usual.(map[string]any)
		require.True(t, ok, state)
		return answer
	}
	require.Equal(t, map[string]any{"ClusterId": "job-1"}, usual("Create"))
	require.Equal(t, map[string]any{"StepId": "StepId"}, usual("Add"))
	require.Contains(t, usual("Cancel")["CancelStepsInfo"], "Status")
	require.Equal(t, map[string]any{}, usual("Terminate"))
	require.Contains(t, usual("Call"), "ResponseBody")
	require.Contains(t, usual("API"), "ResponseBody")
	var names []string
	for _, u := range unknown {
		names = append(names, u.State)
	}
	require.Equal(t, []string{"Call", "API"}, names)
}

// What ".sync" returns of a cluster has the id that the next states read, as AWS's sample
// "Manage an Amazon EMR Job" does.
func TestSyncResultOfCluster(t *testing.T) {
	t.Parallel()
	r := asl.ParseResource("arn:aws:states:::elasticmapreduce:createCluster.sync")
	op, err := typecheck.FindOperation("arn:aws:states:::aws-sdk:emr:describeCluster", models.Load)
	require.NoError(t, err)
	result := simulate.SyncResult(r, map[string]any{"Cluster": map[string]any{"Id": "j-1"}}, op.Output)
	require.Equal(t, map[string]any{"Cluster": map[string]any{"Id": "j-1"}, "ClusterId": "j-1"}, result)
}

// A simulated cluster of ".sync" has that id, too, also where no answer has more than the model requires.
func TestSimulatedClusterHasItsID(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Create", "States": {
  "Create": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:createCluster.sync", "Parameters": {}, "ResultPath": "$.c", "Next": "Protect"},
  "Protect": {"Type": "Task", "Resource": "arn:aws:states:::elasticmapreduce:setClusterTerminationProtection",
    "Parameters": {"ClusterId.$": "$.c.ClusterId", "TerminationProtected": true}, "End": true}}}`))
	require.NoError(t, err)
	responses, _, err := simulate.Responses(m, simulate.Options{Models: models.Load})
	require.NoError(t, err)
	for name, answer := range map[string]any{"usual": responses["Create"].Usual, "bare": responses["Create"].Bare} {
		require.Contains(t, answer, "ClusterId", name)
		require.Contains(t, answer, "ClusterArn", name)
	}
}
