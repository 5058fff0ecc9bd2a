package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// The first branch that fails ends the others.
func Example_parallel() {
	s := simtest.New(t, `{"StartAt": "Both", "States": {
	  "Both": {"Type": "Parallel", "Next": "Done", "Branches": [
	    {"StartAt": "Slow", "States": {"Slow": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:work", "Parameters": {"FunctionName": "work"}, "End": true}}},
	    {"StartAt": "Quick", "States": {"Quick": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:work", "Parameters": {"FunctionName": "work"}, "End": true}}}]},
	  "Done": {"Type": "Succeed"}}}`)
	s.On("Slow").Return("slow").After(time.Hour)
	s.On("Quick").Return("quick").After(time.Second).Fail("Broken", "").After(time.Minute)

	s.Run(nil).RequireOutput([]string{"slow", "quick"}).RequireElapsed(time.Hour)
	r := s.Run(nil).RequireFailed("Broken").RequirePath("Both", "Slow", "Quick")
	fmt.Println(r.Duration())
	// Output: 1m0s
}
