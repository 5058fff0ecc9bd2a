package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// One state alone: what it sends on, and which retrier or catcher takes its
// failure.
func ExampleState() {
	const definition = `{"StartAt": "Get", "States": {
	  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun",
	    "Parameters": {"JobName": "nightly", "RunId.$": "$.id"}, "ResultSelector": {"state.$": "$.JobRun.JobRunState"},
	    "Retry": [{"ErrorEquals": ["Glue.GlueException"], "IntervalSeconds": 2, "MaxAttempts": 3}],
	    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}], "Next": "Done?"},
	  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.state", "StringEquals": "SUCCEEDED", "Next": "Done"}], "Default": "Get"},
	  "Done": {"Type": "Succeed"}, "Failed": {"Type": "Fail"}}}`
	const input = `{"id": "jr_1"}`

	get := simtest.State(t, definition, "Get")
	get.Return(map[string]any{"JobRun": map[string]any{"JobRunState": "RUNNING"}}).Run(input).
		RequireNext("Done?").
		RequireOutput(`{"state": "RUNNING"}`)

	get.Fail("Glue.GlueException", "Rate exceeded").Run(input).RequireRetried(2 * time.Second)
	get.Options.RetrierRetryCount = 3
	r := get.Run(input).RequireCaught("Failed")
	fmt.Println(r.Error, r.Next, string(r.Output))

	simtest.State(t, definition, "Done?").Run(`{"state": "SUCCEEDED"}`).RequireNext("Done")
	// Output: Glue.GlueException Failed {"Cause":"Rate exceeded","Error":"Glue.GlueException"}
}
