// Command s3only is check-status with the S3 store and nothing else of AWS: the
// smallest function that the package handler makes.
package main

import (
	"context"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

func main() {
	handler.Serve((*handler.Handler).CheckStatus, handler.S3Store, func(jobs.Environment) (jobs.Driver, error) { return done{}, nil })
}

// done is a job that has ended when it is started.
type done struct{}

var waiter = pollcore.MustNew("Done", pollcore.Succeed(pollcore.Output("Done").IsTrue()))

func (done) Name() string                              { return "done:Do" }
func (done) Waiter() *pollcore.Waiter                  { return waiter }
func (done) Idempotency(jobs.Request) jobs.Idempotency { return jobs.Idempotency{Class: jobs.ByToken} }
func (done) Permissions() []access.Permission          { return nil }

func (done) Start(context.Context, jobs.Request) (jobs.Ref, error) { return jobs.Ref{}, nil }

func (done) Describe(context.Context, jobs.Ref) (any, error) {
	return map[string]any{"Done": true}, nil
}
