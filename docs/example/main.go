// Command example is a run-job function with a driver of its own beside those
// that are built in. docs/guide/drivers.md shows it.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func main() {
	handler.Serve((*handler.Handler).RunJob, anystore.Open, append(builtin.Drivers(), newDeployment)...)
}
