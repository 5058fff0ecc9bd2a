// Package builtin lists the drivers that the shipped Lambda functions have.
package builtin

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
)

// Drivers returns the makers of all built-in drivers: those of Lambda functions and
// of HTTP servers, and that of the catalogue's jobs.
func Drivers() []jobs.Maker {
	return []jobs.Maker{awsjob.Catalogue, httpjob.FromEnvironment, LambdaInvoke}
}
