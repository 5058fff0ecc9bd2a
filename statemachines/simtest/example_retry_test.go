package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// Two throttled calls are retried after 1 and 2 seconds.
func Example_retry() {
	s := simtest.New(t, `{"StartAt": "Describe", "States": {"Describe": {
	  "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport", "End": true,
	  "Retry": [{"ErrorEquals": ["DynamoDb.DynamoDbException"], "IntervalSeconds": 1, "BackoffRate": 2, "MaxAttempts": 3}]}}}`)
	s.On("Describe").Throttle().Times(2).Return("done").After(200 * time.Millisecond)

	r := s.Run(nil).RequireSucceeded().RequireAttempts("Describe", 3)
	fmt.Println(r.Elapsed())
	fmt.Print(r.Trace())
	// Output:
	// 3.2s
	//    +0:00:00.000  ExecutionStarted         < {}
	//    +0:00:00.000  TaskStateEntered         Describe < {}
	//    +0:00:00.000  TaskScheduled            describeExport < {}
	//    +0:00:00.000  TaskStarted              describeExport
	//    +0:00:00.000  TaskFailed               describeExport "DynamoDb.DynamoDbException": Rate exceeded (Service: DynamoDb, Status Code: 400)
	//    +0:00:01.000  TaskScheduled            describeExport < {}
	//    +0:00:01.000  TaskStarted              describeExport
	//    +0:00:01.000  TaskFailed               describeExport "DynamoDb.DynamoDbException": Rate exceeded (Service: DynamoDb, Status Code: 400)
	//    +0:00:03.000  TaskScheduled            describeExport < {}
	//    +0:00:03.000  TaskStarted              describeExport
	//    +0:00:03.200  TaskSucceeded            describeExport > "done"
	//    +0:00:03.200  TaskStateExited          Describe > "done"
	//    +0:00:03.200  ExecutionSucceeded       > "done"
}
