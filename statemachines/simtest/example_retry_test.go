package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// Two throttled calls are retried after 1 and 2 seconds.
func Example_retry() {
	s := simtest.New(t, `{"StartAt": "Describe", "States": {"Describe": {
	  "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "Parameters": {"ExportArn": "e"}, "End": true,
	  "Retry": [{"ErrorEquals": ["DynamoDb.DynamoDbException"], "IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 3}]}}}`)
	s.On("Describe").Throttle().Times(2).Return(map[string]any{"ExportDescription": map[string]string{"ExportStatus": "COMPLETED"}}).After(200 * time.Millisecond)

	r := s.Run(nil).RequireSucceeded().RequireAttempts("Describe", 3)
	fmt.Println(r.Duration())
	for _, e := range r.Events {
		if e.Type == sim.TaskFailed {
			fmt.Println(e.Timestamp.Sub(r.Start), e.Details().Error)
		}
	}
	// Output:
	// 3.2s
	// 0s DynamoDb.DynamoDbException
	// 1s DynamoDb.DynamoDbException
}
