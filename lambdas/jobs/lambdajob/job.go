// Package lambdajob makes a Lambda function a job that lasts as long as the function
// may. The driver invokes it asynchronously, and the function keeps its status in an
// S3 object, which the driver reads. In the function:
//
//	job, err := lambdajob.Claim(ctx, s3Client, event)
//	if err != nil {
//		return err // another invocation does the work
//	}
//	rows, err := work(ctx, event.Input)
//	if err != nil {
//		return job.Fail(ctx, err.Error())
//	}
//	return job.Succeed(ctx, map[string]int{"Rows": rows})
package lambdajob

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// Event is what the driver sends the function.
type Event struct {
	// StatusBucket and StatusKey name the object that holds the job's status.
	StatusBucket string `json:"statusBucket"`
	StatusKey    string `json:"statusKey"`
	// Input is the request's own payload for the function.
	Input json.RawMessage `json:"input,omitempty"`
}

// status is the content of the status object and, without Claim, the driver's
// Describe output.
type status struct {
	Status string `json:"Status"`           // running, succeeded or failed
	Reason string `json:"Reason,omitempty"` // of a failure
	Result any    `json:"Result,omitempty"` // of a success
	// Claim names the invocation that does the work.
	Claim string `json:"Claim"`
}

// The values of status.Status.
const (
	running   = "running"
	succeeded = "succeeded"
	failed    = "failed"
)

// ErrClaimed means that another invocation has claimed the job, so this one must not do
// the work again.
var ErrClaimed = errors.New("another invocation has claimed the job")

// StatusClient is the part of the S3 client that the function's side calls.
type StatusClient interface {
	ObjectReader
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Job is a claimed job, for the function that does its work.
type Job struct {
	client StatusClient
	event  Event
	claim  string
}

// Claim writes the status running and returns the job, or ErrClaimed if its
// status object is there already: Lambda may deliver an asynchronous event
// twice, and the driver sends it again when it is not sure of the first time.
// The function calls it before it does anything, and Succeed or Fail last.
func Claim(ctx context.Context, client StatusClient, event Event) (*Job, error) {
	if event.StatusBucket == "" || event.StatusKey == "" {
		return nil, errors.New("the event needs statusBucket and statusKey: start the job through run-job")
	}
	j := &Job{client, event, rand.Text()}
	writeErr := j.put(ctx, status{Status: running}, aws.String("*"))
	if writeErr == nil {
		return j, nil
	}
	// Whatever the error, the write may have been made: the SDK's own retry
	// turns a lost answer into a failed precondition. The object decides.
	doc, err := readStatus(ctx, client, event.StatusBucket, event.StatusKey)
	if err != nil {
		return nil, errors.Join(writeErr, err)
	}
	if claim := doc.Get("Claim"); claim == nil || claim.Text != j.claim {
		return nil, fmt.Errorf("%w (s3://%s/%s)", ErrClaimed, event.StatusBucket, event.StatusKey)
	}
	return j, nil
}

// ErrEnded means that the work of a job is done, or has failed.
var ErrEnded = errors.New("the job has ended")

// Resume returns a job that an earlier invocation claimed, for one that goes on with
// its work. The caller must know that the earlier one no longer runs.
func Resume(ctx context.Context, client StatusClient, event Event) (*Job, error) {
	doc, err := readStatus(ctx, client, event.StatusBucket, event.StatusKey)
	if err != nil {
		return nil, err
	}
	if s := doc.Get("Status"); s == nil || s.Text != running {
		return nil, fmt.Errorf("%w (s3://%s/%s)", ErrEnded, event.StatusBucket, event.StatusKey)
	}
	j := &Job{client: client, event: event}
	if claim := doc.Get("Claim"); claim != nil {
		j.claim = claim.Text
	}
	return j, nil
}

// Succeed records that the work is done. The result is optional JSON data, of
// which the poller reads at most 256 KiB: keep more in S3 and return its key.
func (j *Job) Succeed(ctx context.Context, result any) error {
	return j.put(ctx, status{Status: succeeded, Result: result}, nil)
}

// Fail records that the work has failed, and why.
func (j *Job) Fail(ctx context.Context, reason string) error {
	return j.put(ctx, status{Status: failed, Reason: reason}, nil)
}

func (j *Job) put(ctx context.Context, s status, ifNoneMatch *string) error {
	s.Claim = j.claim
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("status of the job is not JSON: %w", err)
	}
	if len(body) > jobs.MaxPayloadBytes {
		return fmt.Errorf("status %s has %d bytes, and check-status reads at most %d: keep large results in S3 and return their key",
			s.Status, len(body), jobs.MaxPayloadBytes)
	}
	_, err = j.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &j.event.StatusBucket, Key: &j.event.StatusKey,
		Body: bytes.NewReader(body), ContentType: aws.String("application/json"),
		IfNoneMatch: ifNoneMatch,
	})
	if err != nil {
		return fmt.Errorf("write job status %s to s3://%s/%s: %w", s.Status, j.event.StatusBucket, j.event.StatusKey, err)
	}
	return nil
}
