package simulate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// The answer of a call that no entry of the catalogue describes has no reason of a failure while its status is of
// none, and no time of an end while its status goes on.
func TestReasonsComeAfterFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ resource, reads, want string }{
		{"accessanalyzer:getFindingRecommendation", "$.Status, $.Error, $.CompletedAt", `{"RecommendationType": "UnusedPermissionRecommendation",
			"ResourceArn": "arn:aws:simulated:us-east-1:123456789012:resourcearn", "StartedAt": "2026-01-01T00:00:00Z", "CompletedAt": "2026-01-01T00:00:00Z", "Status": "SUCCEEDED"}`},
		{"glue:getUnfilteredTableMetadata", "$.Table.Status.State, $.Table.Status.Error", `{"Table": {"Name": "Name", "Status": {"State": "QUEUED"}}}`},
		{"fis:startExperiment", "$.Experiment.State.Status, $.Experiment.State.Error", `{"Experiment": {"State": {"Status": "pending"}}}`},
		{"ecs:runTask", "$.Failures[0].Reason", `{"Failures": []}`},
		{
			"appflow:describeFlowExecutionRecords", "$.FlowExecutions[0].ExecutionStatus, $.FlowExecutions[0].ExecutionResult.ErrorInfo.ExecutionMessage",
			`{"FlowExecutions": [{"ExecutionStatus": "InProgress", "ExecutionResult": {}}]}`,
		},
	} {
		t.Run(c.resource, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse(fmt.Appendf(nil, `{"StartAt": "A", "States": {"A": {"Type": "Task",
				"Resource": "arn:aws:states:::aws-sdk:%s", "Parameters": {}, "Next": "B"},
				"B": {"Type": "Pass", "Parameters": {"x.$": "States.Array(%s)"}, "End": true}}}`, c.resource, c.reads))
			require.NoError(t, err)
			plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
			require.NoError(t, err)
			text, err := plan.JSON()
			require.NoError(t, err)
			var file map[string]struct {
				Return json.RawMessage `json:"return"`
			}
			require.NoError(t, json.Unmarshal(text, &file))
			require.JSONEq(t, c.want, string(file["A"].Return), string(text))
		})
	}
}

// The catalogue's jobs have no code of a failure either before one, where a member is called so.
func TestCodesComeAfterFailures(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:inspector2:getSbomExport",
		"Parameters": {"ReportId": "1"}, "Next": "B"}, "B": {"Type": "Pass", "Parameters": {"x.$": "$.ErrorCode"}, "End": true}}}`))
	require.NoError(t, err)
	for ends, want := range map[string]bool{"SUCCEEDED": false, "FAILED": true} {
		plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute), Ends: ends}}})
		require.NoError(t, err)
		text, err := plan.JSON()
		require.NoError(t, err)
		require.Equal(t, want, strings.Contains(string(text), `"ErrorCode"`), string(text))
	}
}
