// Command checkstatus is the Lambda function that says whether a job has ended.
// Its behaviour and its environment variables are those of lambdas/handler.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func main() {
	handler.Serve((*handler.Handler).CheckStatus, anystore.Open, builtin.Drivers()...)
}
