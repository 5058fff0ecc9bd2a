// Package gluejob drives runs of AWS Glue jobs.
package gluejob

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	"github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "glue:StartJobRun"

// waiter polls no sooner than a run can have begun.
var waiter = pollcore.MustNew("JobRunEnded",
	pollcore.Succeed(pollcore.Output("JobRun.JobRunState").Is("SUCCEEDED")),
	failed("FAILED"), failed("ERROR"), failed("TIMEOUT"), failed("STOPPED"),
	failed("EXPIRED"), // it waited too long for resources
	pollcore.Delay(15*time.Second, 2*time.Minute))

func failed(state string) pollcore.Option {
	return pollcore.FailWithMessage(pollcore.Output("JobRun.JobRunState").Is(state), "JobRun.ErrorMessage")
}

// Client is the part of the Glue client that the driver calls.
type Client interface {
	StartJobRun(context.Context, *glue.StartJobRunInput, ...func(*glue.Options)) (*glue.StartJobRunOutput, error)
	GetJobRun(context.Context, *glue.GetJobRunInput, ...func(*glue.Options)) (*glue.GetJobRunOutput, error)
	BatchStopJobRun(context.Context, *glue.BatchStopJobRunInput, ...func(*glue.Options)) (*glue.BatchStopJobRunOutput, error)
}

// Driver starts, describes and stops job runs. Its arguments are the members of
// StartJobRun.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(glue.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver: StartJobRun takes no token, and a run has
// no name of the caller's. Its JobRunId is that of a run to be repeated.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.NoProtection}
}

// Permissions implements jobs.Driver. A run acts with the job's own role.
func (*Driver) Permissions() []jobs.Permission {
	const job = "arn:${Partition}:glue:${Region}:${Account}:job/${JobName}"
	return []jobs.Permission{
		{Action: "glue:StartJobRun", For: jobs.MethodStart, Resource: job},
		{Action: "glue:GetJobRun", For: jobs.MethodDescribe, Resource: job},
		{Action: "glue:BatchStopJobRun", For: jobs.MethodStop, Resource: job},
		{Action: "glue:GetJobRun", For: jobs.MethodStop, Resource: job},
	}
}

// Start implements jobs.Driver.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[glue.StartJobRunInput](Name, r.Arguments, jobs.Required("JobName"))
	if err != nil {
		return nil, err
	}
	out, err := d.client.StartJobRun(ctx, in, once)
	if err != nil {
		return nil, err
	}
	if out.JobRunId == nil {
		return nil, fmt.Errorf("%s returned no JobRunId", Name)
	}
	return jobs.Ref{"JobName": *in.JobName, "RunId": *out.JobRunId}, nil
}

// once keeps the client from repeating a call: a second start is a second run.
func once(o *glue.Options) { o.Retryer = aws.NopRetryer{} }

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.GetJobRun)(ctx, ref)
}

// Stop implements jobs.Stopper.
func (d *Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	out, err := d.client.BatchStopJobRun(ctx, &glue.BatchStopJobRunInput{JobName: aws.String(ref["JobName"]), JobRunIds: []string{ref["RunId"]}})
	if err == nil {
		err = refusal(out.Errors)
	}
	return jobs.StopResult(ctx, d, ref, err)
}

// refusal is the error of a batch of one, which succeeds whatever becomes of
// its members.
func refusal(members []types.BatchStopJobRunError) error {
	if len(members) == 0 {
		return nil
	}
	err := &smithy.GenericAPIError{Code: "Unknown", Message: "the run could not be stopped", Fault: smithy.FaultClient}
	if detail := members[0].ErrorDetail; detail != nil {
		err.Code, err.Message = aws.ToString(detail.ErrorCode), aws.ToString(detail.ErrorMessage)
	}
	return err
}
