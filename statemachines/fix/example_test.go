package fix_test

import (
	"context"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

// A loop that does not know the status CANCELLED becomes one that does.
func ExampleApply() {
	text, loops, err := fix.Apply(context.Background(), []byte(`{
  "StartAt": "Get",
  "States": {
    "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
    "Get": {
      "Type": "Task",
      "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.id"},
      "ResultPath": "$.query",
      "Next": "Done?"
    },
    "Done?": {
      "Type": "Choice",
      "Choices": [
        {"Variable": "$.query.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Report"},
        {"Variable": "$.query.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Failed"}
      ],
      "Default": "Wait"
    },
    "Report": {"Type": "Succeed"},
    "Failed": {"Type": "Fail"}
  }
}`), fix.Options{Models: models.Load})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(text) > 0)
	for _, r := range loops[0].Routes[:3] {
		fmt.Printf("%s: %q, then %q\n", r.Status, r.Before, r.After)
	}
	cancelled := loops[0].Trials[2]
	fmt.Printf("%s: $%.3f, then $%.3f\n", cancelled.Status, cancelled.Before.USD, cancelled.After.USD)
	// Output:
	// true
	// SUCCEEDED: "Report", then "Report"
	// FAILED: "Failed", then "Failed"
	// CANCELLED: "", then "Get failed"
	// CANCELLED: $0.208, then $0.003
}
