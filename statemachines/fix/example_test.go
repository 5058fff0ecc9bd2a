package fix_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/source"
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
	// CANCELLED: "", then "Failed"
	// CANCELLED: $0.208, then $0.003
}

// A rule for CANCELLED is the smallest edit that lets the loop end then.
func ExampleRepairFile() {
	file := []byte(`{
  "StartAt": "Get",
  "TimeoutSeconds": 7200,
  "States": {
    "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
    "Get": {
      "Type": "Task",
      "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
      "Parameters": {"QueryExecutionId.$": "$.id"},
      "ResultPath": "$.query",
      "Retry": [{"ErrorEquals": ["States.TaskFailed"]}],
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
    "Failed": {"Type": "Fail", "Error": "QueryFailed"}
  }
}
`)
	ctx := context.Background()
	read := func(file []byte) (*source.Definition, error) {
		return source.LoadOne(ctx, "-", source.Options{Stdin: bytes.NewReader(file)})
	}
	_, repairs, err := fix.RepairFile(ctx, file, read, fix.RepairOptions{Sure: true, Models: models.Load})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range repairs {
		fmt.Printf("%s (%s): %s\n", r.Name(), r.Class, r.About)
		fmt.Printf("%s %s\n%s\n", r.Edits[0].Op, r.Edits[0].At, r.Edits[0].Value)
	}
	// Output:
	// status-polls-on@Done? (sure): status CANCELLED: polls on until TimeoutSeconds -> fails QueryFailed
	// before /States/Done?/Choices/1
	// {"Variable": "$.query.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Failed"}
}
