package lambdajob

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// Name is what requests call this job.
const Name = "lambda:Invoke"

// waiter keeps waiting while the status object is not there: an asynchronous
// invocation may take a while to begin.
var waiter = pollcore.MustNew("JobFinished",
	pollcore.Succeed(pollcore.Output("Status").Is(succeeded)),
	pollcore.FailWithMessage(pollcore.Output("Status").Is(failed), "Reason"),
	pollcore.Again(pollcore.ErrorType("NoSuchKey")))

// Invoker invokes functions. Package builtin has one.
type Invoker interface {
	// InvokeAsync returns when Lambda has taken the event, which is the payload.
	InvokeAsync(ctx context.Context, function string, payload []byte) error
}

// driver invokes functions asynchronously and reads their status objects.
type driver struct {
	invoker Invoker
	reader  ObjectReader
	bucket  string
	prefix  string
}

// New returns a driver that keeps status objects in the bucket under prefix. Its
// arguments are {"FunctionName": "...", "Payload": any JSON}. FunctionName is
// required.
func New(invoker Invoker, reader ObjectReader, bucket, prefix string) jobs.Driver {
	return &driver{invoker, reader, bucket, prefix}
}

// FromEnvironment returns the driver of a Lambda function. Its status objects are
// in the bucket of the environment.
func FromEnvironment(e jobs.Environment, invoker Invoker) (jobs.Driver, error) {
	if e.Bucket == "" {
		return nil, &jobs.NotConfiguredError{Job: Name, Lack: "its functions need a bucket for their status objects: set JOBPOLLER_BUCKET"}
	}
	return New(invoker, e.S3, e.Bucket, strings.TrimSuffix(e.Prefix, "/")+"/jobs"), nil
}

// Name implements jobs.Driver.
func (*driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver: the status object's key is the token,
// and a function that calls Claim does the work of a token once.
func (*driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken}
}

// Permissions implements jobs.Driver. Without s3:ListBucket S3 says that access
// to an object that is not there is denied.
func (*driver) Permissions() []access.Permission {
	return []access.Permission{
		{Action: "lambda:InvokeFunction", For: access.ForStart, Resource: "arn:${Partition}:lambda:${Region}:${Account}:function:${FunctionName}"},
		{Action: "s3:GetObject", For: access.ForDescribe, Resource: "arn:${Partition}:s3:::${BucketName}/${ObjectName}"},
		{Action: "s3:ListBucket", For: access.ForDescribe, Resource: "arn:${Partition}:s3:::${BucketName}", Dependent: true},
	}
}

// Start implements jobs.Driver.
func (d *driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	doc, err := jsontree.Parse(r.Arguments)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	reader := jsontree.Reader{HideStrings: true, Spell: javasdk.MemberName}
	var function string
	event := Event{StatusBucket: d.bucket, StatusKey: d.prefix + "/" + r.Token + ".json"}
	reader.Object(doc.Root, "the object of arguments", map[string]func(*jsontree.Node){
		"FunctionName": func(n *jsontree.Node) {
			reader.Text(&function)(n)
			if n.Kind == jsontree.String && n.Text == "" {
				reader.Report(n.Problem("expected the name or ARN of a function, found an empty string"))
			}
		},
		"Payload": func(n *jsontree.Node) { event.Input = n.Raw() },
	}, "FunctionName")
	if err := reader.Problems.Err(); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	if err := d.invoker.InvokeAsync(ctx, function, payload); err != nil {
		return nil, err
	}
	return jobs.Ref{"FunctionName": function, "StatusBucket": event.StatusBucket, "StatusKey": event.StatusKey}, nil
}

// Describe implements jobs.Driver: it returns the content of the status
// object but for its Claim, which says nothing of the job.
func (d *driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	doc, err := readStatus(ctx, d.reader, ref["StatusBucket"], ref["StatusKey"])
	if err != nil {
		return nil, err
	}
	status := doc.Value().(map[string]any) // readStatus accepts nothing else
	delete(status, "Claim")
	return status, nil
}
