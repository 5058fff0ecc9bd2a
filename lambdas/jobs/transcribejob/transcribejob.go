// Package transcribejob drives transcription jobs of Amazon Transcribe.
package transcribejob

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/transcribe"
	"github.com/aws/aws-sdk-go-v2/service/transcribe/types"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "transcribe:StartTranscriptionJob"

// waiter has the acceptors and delays of Transcribe's own
// TranscriptionJobCompleted, and tells why a job has failed.
var waiter = pollcore.MustNew("TranscriptionJobCompleted",
	pollcore.Succeed(pollcore.Output("TranscriptionJob.TranscriptionJobStatus").Is("COMPLETED")),
	pollcore.FailWithMessage(pollcore.Output("TranscriptionJob.TranscriptionJobStatus").Is("FAILED"), "TranscriptionJob.FailureReason"),
	pollcore.Delay(10*time.Second, 2*time.Minute))

// Client is the part of the Transcribe client that the driver calls.
type Client interface {
	StartTranscriptionJob(
		context.Context, *transcribe.StartTranscriptionJobInput, ...func(*transcribe.Options),
	) (*transcribe.StartTranscriptionJobOutput, error)
	GetTranscriptionJob(
		context.Context, *transcribe.GetTranscriptionJobInput, ...func(*transcribe.Options),
	) (*transcribe.GetTranscriptionJobOutput, error)
}

// Driver starts, finds and describes transcription jobs. Its arguments are the
// members of StartTranscriptionJob but for TranscriptionJobName, which is the
// token: Transcribe has no two jobs of one name, and no client token. It has no
// operation that stops a job either.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(transcribe.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByNaturalKey}
}

// Permissions implements jobs.Driver.
func (*Driver) Permissions() []jobs.Permission {
	const (
		job    = "arn:${Partition}:transcribe:${Region}:${Account}:transcription-job/${JobName}"
		object = "arn:${Partition}:s3:::${BucketName}/${ObjectName}"
	)
	return []jobs.Permission{
		{Action: "transcribe:StartTranscriptionJob", For: jobs.MethodStart, Resource: job},
		{Action: "s3:GetObject", For: jobs.MethodStart, Resource: object, Dependent: true},
		{Action: "s3:PutObject", For: jobs.MethodStart, Resource: object, Dependent: true},
		{Action: "transcribe:GetTranscriptionJob", For: jobs.MethodFind, Resource: job},
		{Action: "transcribe:GetTranscriptionJob", For: jobs.MethodDescribe, Resource: job},
	}
}

// Start implements jobs.Driver. A job that has the token for its name already
// is the one that the request asks for.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[transcribe.StartTranscriptionJobInput](Name, r.Arguments,
		jobs.Required("Media"), jobs.Reserved("TranscriptionJobName"))
	if err != nil {
		return nil, err
	}
	in.TranscriptionJobName = &r.Token
	_, err = d.client.StartTranscriptionJob(ctx, in, once)
	if _, exists := errors.AsType[*types.ConflictException](err); err != nil && !exists {
		return nil, err
	}
	return ref(r), nil
}

// once keeps the client from repeating a call: what it says of the second one
// would hide what became of the first.
func once(o *transcribe.Options) { o.Retryer = aws.NopRetryer{} }

// Find implements jobs.Finder.
func (d *Driver) Find(ctx context.Context, r jobs.Request) (found jobs.Ref, ok bool, err error) {
	_, err = d.client.GetTranscriptionJob(ctx, &transcribe.GetTranscriptionJobInput{TranscriptionJobName: &r.Token})
	switch {
	case err == nil:
		return ref(r), true, nil
	case isNotFound(err):
		return nil, false, nil
	default:
		return nil, false, err
	}
}

// isNotFound reports whether there is no job of the name. The API reference has
// NotFoundException for it; the service answers BadRequestException, which it
// has for much, with the message "The requested job couldn't be found. Check the
// job name and try your request again".
func isNotFound(err error) bool {
	if _, ok := errors.AsType[*types.NotFoundException](err); ok {
		return true
	}
	bad, ok := errors.AsType[*types.BadRequestException](err)
	return ok && strings.Contains(bad.ErrorMessage(), "couldn't be found")
}

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.GetTranscriptionJob)(ctx, ref)
}

// ref is the reference to the job of a request.
func ref(r jobs.Request) jobs.Ref { return jobs.Ref{"TranscriptionJobName": r.Token} }
