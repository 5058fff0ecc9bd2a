package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const sampleJobFunction = "jobpoller-sample-job"

// sampleJobInput is what a request's Payload says to the sample job.
type sampleJobInput struct {
	Seconds int  `json:"seconds"`
	Fail    bool `json:"fail,omitempty"`
}

// sampleJob is an asynchronous Lambda function: it writes the status running,
// works for a while on the clock, then writes succeeded or failed.
type sampleJob struct {
	clock  *sim.Clock
	client *s3.Client
	failed func(error) // reports a status that could not be written

	mu      sync.Mutex
	begun   []begunJob
	working sync.WaitGroup
}

// begunJob is one that works on the clock; stop prevents its end.
type begunJob struct {
	job  *lambdajob.Job
	stop func() bool
}

// maxJobSeconds is the longest that a Standard execution may last: a year.
const maxJobSeconds = 365 * 24 * 60 * 60

// lookupTimeout bounds what a run still asks the store when it has ended.
const lookupTimeout = 3 * time.Second

// invoke is the function's handler.
func (j *sampleJob) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	var event lambdajob.Event
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, fmt.Errorf("event of the sample job: %w", err)
	}
	var input sampleJobInput
	if len(event.Input) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(jsontree.DigitsOnly(event.Input)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&input); err != nil {
			return nil, fmt.Errorf(`payload of the sample job, {"seconds": 15, "fail": false}: %w`, err)
		}
	}
	if input.Seconds < 0 || input.Seconds > maxJobSeconds {
		return nil, fmt.Errorf("payload of the sample job: seconds must be from 0 to %d, is %d", maxJobSeconds, input.Seconds)
	}
	job, err := lambdajob.Claim(ctx, j.client, event)
	if errors.Is(err, lambdajob.ErrClaimed) {
		return []byte("null"), nil
	}
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	finish := context.WithoutCancel(ctx)
	j.working.Add(1)
	j.begun = append(j.begun, begunJob{job, j.clock.AfterFunc(time.Duration(input.Seconds)*time.Second, func() {
		defer j.working.Done()
		var err error
		if input.Fail {
			err = job.Fail(finish, "the sample job was asked to fail")
		} else {
			err = job.Succeed(finish, map[string]any{"workedSeconds": input.Seconds})
		}
		if err != nil {
			j.failed(err)
		}
	})})
	return []byte("null"), nil
}

// stop ends the work that is still going on. It has failed then: a later run of
// the same name would wait for it in vain.
func (j *sampleJob) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, begun := range j.begun {
		if !begun.stop() {
			continue
		}
		if err := begun.job.Fail(ctx, "the run that it was part of ended before it"); err != nil {
			j.failed(err)
		}
		j.working.Done()
	}
	j.working.Wait()
}
