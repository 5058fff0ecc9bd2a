// Package builtin lists the drivers that the shipped Lambda functions have.
package builtin

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
)

// Drivers returns the makers of all built-in drivers.
func Drivers() []jobs.Maker {
	return []jobs.Maker{
		dynamodbexport.FromEnvironment,
		lambdajob.FromEnvironment,
	}
}
