package mock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// A simulated job that runs for a minute answers the calls of a poll loop.
func Example() {
	m, err := asl.Parse([]byte(`{"StartAt": "Wait", "States": {
	  "Wait": {"Type": "Wait", "Seconds": 25, "Next": "Get"},
	  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "c"}, "Next": "Done?"},
	  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.State", "StringEquals": "READY", "Next": "Done"}], "Default": "Wait"},
	  "Done": {"Type": "Succeed"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	job := &mock.Job{Runs: time.Minute, Status: "State", Running: "RUNNING", Ends: "READY"}
	r, err := sim.Run(context.Background(), m, nil, sim.Options{StateHandlers: map[string]sim.Handler{"Get": job.Describe}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Status, r.Duration(), r.Calls["Get"], "polls")
	// Output: SUCCEEDED 1m40s 4 polls
}
