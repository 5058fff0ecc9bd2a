package trial_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

const query = `{"StartAt": "Start", "States": {
  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
    "Parameters": {"QueryString": "SELECT 1"}, "ResultPath": "$.s", "Next": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution",
    "Parameters": {"QueryExecutionId.$": "$.s.QueryExecutionId"}, "ResultPath": "$.r", "Next": "Done?"},
  "Done?": {"Type": "Choice", "Default": "Pause", "Choices": [
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Tell"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"}]},
  "Tell": {"Type": "Task", "Resource": "arn:aws:states:::sns:publish",
    "Parameters": {"TopicArn": "arn:aws:sns:us-east-1:123456789012:ops", "Message": "it failed"}, "ResultPath": "$.t", "Next": "Bad"},
  "Bad": {"Type": "Fail", "Error": "QueryFailed", "Cause": "the query failed"},
  "Good": {"Type": "Succeed"}}}`

// A rule for another status changes the runs in which the job has it, and no other.
func ExampleCompare() {
	before, err := asl.Parse([]byte(query))
	if err != nil {
		log.Fatal(err)
	}
	rule := `{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Tell"},`
	after, err := asl.Parse([]byte(strings.Replace(query, `"Choices": [`, `"Choices": [`+rule, 1)))
	if err != nil {
		log.Fatal(err)
	}
	report, err := trial.Compare(context.Background(), before, after, trial.Options{Models: models.Load})
	if err != nil {
		log.Fatal(err)
	}
	frame := trial.Kind{Task: "Look", Sort: trial.Status, Value: "CANCELLED"}
	fmt.Println(len(report.Outside(frame)), "differences outside of the frame")
	run := report.Outside()[0]
	fmt.Println(run.Script)
	fmt.Println(run.Before)
	fmt.Println(run.After)
	// Output:
	// 0 differences outside of the frame
	// status CANCELLED at "Look"
	// POLLS_ON after 1m30s and 3 polls
	// FAILED QueryFailed after 30s and 1 polls
}
