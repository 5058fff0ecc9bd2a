// Package athenaquery drives Athena queries.
package athenaquery

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "athena:StartQueryExecution"

// tokenWindow is a cautious guess. The API reference of StartQueryExecution
// gives no end to a ClientRequestToken, and users have seen one remembered for
// days, but nothing promises it. An hour is enough for a start to be taken over
// three times from functions that ran for as long as Lambda lets them.
const tokenWindow = time.Hour

var waiter = pollcore.MustNew("QueryEnded",
	pollcore.Succeed(pollcore.Output("QueryExecution.Status.State").Is("SUCCEEDED")),
	pollcore.FailWithMessage(pollcore.Output("QueryExecution.Status.State").Is("FAILED"), "QueryExecution.Status.StateChangeReason"),
	pollcore.FailWithMessage(pollcore.Output("QueryExecution.Status.State").Is("CANCELLED"), "QueryExecution.Status.StateChangeReason"))

// Client is the part of the Athena client that the driver calls.
type Client interface {
	StartQueryExecution(
		context.Context, *athena.StartQueryExecutionInput, ...func(*athena.Options),
	) (*athena.StartQueryExecutionOutput, error)
	GetQueryExecution(context.Context, *athena.GetQueryExecutionInput, ...func(*athena.Options)) (*athena.GetQueryExecutionOutput, error)
	StopQueryExecution(context.Context, *athena.StopQueryExecutionInput, ...func(*athena.Options)) (*athena.StopQueryExecutionOutput, error)
}

// Driver starts, describes and stops queries. Its arguments are the members of
// StartQueryExecution but for ClientRequestToken, which it sets from the token.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(athena.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken, Window: tokenWindow}
}

// Permissions implements jobs.Driver. The dependent ones are those of a query
// that reads tables of the Glue catalog in S3; one that creates or changes
// tables needs the actions for that as well.
func (*Driver) Permissions() []jobs.Permission {
	const (
		workgroup = "arn:${Partition}:athena:${Region}:${Account}:workgroup/${WorkGroupName}"
		catalog   = "arn:${Partition}:glue:${Region}:${Account}:catalog"
		database  = "arn:${Partition}:glue:${Region}:${Account}:database/${DatabaseName}"
		table     = "arn:${Partition}:glue:${Region}:${Account}:table/${DatabaseName}/${TableName}"
		bucket    = "arn:${Partition}:s3:::${BucketName}"
		object    = "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
	)
	permissions := []jobs.Permission{
		{Action: "athena:StartQueryExecution", For: jobs.MethodStart, Resource: workgroup},
		{Action: "athena:GetQueryExecution", For: jobs.MethodDescribe, Resource: workgroup},
		{Action: "athena:StopQueryExecution", For: jobs.MethodStop, Resource: workgroup},
		{Action: "athena:GetQueryExecution", For: jobs.MethodStop, Resource: workgroup},
	}
	for _, dependent := range []struct {
		actions   []string
		resources []string
	}{
		{[]string{"athena:GetDataCatalog"}, []string{"arn:${Partition}:athena:${Region}:${Account}:datacatalog/${DataCatalogName}"}},
		// Glue checks an action on what is above its resource too.
		{[]string{"glue:GetDatabase"}, []string{catalog, database}},
		{[]string{"glue:GetTable", "glue:GetPartition", "glue:GetPartitions", "glue:BatchGetPartition"}, []string{catalog, database, table}},
		{[]string{"s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"}, []string{bucket}},
		{[]string{"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}, []string{object}},
	} {
		for _, action := range dependent.actions {
			for _, resource := range dependent.resources {
				permissions = append(permissions, jobs.Permission{Action: action, For: jobs.MethodStart, Resource: resource, Dependent: true})
			}
		}
	}
	return permissions
}

// Start implements jobs.Driver.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[athena.StartQueryExecutionInput](Name, r.Arguments,
		jobs.Required("QueryString"), jobs.Reserved("ClientRequestToken"))
	if err != nil {
		return nil, err
	}
	in.ClientRequestToken = &r.Token
	out, err := d.client.StartQueryExecution(ctx, in, once)
	if err != nil {
		return nil, err
	}
	if out.QueryExecutionId == nil {
		return nil, fmt.Errorf("%s returned no QueryExecutionId", Name)
	}
	return jobs.Ref{"QueryExecutionId": *out.QueryExecutionId}, nil
}

// once keeps the client from repeating a call: what it says of the second one
// would hide what became of the first, and its token is forgotten some day.
func once(o *athena.Options) { o.Retryer = aws.NopRetryer{} }

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.GetQueryExecution)(ctx, ref)
}

// Stop implements jobs.Stopper.
func (d *Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	_, err := d.client.StopQueryExecution(ctx, &athena.StopQueryExecutionInput{QueryExecutionId: aws.String(ref["QueryExecutionId"])})
	return jobs.StopResult(ctx, d, ref, err)
}
