// Command example is a run-job function with a driver of its own beside those
// that are built in. docs/drivers.md shows it.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
)

func main() {
	p, err := poller.FromEnvironment(anystore.Open, append(builtin.Drivers(), newDeployment)...)
	if err != nil {
		log.Fatal(err)
	}
	log.SetOutput(poller.RuntimeLog(os.Stderr)) // keeps what jobs say out of the log
	lambda.Start(p.RunJob)
}
