package fix_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A loop that waits for something else than the job that the machine starts stays.
func TestLoopOfAnotherJob(t *testing.T) {
	t.Parallel()
	const text = `{"QueryLanguage": "JSONata", "StartAt": "Change", "States": {
		"Change": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:lambda:updateFunctionCode", "Arguments": {"FunctionName": "f", "S3Bucket": "b", "S3Key": "k"}, "Next": "Pause"},
		"Pause": {"Type": "Wait", "Seconds": 5, "Next": "Look"},
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:lambda:getFunctionConfiguration", "Arguments": {"FunctionName": "f"}, "Assign": {"all": "{% $states.result %}"}, "Next": "Is it?"},
		"Is it?": {"Type": "Choice", "Choices": [{"Condition": "{% $all.State = 'Active' %}", "Next": "Good"}, {"Condition": "{% $all.State = 'Failed' %}", "Next": "Bad"}], "Default": "Pause"},
		"Good": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:lambda:publishVersion", "Arguments": {"FunctionName": "f"}, "End": true}, "Bad": {"Type": "Fail", "Error": "Bad"}}}`
	loops := loopsOf(t, text)
	require.Len(t, loops, 1)
	// The State is Active while an update goes on.
	require.Contains(t, loops[0].Refused, `a job that still runs at poll 1 leads to "Good" there`)
}
