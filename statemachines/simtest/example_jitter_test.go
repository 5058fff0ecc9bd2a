package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// The same seed gives the same jitter.
func Example_jitter() {
	s := simtest.New(t, `{"StartAt": "Get", "States": {"Get": {
	  "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"}, "End": true,
	  "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 10, "BackoffRate": 1, "MaxAttempts": 5, "JitterStrategy": "FULL"}]}}}`)
	s.On("Get").Throttle()

	var elapsed []time.Duration
	for _, seed := range []uint64{1, 1, 2} {
		s.Options.Seed = seed
		r := s.Run(nil).RequireFailed("Lambda.TooManyRequestsException").RequireElapsedBetween(0, 50*time.Second)
		elapsed = append(elapsed, r.Duration())
	}
	fmt.Println(elapsed[0] == elapsed[1], elapsed[0] == elapsed[2])
	// Output: true false
}
