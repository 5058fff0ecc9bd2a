// Command runjob is the Lambda function that starts a job at most once for each execution.
// Its behaviour and its environment variables are those of lambdas/poller.
package main

import (
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
)

func main() {
	p, err := poller.FromEnvironment(anystore.Open, append(builtin.Drivers(), awsapi.Catalogue)...)
	if err != nil {
		log.Fatalf("runjob: %v", err)
	}
	log.SetOutput(poller.RuntimeLog(os.Stderr)) // keeps what jobs say out of the log
	lambda.Start(p.RunJob)
}
