package anystore_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// The table that the environment names keeps the start records.
func ExampleOpen() {
	environment := jobs.Environment{
		AWS: aws.Config{Region: "eu-west-1"}, Prefix: "executions",
		Getenv: func(name string) string { return map[string]string{handler.EnvTable: "records"}[name] },
	}
	store, err := anystore.Open(environment)
	if err != nil {
		panic(err)
	}
	fmt.Println(store.Location(startrecord.Key{ExecutionARN: "arn:aws:states:eu-west-1:123456789012:execution:Nightly:1", Poller: "Export"}))
	// Output: dynamodb://records/executions/arn:aws:states:eu-west-1:123456789012:execution:Nightly:1/Export/_/record.json
}
