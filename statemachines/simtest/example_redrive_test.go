package simtest_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A redrive goes on with the state that failed.
func Example_redrive() {
	s := simtest.New(t, `{"StartAt": "Start", "States": {
	  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startJobRun", "Parameters": {"JobName": "j"}, "Next": "Get"},
	  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId": "r"}, "End": true}}}`)
	s.On("Start").Return(map[string]string{"JobRunId": "jr_1"}).Times(1)
	s.On("Get").Fail("Glue.GlueException", "down").Return(map[string]any{"JobRun": map[string]string{"Id": "jr_1"}})

	r := s.Run(nil).RequireFailed("Glue.GlueException")
	r = s.Redrive(r).RequireSucceeded().RequirePath("Start", "Get", "Get")
	fmt.Println(string(r.Output))
	// Output: {"JobRun":{"Id":"jr_1"}}
}
