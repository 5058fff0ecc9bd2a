// Package s3store keeps start records as objects in an S3 bucket, with the
// conditional writes of PutObject (If-None-Match and If-Match).
//
// A role that uses it needs s3:GetObject and s3:PutObject on the records and
// s3:ListBucket on the bucket: without the last, S3 answers 403 instead of 404
// for a record that is not there. Where a KMS key encrypts the records it needs
// kms:GenerateDataKey and kms:Decrypt on the key. Records are never deleted; let
// a lifecycle rule clear them.
//
// Of the servers that speak S3 some ignore conditions: New probes a store behind
// an endpoint of your own.
package s3store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/retry"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// writes is how a write is sent that S3 refuses with 409
// ConditionalRequestConflict, which asks the client to send it again and which
// the SDK does not retry.
var writes = retry.Strategy{MaxAttempts: 3, Backoff: retry.Backoff{Base: 50 * time.Millisecond}}

// API is what the store needs of an S3 client. *s3.Client implements it.
type API interface {
	GetObject(ctx context.Context, in *s3.GetObjectInput, optFns ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(ctx context.Context, in *s3.PutObjectInput, optFns ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// store is a startrecord.Store in an S3 bucket. A Load is one GET; a Create or
// Replace is one PUT unless the answer is unclear.
type store struct {
	client     API
	bucket     string
	prefix     string // empty, or ends with a slash
	encryption encryption
}

var _ startrecord.Store = (*store)(nil)

// New returns a store that keeps its records in bucket under the key prefix,
// which may be empty and may end with a slash. Its error matches
// startrecord.ErrConfiguration and lists everything that is wrong with the two
// names and the options. Nothing is sent to S3 yet.
//
// If the client has an endpoint of your own (BaseEndpoint, as AWS_ENDPOINT_URL_S3
// sets it), the store is probed before its first write: see startrecord.ProbeFirst.
func New(client API, bucket, prefix string, options ...Option) (startrecord.Store, error) {
	s := &store{client: client, bucket: bucket}
	for _, set := range options {
		set(s)
	}
	var problems []string
	s.prefix, problems = names(bucket, prefix)
	if problems = append(problems, s.encryption.problems()...); problems != nil {
		return nil, fmt.Errorf("%w: %s", startrecord.ErrConfiguration, strings.Join(problems, "; "))
	}
	if c, ok := client.(interface{ Options() s3.Options }); ok && c.Options().BaseEndpoint != nil {
		return startrecord.ProbeFirst(s), nil
	}
	return s, nil
}

// Create implements startrecord.Store.
func (s *store) Create(ctx context.Context, key startrecord.Key, rec startrecord.Record) (startrecord.Stored, error) {
	return s.write(ctx, key, rec, "")
}

// Replace implements startrecord.Store. The version is an ETag.
func (s *store) Replace(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	// S3 would take no version for a write without a condition, and "*" for
	// any version.
	if version == "" || version == "*" {
		return startrecord.Stored{}, fmt.Errorf("%w: %q is not a version of %s; load it",
			startrecord.ErrChanged, version, s.Location(key))
	}
	return s.write(ctx, key, rec, version)
}

// Load implements startrecord.Store.
func (s *store) Load(ctx context.Context, key startrecord.Key) (startrecord.Stored, error) {
	if err := key.Validate(); err != nil {
		return startrecord.Stored{}, err
	}
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: aws.String(s.bucket),
		Key:    aws.String(s.prefix + key.Path()),
	})
	if _, missing := errors.AsType[*types.NoSuchKey](err); missing {
		return startrecord.Stored{}, fmt.Errorf("%w: %s", startrecord.ErrNotFound, s.Location(key))
	}
	if err != nil {
		return startrecord.Stored{}, s.failure(key, err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil {
		return startrecord.Stored{}, fmt.Errorf("%w: %s: reading the answer: %w", startrecord.ErrUnavailable, s.Location(key), err)
	}
	rec, err := startrecord.Decode(key, body)
	if err != nil {
		return startrecord.Stored{}, fmt.Errorf("%s: %w", s.Location(key), err)
	}
	date, dated := middleware.GetServerTime(out.ResultMetadata)
	if !dated || out.LastModified == nil || aws.ToString(out.ETag) == "" {
		return startrecord.Stored{}, s.incomplete(key)
	}
	return startrecord.Stored{
		Record:  rec,
		Version: *out.ETag,
		Age:     max(0, date.Sub(*out.LastModified)),
	}, nil
}

// Location implements startrecord.Store.
func (s *store) Location(key startrecord.Key) string {
	return "s3://" + s.bucket + "/" + s.prefix + key.Path()
}

// write sends one record, on the condition that the stored one is of the given
// version or, without a version, that there is none.
func (s *store) write(ctx context.Context, key startrecord.Key, rec startrecord.Record, version string) (startrecord.Stored, error) {
	w, err := startrecord.NewWrite(s.Location(key), key, rec, version)
	if err != nil {
		return startrecord.Stored{}, err
	}
	load := func(ctx context.Context) (startrecord.Stored, error) { return s.Load(ctx, key) }
	// To send the same nonce again is safe: whichever copy is stored, it is this
	// write.
	stored, err := retry.Do(ctx, writes, judgeWrite, func(ctx context.Context) (startrecord.Stored, error) {
		etag, err := s.put(ctx, key, w.Body, version)
		if err != nil {
			return w.Settle(ctx, err, load)
		}
		return startrecord.Stored{Record: w.Record, Version: etag}, nil
	})
	if failure, ok := errors.AsType[*retry.Error](err); ok {
		if err = failure.LastErr; err == nil { // the context had ended before
			err = s.failure(key, failure)
		}
	}
	return stored, err
}

// judgeWrite is the policy of a write.
func judgeWrite(_ startrecord.Stored, err error) retry.Directive {
	switch {
	case err == nil:
		return retry.Succeed()
	case errors.Is(err, startrecord.ErrUnavailable) && isConflict(err):
		return retry.Again(awserror.Throttled)
	default:
		return retry.Fail()
	}
}

func (s *store) put(ctx context.Context, key startrecord.Key, body []byte, version string) (etag string, err error) {
	in := &s3.PutObjectInput{
		Bucket:      aws.String(s.bucket),
		Key:         aws.String(s.prefix + key.Path()),
		Body:        bytes.NewReader(body),
		ContentType: aws.String("application/json"),
	}
	s.encryption.apply(in)
	if version == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = aws.String(version)
	}
	out, err := s.client.PutObject(ctx, in)
	switch {
	case err != nil:
		return "", s.failure(key, err)
	case aws.ToString(out.ETag) == "":
		return "", s.incomplete(key)
	default:
		return *out.ETag, nil
	}
}
