package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// Iterations that run at the same time take as long as the slowest.
func Example_map() {
	type payload map[string]string
	s := simtest.New(t, `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "MaxConcurrency": 2, "End": true, "ItemProcessor": {
	  "StartAt": "Work", "States": {"Work": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"},
	  "OutputPath": "$.Payload", "End": true}}}}}}`)
	s.On("Work").Return(payload{"Payload": "slow"}).After(time.Minute).Return(payload{"Payload": "fast"}).After(time.Second)

	r := s.Run([]int{1, 2, 3}).RequireOutput([]string{"slow", "fast", "fast"}).RequireVisits("Work", 3)
	fmt.Println(r.Duration(), len(s.On("Work").Calls()))
	// Output: 1m0s 3
}
