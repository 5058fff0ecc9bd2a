// Command checkstatus is the Lambda function that says whether a job has ended.
// Its behaviour and its environment variables are those of lambdas/poller.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsapi"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
)

func main() {
	poller.Serve((*poller.Poller).CheckStatus, anystore.Open, append(builtin.Drivers(), awsapi.Catalogue)...)
}
