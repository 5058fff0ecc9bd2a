package jobs_test

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/athena"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// A driver reads the arguments of a request as the input of an SDK operation. What
// is wrong is told at once, and means that nothing was started.
func ExampleArguments() {
	text := json.RawMessage(`{"QueryString": "SELECT 1", "WorkGrop": "primary"}`)
	_, err := jobs.Arguments[athena.StartQueryExecutionInput]("athena:StartQueryExecution", text,
		jobs.Require("QueryString"), jobs.Reserve("ClientRequestToken"))
	fmt.Println(err)
	fmt.Println(goerror.Classify(err))
	// Output:
	// invalid job arguments of athena:StartQueryExecution: 1:29: /WorkGrop: the object of arguments has no member "WorkGrop" (did you mean "WorkGroup"?)
	//   | {"QueryString": "SELECT 1", "WorkGrop": "primary"}
	//   |                             ^
	// refused
}
