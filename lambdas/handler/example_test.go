package handler_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
)

// RunJob starts a job, and CheckStatus finds it running. A Lambda function calls
// Serve instead, which takes store and drivers from its environment.
func Example() {
	waiter := pollcore.MustNew("Exported", pollcore.Succeed(pollcore.Output("Status").Is("COMPLETED")))
	registry, err := jobs.NewRegistry(&export{waiter: waiter, output: map[string]any{"Status": "IN_PROGRESS"}})
	if err != nil {
		panic(err)
	}
	h, err := handler.New(handler.Config{Store: memstore.New(nil), Jobs: registry})
	if err != nil {
		panic(err)
	}
	event := json.RawMessage(bare(`{"job": "dynamodb:ExportTableToPointInTime", "maxWaitSeconds": 7200}`))
	for _, function := range []func(context.Context, json.RawMessage) (*handler.Result, error){h.RunJob, h.CheckStatus} {
		result, err := function(context.Background(), event)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Status, result.Reason)
	}
	// Output:
	// RUNNING the job has started
	// RUNNING no acceptor matched: Status = "IN_PROGRESS"
}
