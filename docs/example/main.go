// Command example is a run-job function with a driver of its own beside those
// that are built in. docs/drivers.md shows it.
package main

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/lambdas/poller/anystore"
)

func main() {
	poller.Serve((*poller.Poller).RunJob, anystore.Open, append(builtin.Drivers(), newDeployment)...)
}
