package sim_test

import (
	"context"
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// One state alone: which retrier or catcher takes a failure, and what comes out
// of a result.
func ExampleTestState() {
	definition := []byte(`{
	  "Type": "Task",
	  "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun",
	  "Parameters": {"JobName": "nightly", "RunId.$": "$.id"},
	  "ResultSelector": {"state.$": "$.JobRun.JobRunState"},
	  "Retry": [{"ErrorEquals": ["Glue.GlueException"], "IntervalSeconds": 2, "MaxAttempts": 3}],
	  "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}],
	  "Next": "Done?"
	}`)
	input := []byte(`{"id": "jr_1"}`)
	test := func(o sim.TestOptions) *sim.TestResult {
		r, err := sim.TestState(context.Background(), definition, input, o)
		if err != nil {
			fmt.Println(err)
		}
		return r
	}

	r := test(sim.TestOptions{Mock: &sim.Mock{Result: map[string]any{"JobRun": map[string]any{"JobRunState": "RUNNING"}}}})
	fmt.Println(r.Status, r.Next, string(r.Output), string(r.Inspection["afterParameters"]))

	throttled := &sim.Mock{Error: &sim.TaskError{Name: "Glue.GlueException", Cause: "Rate exceeded"}}
	r = test(sim.TestOptions{Mock: throttled, RetrierRetryCount: 2})
	fmt.Println(r.Status, string(r.Inspection["errorDetails"]))
	r = test(sim.TestOptions{Mock: throttled, RetrierRetryCount: 3})
	fmt.Println(r.Status, r.Next, string(r.Output))
	// Output:
	// SUCCEEDED Done? {"state":"RUNNING"} {"JobName":"nightly","RunId":"jr_1"}
	// RETRIABLE {"retryBackoffIntervalSeconds":8,"retryIndex":0}
	// CAUGHT_ERROR Failed {"Cause":"Rate exceeded","Error":"Glue.GlueException"}
}
