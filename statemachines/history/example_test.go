package history_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// What a history says of the job that its Tasks poll.
func Example() {
	e, err := history.Read([]byte(`{"events": [
		{"id": 1, "type": "TaskStateEntered", "timestamp": "2026-01-01T00:00:00Z", "stateEnteredEventDetails": {"name": "Get"}},
		{"id": 2, "previousEventId": 1, "type": "TaskScheduled", "timestamp": "2026-01-01T00:00:00Z",
			"taskScheduledEventDetails": {"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": "{\"QueryExecutionId\": \"q\"}"}},
		{"id": 3, "previousEventId": 2, "type": "TaskSucceeded", "timestamp": "2026-01-01T00:00:01Z",
			"taskSucceededEventDetails": {"output": "{\"QueryExecution\": {\"Status\": {\"State\": \"RUNNING\"}}}"}},
		{"id": 4, "previousEventId": 3, "type": "TaskScheduled", "timestamp": "2026-01-01T00:00:05Z",
			"taskScheduledEventDetails": {"resourceType": "aws-sdk:athena", "resource": "getQueryExecution", "parameters": "{\"QueryExecutionId\": \"q\"}"}},
		{"id": 5, "previousEventId": 4, "type": "TaskSucceeded", "timestamp": "2026-01-01T00:00:06Z",
			"taskSucceededEventDetails": {"output": "{\"QueryExecution\": {\"Status\": {\"State\": \"CANCELLED\", \"CompletionDateTime\": \"2026-01-01T00:00:02Z\"}}}"}}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range e.FindJobs(e.FindVisits()) {
		fmt.Println(job.State, "polls", job.Operation)
		for _, c := range job.Changes() {
			fmt.Println(c.Status, c.Verdict)
		}
		late, _, _ := job.Lateness()
		fmt.Println(late, "late")
	}
	// Output:
	// Get polls athena:GetQueryExecution
	// RUNNING retry
	// CANCELLED failure
	// 4s late
}
