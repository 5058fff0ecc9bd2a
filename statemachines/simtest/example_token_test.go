package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A token comes back after two hours. Until then heartbeats do, in time; the
// second worker sends them too late.
func Example_token() {
	s := simtest.New(t, `{"StartAt": "Ask", "States": {"Ask": {
	  "Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "HeartbeatSeconds": 60,
	  "Parameters": {"QueueUrl": "queue", "MessageBody": {"token.$": "$$.Task.Token"}}, "End": true}}}`)
	s.On("Ask").
		Return("approved").After(2 * time.Hour).Heartbeats(50 * time.Second).
		Return("approved").After(2 * time.Hour).Heartbeats(70 * time.Second)

	s.Run(nil).RequireOutput(`"approved"`).RequireElapsed(2 * time.Hour)
	r := s.Run(nil).RequireFailed("States.Timeout").RequireElapsed(time.Minute)
	fmt.Println(r.Error)
	// Output: States.Timeout
}
