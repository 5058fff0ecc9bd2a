package lambdajob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
)

// object is an S3 client with one object, for the example.
type object struct{ body []byte }

func (o *object) PutObject(_ context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	if in.IfNoneMatch != nil && o.body != nil {
		return nil, &smithy.GenericAPIError{Code: "PreconditionFailed"}
	}
	body, err := io.ReadAll(in.Body)
	o.body = body
	return &s3.PutObjectOutput{}, err
}

func (o *object) GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	return &s3.GetObjectOutput{Body: io.NopCloser(bytes.NewReader(o.body))}, nil
}

// The function claims the job before it does anything. Lambda may deliver the event
// twice: the second invocation does nothing.
func ExampleClaim() {
	ctx, client := context.Background(), &object{}
	event := lambdajob.Event{StatusBucket: "records", StatusKey: "jobs/1.json"}
	job, err := lambdajob.Claim(ctx, client, event)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = lambdajob.Claim(ctx, client, event)
	fmt.Println(errors.Is(err, lambdajob.ErrClaimed))
	fmt.Println(job.Succeed(ctx, map[string]int{"Rows": 42}))
	// Output:
	// true
	// <nil>
}
