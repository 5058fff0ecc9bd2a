package typecheck_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

func ExampleFindAPI() {
	api, err := typecheck.FindAPI("arn:aws:states:::aws-sdk:glue:startJobRun", models.Load)
	if err != nil {
		panic(err)
	}
	fmt.Println(api.Input.Name, api.Output.Name)
	for _, problem := range api.CheckArguments(map[string]any{"JobNam": "nightly"}) {
		fmt.Println(problem)
	}
	fmt.Println(api.CheckResult(map[string]any{"JobRunId": true}, true))
	// Output:
	// StartJobRunRequest StartJobRunResponse
	// The field "JobNam" is not supported by Step Functions
	// Mock result schema validation error: Field 'JobRunId' must be a string
}
