package cli

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// sdkCall prepares a call of an operation through an SDK client. The input and
// what the call returns are spelled as in Step Functions' SDK integrations. The error is
// one of the input.
type sdkCall func(cfg aws.Config, name string, input json.RawMessage) (func(context.Context) (any, error), error)

// s3Calls are the calls of S3, which speaks no JSON: awsjob cannot make them, and the
// command links S3's client for the start records anyway.
var s3Calls = map[string]sdkCall{
	"s3:HeadBucket": through(newS3Client, (*s3.Client).HeadBucket),
	"s3:HeadObject": through(newS3Client, (*s3.Client).HeadObject),
}

// newS3Client returns a client that names buckets in the path where an endpoint
// is given, for servers that have no host name for each bucket.
func newS3Client(cfg aws.Config, more ...func(*s3.Options)) *s3.Client {
	return s3.NewFromConfig(cfg, append(more, func(o *s3.Options) { o.UsePathStyle = cfg.BaseEndpoint != nil })...)
}

// through calls an operation of an SDK client.
func through[Client, In, Out, Opt any](
	newClient func(aws.Config, ...Opt) *Client, operation func(*Client, context.Context, *In, ...Opt) (*Out, error),
) sdkCall {
	return func(cfg aws.Config, name string, input json.RawMessage) (func(context.Context) (any, error), error) {
		in, err := jobs.Arguments[In](name, input)
		if err != nil {
			return nil, err
		}
		client := newClient(cfg)
		return func(ctx context.Context) (any, error) {
			out, err := operation(client, ctx, in)
			if err != nil {
				return nil, err
			}
			return jobs.Output(out)
		}, nil
	}
}
