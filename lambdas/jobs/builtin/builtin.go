// Package builtin lists the drivers that the shipped Lambda functions have
// besides those of the catalogue, which are awsjob's.
package builtin

import (
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/athenaquery"
	"github.com/jobpoller/jobpoller/lambdas/jobs/dynamodbexport"
	"github.com/jobpoller/jobpoller/lambdas/jobs/gluejob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/redshiftdata"
	"github.com/jobpoller/jobpoller/lambdas/jobs/sfnexecution"
	"github.com/jobpoller/jobpoller/lambdas/jobs/transcribejob"
)

// Drivers returns the makers of all built-in drivers.
func Drivers() []jobs.Maker {
	return []jobs.Maker{
		athenaquery.FromEnvironment,
		dynamodbexport.FromEnvironment,
		gluejob.FromEnvironment,
		httpjob.FromEnvironment,
		lambdajob.FromEnvironment,
		redshiftdata.FromEnvironment,
		sfnexecution.FromEnvironment,
		transcribejob.FromEnvironment,
	}
}
