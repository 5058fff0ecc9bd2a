package lambdajob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// ObjectReader is the part of the S3 client that reads status objects.
type ObjectReader interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
}

// readStatus reads a status object, which is the function's to write and so
// may hold anything.
func readStatus(ctx context.Context, client ObjectReader, bucket, key string) (*jsontree.Node, error) {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(out.Body, jobs.MaxPayloadBytes+1))
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return nil, fmt.Errorf("read s3://%s/%s: %w", bucket, key, err)
	}
	if len(body) > jobs.MaxPayloadBytes {
		return nil, fmt.Errorf("status object s3://%s/%s is larger than %d bytes", bucket, key, jobs.MaxPayloadBytes)
	}
	doc, err := jsontree.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("status object s3://%s/%s: %w", bucket, key, err)
	}
	if doc.Root.Kind != jsontree.Object {
		return nil, fmt.Errorf("status object s3://%s/%s holds %s instead of an object", bucket, key, doc.Root.Kind)
	}
	return doc.Root, nil
}
