// Command runjob is the Lambda function that starts a job at most once for each execution.
// Its behaviour and its environment variables are those of lambdas/poller.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
)

func main() {
	poller.Serve((*poller.Poller).RunJob, anystore.Open, append(builtin.Drivers(), awsapi.Catalogue)...)
}
