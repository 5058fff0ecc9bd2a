package simtest_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// The MockConfigFile.json of Step Functions Local, as it is.
func Example_mockFile() {
	s := simtest.New(t, `{"StartAt": "Describe", "States": {
	  "Describe": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": {"ExportArn": "arn"},
	    "Retry": [{"ErrorEquals": ["DynamoDb.DynamoDbException"]}], "Next": "Done?"},
	  "Done?": {"Type": "Choice", "Choices": [
	    {"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Done"}], "Default": "Wait"},
	  "Wait": {"Type": "Wait", "Seconds": 60, "Next": "Describe"},
	  "Done": {"Type": "Succeed"}}}`)

	s.MockFile("testdata/MockConfigFile.json", "Completes")
	r := s.Run(nil).RequireSucceeded().RequireAttempts("Describe", 4)
	fmt.Println(r.Duration())

	s.MockFile("testdata/MockConfigFile.json", "Unknown")
	fmt.Println(s.Run(nil).RequireFailed("DynamoDb.ExportNotFoundException").Cause)
	// Output:
	// 2m1s
	// no such export
}
