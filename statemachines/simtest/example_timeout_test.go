package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A Task that never answers runs into its timeout.
func Example_timeout() {
	s := simtest.New(t, `{"StartAt": "Work", "States": {
	  "Work": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "TimeoutSeconds": 300,
	    "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}], "End": true},
	  "Late": {"Type": "Succeed"}}}`)
	s.On("Work").Never()

	r := s.Run(nil).RequirePath("Work", "Late").RequireElapsed(5 * time.Minute)
	fmt.Println(r.Status)
	// Output: SUCCEEDED
}
