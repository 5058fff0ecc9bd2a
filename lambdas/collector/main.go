// Command collector is the Lambda function that answers Tasks which wait for a callback,
// once their jobs have ended. Its behaviour and its environment variables are those of
// lambdas/handler.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func main() {
	handler.Serve((*handler.Handler).Collect, anystore.Open, builtin.Drivers()...)
}
