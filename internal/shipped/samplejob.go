package shipped

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// SampleJobFunction is what definitions call the function of the sample job.
const SampleJobFunction = "jobpoller-sample-job"

// SampleJobInput is what a request's Payload says to the sample job.
type SampleJobInput struct {
	Seconds int  `json:"seconds"`
	Fail    bool `json:"fail,omitempty"`
}

// SampleRequest is the input of an execution of the shipped poller that runs the sample job.
func SampleRequest(input SampleJobInput, maxWait time.Duration) ([]byte, error) {
	return json.Marshal(map[string]any{
		"job":            lambdajob.Name,
		"arguments":      map[string]any{"FunctionName": SampleJobFunction, "Payload": input},
		"maxWaitSeconds": int(maxWait / time.Second),
		"initialDelay":   1, // no job has ended before
	})
}

// sampleJob is an asynchronous Lambda function: it writes the status running,
// works for a while on the clock, then writes succeeded or failed. What it works on is
// noted in the bucket first, so that a later run of the same name goes on with it if
// this one is killed.
type sampleJob struct {
	clock  *sim.Clock
	client *s3.Client
	bucket string
	folder string      // of the notes
	failed func(error) // reports a status that could not be written

	mu      sync.Mutex
	stops   []func() bool // each keeps a job from ending
	working sync.WaitGroup
}

// sampleJobNote is what is noted of a job that has begun.
type sampleJobNote struct {
	Event lambdajob.Event `json:"event"`
	Began time.Time       `json:"began"`
	Input SampleJobInput  `json:"input"`
}

// MaxJobSeconds is the longest that a Standard execution may last: a year.
const MaxJobSeconds = 365 * 24 * 60 * 60

// lookupTimeout bounds what a run still asks the store when it has ended.
const lookupTimeout = 3 * time.Second

// invoke is the function's handler.
func (j *sampleJob) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	note := sampleJobNote{Began: j.clock.Now().UTC()}
	if err := json.Unmarshal(payload, &note.Event); err != nil {
		return nil, fmt.Errorf("event of the sample job: %w", err)
	}
	if len(note.Event.Input) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(jsontree.DigitsOnly(note.Event.Input)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&note.Input); err != nil {
			return nil, fmt.Errorf(`payload of the sample job, {"seconds": 15, "fail": false}: %w`, err)
		}
	}
	if s := note.Input.Seconds; s < 0 || s > MaxJobSeconds {
		return nil, fmt.Errorf("payload of the sample job: seconds must be from 0 to %d, is %d", MaxJobSeconds, s)
	}
	if err := j.write(ctx, note); err != nil {
		return nil, err
	}
	job, err := lambdajob.Claim(ctx, j.client, note.Event)
	if errors.Is(err, lambdajob.ErrClaimed) {
		return []byte("null"), nil
	}
	if err != nil {
		return nil, err
	}
	j.work(ctx, job, note)
	return []byte("null"), nil
}

// work lets the job end when its time is over.
func (j *sampleJob) work(ctx context.Context, job *lambdajob.Job, note sampleJobNote) {
	j.mu.Lock()
	defer j.mu.Unlock()
	finish := context.WithoutCancel(ctx)
	left := note.Began.Add(time.Duration(note.Input.Seconds) * time.Second).Sub(j.clock.Now())
	j.working.Add(1)
	j.stops = append(j.stops, j.clock.AfterFunc(left, func() {
		defer j.working.Done()
		var err error
		if note.Input.Fail {
			err = job.Fail(finish, "the sample job was asked to fail")
		} else {
			err = job.Succeed(finish, map[string]any{"workedSeconds": note.Input.Seconds})
		}
		if err != nil {
			j.failed(err)
		}
	}))
}

// write notes a job that is about to begin, unless it is noted already.
func (j *sampleJob) write(ctx context.Context, note sampleJobNote) error {
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	key := j.folder + path.Base(note.Event.StatusKey)
	_, err = j.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &j.bucket, Key: &key, Body: bytes.NewReader(text), IfNoneMatch: aws.String("*"),
	})
	if err != nil && goerror.Code(err) == "PreconditionFailed" {
		return nil
	}
	return err
}

// resume goes on with the jobs of a run that was killed.
func (j *sampleJob) resume(ctx context.Context) error {
	list, err := j.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &j.bucket, Prefix: &j.folder})
	if err != nil {
		return fmt.Errorf("the sample jobs of the run before: %w", err)
	}
	for _, object := range list.Contents {
		note, err := j.read(ctx, aws.ToString(object.Key))
		if err != nil {
			return fmt.Errorf("s3://%s/%s: %w", j.bucket, aws.ToString(object.Key), err)
		}
		job, err := lambdajob.Resume(ctx, j.client, note.Event)
		switch {
		case err == nil:
			j.work(ctx, job, note)
		case errors.Is(err, lambdajob.ErrEnded), goerror.Code(err) == "NoSuchKey": // killed before the job began
		default:
			return err
		}
	}
	return nil
}

func (j *sampleJob) read(ctx context.Context, key string) (note sampleJobNote, err error) {
	out, err := j.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &j.bucket, Key: &key})
	if err != nil {
		return note, err
	}
	text, err := io.ReadAll(io.LimitReader(out.Body, jobs.MaxPayloadBytes))
	if err := errors.Join(err, out.Body.Close()); err != nil {
		return note, err
	}
	return note, json.Unmarshal(text, &note)
}

// stop lets go of the work that is still going on.
func (j *sampleJob) stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, stop := range j.stops {
		if stop() {
			j.working.Done()
		}
	}
	j.working.Wait()
}
