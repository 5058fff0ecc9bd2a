package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a table lacks is not there, and $exists says so of a member that $merge keeps.
func TestTablesAndWhatIsNotThere(t *testing.T) {
	t.Parallel()
	m, c := check(t, `{"QueryLanguage": "JSONata", "StartAt": "W", "States": {
		"W": {"Type": "Pass", "Output": {"a": 1}, "Next": "P"},
		"P": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"},
			"Output": "{% $merge([$states.input, {'end': $lookup({'SUCCEEDED': 'well', 'FAILED': 'badly'}, $states.result.QueryExecution.Status.State)}]) %}", "Next": "C"},
		"C": {"Type": "Choice", "Choices": [{"Condition": "{% $exists($states.input.end) %}", "Next": "E"}], "Default": "P"},
		"E": {"Type": "Succeed"}}}`)
	ends, known := c.Input(m.Flow.State("E")).Input.Member("end").Literals()
	require.True(t, known)
	require.ElementsMatch(t, []string{"well", "badly"}, ends)
	require.Equal(t, "missing", c.Input(m.Flow.State("P")).Input.Member("end").Dump())
}
