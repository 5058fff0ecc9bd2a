// Command example is the functions run-job, check-status and collector with a driver
// of its own beside those that are built in. docs/guide/drivers.md shows it.
package main

import (
	"github.com/jobpoller/jobpoller/docs/example/deployment"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
)

func main() {
	handler.Main(anystore.Open, append(builtin.Drivers(), deployment.New)...)
}
