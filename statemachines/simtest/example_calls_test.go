package simtest_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// What a Task was called with.
func Example_calls() {
	s := simtest.New(t, `{"StartAt": "Start", "States": {"Start": {
	  "Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
	  "Parameters": {"QueryString.$": "$.sql", "ClientRequestToken.$": "$$.Execution.Name"}, "End": true}}}`)
	s.On("arn:aws:states:::aws-sdk:athena:startQueryExecution").Return(map[string]string{"QueryExecutionId": "q-1"})

	s.Run(`{"sql": "SELECT 1"}`).RequireSucceeded()
	for _, call := range s.Calls("Start") {
		fmt.Println(call.Arguments)
	}
	// Output: map[ClientRequestToken:execution-1 QueryString:SELECT 1]
}
