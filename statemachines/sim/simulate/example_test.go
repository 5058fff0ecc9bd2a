package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// A crawler runs for 12 minutes and fails, without a mock.
func Example() {
	m, err := asl.Parse([]byte(`{
	  "StartAt": "Crawl",
	  "States": {
	    "Crawl": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Parameters": {"Name": "c"}, "Next": "Wait"},
	    "Wait": {"Type": "Wait", "Seconds": 60, "Next": "Get"},
	    "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "c"}, "Next": "Done?"},
	    "Done?": {
	      "Type": "Choice",
	      "Choices": [{"Variable": "$.Crawler.State", "StringEquals": "RUNNING", "Next": "Wait"}],
	      "Default": "End"
	    },
	    "End": {"Type": "Pass", "InputPath": "$.Crawler.LastCrawl.Status", "End": true}
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := simulate.New(m, simulate.Options{
		Specs: []simulate.Spec{{Spread: mock.Exactly(12 * time.Minute), Ends: "FAILED"}}, Models: models.Load,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mocks, err := plan.Mocks()
	if err != nil {
		fmt.Println(err)
		return
	}
	var o sim.Options
	if err := mocks.Apply(m, "", &o); err != nil {
		fmt.Println(err)
		return
	}
	result, err := sim.Run(context.Background(), m, nil, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Jobs, result.Status, result.Duration(), string(result.Output))
	// Output: [glue StartCrawler] SUCCEEDED 12m0s "FAILED"
}
