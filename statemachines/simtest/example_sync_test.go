package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A ".sync" Task: the request is answered at once, the job an hour later.
func Example_sync() {
	s := simtest.New(t, `{"StartAt": "Run", "States": {"Run": {
	  "Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "Parameters": {"JobName": "nightly"}, "End": true}}}`)
	s.On("Run").
		Return(map[string]string{"JobRunState": "SUCCEEDED"}).After(time.Hour).Submit(map[string]string{"JobRunId": "jr_1"}).
		Fail("States.TaskFailed", `{"JobRunState": "FAILED"}`).After(time.Minute).Submit(map[string]string{"JobRunId": "jr_2"})

	fmt.Println(string(s.Run(nil).RequireElapsed(time.Hour).Output))
	fmt.Println(s.Run(nil).RequireElapsed(time.Minute).Cause)
	// Output:
	// {"JobRunState":"SUCCEEDED"}
	// {"JobRunState": "FAILED"}
}
