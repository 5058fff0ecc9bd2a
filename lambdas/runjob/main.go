// Command runjob is the Lambda function that starts a job at most once for each execution.
// Its behaviour and its environment variables are those of lambdas/handler.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func main() {
	handler.Serve((*handler.Handler).RunJob, anystore.Open, builtin.Drivers()...)
}
