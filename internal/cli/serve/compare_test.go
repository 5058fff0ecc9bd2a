package serve

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

func TestCompareStrategies(t *testing.T) {
	t.Parallel()
	const definition = `{"QueryLanguage": "JSONata", "StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Next": "Done?",
			"Arguments": {"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1"}},
		"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.ExportDescription.ExportStatus = 'COMPLETED' %}", "Next": "Ready"}], "Default": "Wait"},
		"Ready": {"Type": "Succeed"}}}`
	trials := compareStrategies(t.Context(), page.Comparison{Definition: definition, Task: "Get", Runs: 10 * time.Minute})
	names := []string{}
	for _, trial := range trials {
		names = append(names, trial.Name)
		require.Positive(t, trial.Calls, trial.Name)
		require.Positive(t, trial.Transitions, trial.Name)
	}
	require.Equal(t, []string{"this loop", "variables", "retry-task"}, names, "the loop is in JSONata, and DynamoDB has no .sync")
	require.Less(t, trials[2].Transitions, trials[0].Transitions)
	require.Empty(t, compareStrategies(t.Context(), page.Comparison{Definition: "{", Task: "Get", Runs: time.Minute}))
	require.Empty(t, compareStrategies(t.Context(), page.Comparison{Definition: definition, Task: "Ready", Runs: time.Minute}))
}
