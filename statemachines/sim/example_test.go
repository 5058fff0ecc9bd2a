package sim_test

import (
	"context"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// An hour of polling takes no time: the export completes after 50 minutes,
// and the loop looks once a minute.
func ExampleRun() {
	machine, err := asl.Parse([]byte(`{
	  "StartAt": "Wait",
	  "States": {
	    "Wait": {"Type": "Wait", "Seconds": 60, "Next": "DescribeExport"},
	    "DescribeExport": {
	      "Type": "Task",
	      "Resource": "arn:aws:states:::aws-sdk:dynamodb:describeExport",
	      "Parameters": {"ExportArn.$": "$.ExportDescription.ExportArn"},
	      "Next": "Done?"
	    },
	    "Done?": {
	      "Type": "Choice",
	      "Choices": [{"Variable": "$.ExportDescription.ExportStatus", "StringEquals": "COMPLETED", "Next": "Done"}],
	      "Default": "Wait"
	    },
	    "Done": {"Type": "Succeed"}
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}

	clock := sim.NewVirtualClock(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC))
	status := "IN_PROGRESS"
	clock.AfterFunc(50*time.Minute, func() { status = "COMPLETED" })
	describeExport := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		arn := call.Arguments.(map[string]any)["ExportArn"]
		output := map[string]any{"ExportDescription": map[string]any{"ExportArn": arn, "ExportStatus": status}}
		return sim.Reply{Output: output, Latency: 200 * time.Millisecond}, nil
	}

	result, err := sim.Run(context.Background(), machine, []byte(`{"ExportDescription": {"ExportArn": "arn:export"}}`), sim.Options{
		Clock:    clock,
		Handlers: map[string]sim.Handler{"arn:aws:states:::aws-sdk:dynamodb:describeExport": describeExport},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, "after", result.Duration())
	fmt.Println(string(result.Output))
	fmt.Printf("%d transitions, $%.6f, %d events\n", result.Transitions, result.CostUSD(), len(result.Events))
	// Output:
	// SUCCEEDED after 50m10s
	// {"ExportDescription":{"ExportArn":"arn:export","ExportStatus":"COMPLETED"}}
	// 151 transitions, $0.003775, 454 events
}
