// Package dynamodbexport drives exports of DynamoDB tables to S3.
package dynamodbexport

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "dynamodb:ExportTableToPointInTime"

// tokenWindow is how long DynamoDB remembers a ClientToken, by the API
// reference of ExportTableToPointInTime.
const tokenWindow = 8 * time.Hour

// waiter has the acceptors and delays of DynamoDB's own ExportCompleted, and
// tells why an export failed.
var waiter = pollcore.MustNew("ExportCompleted",
	pollcore.Succeed(pollcore.Output("ExportDescription.ExportStatus").Is("COMPLETED")),
	pollcore.FailWithMessage(pollcore.Output("ExportDescription.ExportStatus").Is("FAILED"), "ExportDescription.FailureMessage"),
	pollcore.Delay(20*time.Second, 2*time.Minute))

// Client is the part of the DynamoDB client that the driver calls.
type Client interface {
	ExportTableToPointInTime(
		context.Context, *dynamodb.ExportTableToPointInTimeInput, ...func(*dynamodb.Options),
	) (*dynamodb.ExportTableToPointInTimeOutput, error)
	DescribeExport(context.Context, *dynamodb.DescribeExportInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeExportOutput, error)
}

// Driver starts and describes exports. Its arguments are the members of
// ExportTableToPointInTime but for ClientToken, which it sets from the token.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(dynamodb.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken, Window: tokenWindow}
}

// Permissions implements jobs.Driver.
func (*Driver) Permissions() []jobs.Permission {
	const (
		table  = "arn:${Partition}:dynamodb:${Region}:${Account}:table/${TableName}"
		object = "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
	)
	return []jobs.Permission{
		{Action: "dynamodb:ExportTableToPointInTime", For: jobs.MethodStart, Resource: table},
		{Action: "s3:PutObject", For: jobs.MethodStart, Resource: object, Dependent: true},
		{Action: "s3:PutObjectAcl", For: jobs.MethodStart, Resource: object, Dependent: true},
		{Action: "s3:AbortMultipartUpload", For: jobs.MethodStart, Resource: object, Dependent: true},
		{Action: "dynamodb:DescribeExport", For: jobs.MethodDescribe, Resource: table + "/export/${ExportName}"},
	}
}

// Start implements jobs.Driver.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[dynamodb.ExportTableToPointInTimeInput](Name, r.Arguments,
		jobs.Required("TableArn", "S3Bucket"), jobs.Reserved("ClientToken"))
	if err != nil {
		return nil, err
	}
	in.ClientToken = &r.Token
	out, err := d.client.ExportTableToPointInTime(ctx, in, once)
	if err != nil {
		return nil, err
	}
	if out.ExportDescription == nil || out.ExportDescription.ExportArn == nil {
		return nil, fmt.Errorf("%s returned no ExportArn", Name)
	}
	return jobs.Ref{"ExportArn": *out.ExportDescription.ExportArn}, nil
}

// once keeps the client from repeating a call: what it says of the second one
// would hide what became of the first, and its token is forgotten some day.
func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.DescribeExport)(ctx, ref)
}
