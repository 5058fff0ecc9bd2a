package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A poll loop that finds the export done at the fourth look. In a test, t is
// the *testing.T.
func Example() {
	s := simtest.New(t, `{
	  "StartAt": "Wait",
	  "States": {
	    "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Describe"},
	    "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
	      "Parameters": {"ExportArn.$": "$.ExportDescription.ExportArn"}, "Next": "Done?"},
	    "Done?": {"Type": "Choice", "Choices": [
	      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Done"},
	      {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "IN_PROGRESS", "Next": "Wait"}], "Default": "Failed"},
	    "Done": {"Type": "Succeed"},
	    "Failed": {"Type": "Fail", "Error": "ExportFailed"}
	  }
	}`)
	status := func(status string) map[string]any {
		return map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status}}
	}
	s.On("Describe").Return(status("IN_PROGRESS")).Times(3).Return(status("COMPLETED"))

	r := s.Run(status("IN_PROGRESS")).
		RequireSucceeded().
		RequireElapsed(2*time.Minute).
		RequireAttempts("Describe", 4).
		RequirePath(simtest.Join(simtest.Loop(4, "Wait", "Describe", "Done?"), []string{"Done"})...)
	fmt.Println(r.Status, r.Duration(), r.Transitions)
	// Output: SUCCEEDED 2m0s 13
}
