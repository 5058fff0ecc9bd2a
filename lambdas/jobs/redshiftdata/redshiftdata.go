// Package redshiftdata drives SQL statements that the Amazon Redshift Data API
// runs.
package redshiftdata

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/redshiftdata"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "redshift-data:ExecuteStatement"

// tokenWindow is how long the Data API remembers a ClientToken, by the chapter
// on idempotency tokens of the Amazon Redshift Management Guide.
const tokenWindow = 8 * time.Hour

var waiter = pollcore.MustNew("StatementEnded",
	pollcore.Succeed(pollcore.Output("Status").Is("FINISHED")),
	pollcore.FailWithMessage(pollcore.Output("Status").Is("FAILED"), "Error"),
	pollcore.FailWithMessage(pollcore.Output("Status").Is("ABORTED"), "Error"))

// Client is the part of the Data API's client that the driver calls.
type Client interface {
	ExecuteStatement(
		context.Context, *redshiftdata.ExecuteStatementInput, ...func(*redshiftdata.Options),
	) (*redshiftdata.ExecuteStatementOutput, error)
	DescribeStatement(
		context.Context, *redshiftdata.DescribeStatementInput, ...func(*redshiftdata.Options),
	) (*redshiftdata.DescribeStatementOutput, error)
	CancelStatement(
		context.Context, *redshiftdata.CancelStatementInput, ...func(*redshiftdata.Options),
	) (*redshiftdata.CancelStatementOutput, error)
}

// Driver starts, describes and stops statements. Its arguments are the members
// of ExecuteStatement but for ClientToken, which it sets from the token.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(redshiftdata.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken, Window: tokenWindow}
}

// Permissions implements jobs.Driver. Which of the dependent ones a statement
// needs depends on how it logs in: with a secret, as a database user, or as the
// IAM identity, on a cluster or a serverless workgroup.
func (*Driver) Permissions() []jobs.Permission {
	const (
		cluster   = "arn:${Partition}:redshift:${Region}:${Account}:cluster:${ClusterName}"
		user      = "arn:${Partition}:redshift:${Region}:${Account}:dbuser:${ClusterName}/${DbUser}"
		database  = "arn:${Partition}:redshift:${Region}:${Account}:dbname:${ClusterName}/${DbName}"
		login     = "arn:${Partition}:secretsmanager:${Region}:${Account}:secret:${SecretId}"
		workgroup = "arn:${Partition}:redshift-serverless:${Region}:${Account}:workgroup/${WorkgroupId}"
	)
	return []jobs.Permission{
		{Action: "redshift-data:ExecuteStatement", For: jobs.MethodStart, Resource: cluster},
		{Action: "redshift-data:ExecuteStatement", For: jobs.MethodStart, Resource: workgroup},
		{Action: "redshift:GetClusterCredentials", For: jobs.MethodStart, Resource: user, Dependent: true},
		{Action: "redshift:GetClusterCredentials", For: jobs.MethodStart, Resource: database, Dependent: true},
		{Action: "redshift:GetClusterCredentialsWithIAM", For: jobs.MethodStart, Resource: database, Dependent: true},
		{Action: "redshift-serverless:GetCredentials", For: jobs.MethodStart, Resource: workgroup, Dependent: true},
		{Action: "secretsmanager:GetSecretValue", For: jobs.MethodStart, Resource: login, Dependent: true},
		// A statement has no ARN.
		{Action: "redshift-data:DescribeStatement", For: jobs.MethodDescribe, Resource: "*"},
		{Action: "redshift-data:CancelStatement", For: jobs.MethodStop, Resource: "*"},
		{Action: "redshift-data:DescribeStatement", For: jobs.MethodStop, Resource: "*"},
	}
}

// Start implements jobs.Driver.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[redshiftdata.ExecuteStatementInput](Name, r.Arguments,
		jobs.Required("Sql"), jobs.Reserved("ClientToken"))
	if err != nil {
		return nil, err
	}
	in.ClientToken = &r.Token
	out, err := d.client.ExecuteStatement(ctx, in, once)
	if err != nil {
		return nil, err
	}
	if out.Id == nil {
		return nil, fmt.Errorf("%s returned no Id", Name)
	}
	return jobs.Ref{"Id": *out.Id}, nil
}

// once keeps the client from repeating a call: what it says of the second one
// would hide what became of the first, and its token is forgotten some day.
func once(o *redshiftdata.Options) { o.Retryer = aws.NopRetryer{} }

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.DescribeStatement)(ctx, ref)
}

// Stop implements jobs.Stopper.
func (d *Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	out, err := d.client.CancelStatement(ctx, &redshiftdata.CancelStatementInput{Id: aws.String(ref["Id"])})
	if err == nil && out.Status != nil && !*out.Status {
		err = &smithy.GenericAPIError{Code: "NotCanceled", Message: "the service answered that it did not cancel the statement", Fault: smithy.FaultClient}
	}
	return jobs.StopResult(ctx, d, ref, err)
}
