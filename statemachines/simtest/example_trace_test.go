package simtest_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// What happened, with virtual times. A Require that fails shows it too.
func Example_trace() {
	s := simtest.New(t, `{"StartAt": "Wait", "States": {
	  "Wait": {"Type": "Wait", "Seconds": 90, "Next": "Work"},
	  "Work": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage", "Parameters": {"QueueUrl": "q", "MessageBody.$": "$.n"}, "End": true}}}`)
	s.On("Work").Fail("SQS.AmazonSQSException", "no such queue")

	fmt.Print(s.Run(map[string]int{"n": 1}).Trace())
	// Output:
	//    +0:00:00.000  ExecutionStarted         < {"n":1}
	//    +0:00:00.000  WaitStateEntered         Wait < {"n":1}
	//    +0:01:30.000  WaitStateExited          Wait > {"n":1}
	//    +0:01:30.000  TaskStateEntered         Work < {"n":1}
	//    +0:01:30.000  TaskScheduled            sendMessage < {"MessageBody":1,"QueueUrl":"q"}
	//    +0:01:30.000  TaskStarted              sendMessage
	//    +0:01:30.000  TaskFailed               sendMessage "SQS.AmazonSQSException": no such queue
	//    +0:01:30.000  ExecutionFailed          "SQS.AmazonSQSException": no such queue
}
