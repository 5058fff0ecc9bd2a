package kit

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// DescribeCall calls the operation that a waiter polls, with one input.
type DescribeCall struct {
	send     func(ctx context.Context, late bool) (any, error)
	deadline time.Time
	// answered: the service has answered once.
	answered bool
}

// How long one call may take. With the SDK's retries it ends with the wait. A call that
// begins so late that there is no time for them is one request, which may be answered
// after the deadline.
const (
	CallPatience = 30 * time.Second
	LastPatience = 5 * time.Second
)

// NewDescribeCall prepares the calls of a wait. It refuses what is wrong before any
// call.
func NewDescribeCall(cfg aws.Config, e *catalog.Entry, input any, deadline time.Time) (*DescribeCall, error) {
	call := &DescribeCall{deadline: deadline}
	client, once := awsjob.New(cfg), awsjob.New(cfg, awsjob.WithoutRetries())
	if err := client.Check(e.Operation); err != nil {
		return nil, err
	}
	call.send = func(ctx context.Context, late bool) (any, error) {
		if late {
			return once.Call(ctx, e.Operation, input)
		}
		return client.Call(ctx, e.Operation, input)
	}
	return call, nil
}

// Do makes one call. Its result is a JSON value in the model's spelling.
func (d *DescribeCall) Do(ctx context.Context, _ any) (any, error) {
	left := time.Until(d.deadline)
	patience := min(CallPatience, max(LastPatience, left))
	out, err := AnswerWithin(ctx, patience, func(ctx context.Context) (any, error) { return d.send(ctx, left < LastPatience) })
	status, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	d.answered = d.answered || err == nil || ok && status.HTTPStatusCode() > 0
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Transient reports whether to retry an error. A service that never answered is
// more likely misspelt than down.
func (d *DescribeCall) Transient(err error) bool { return d.answered && goerror.Passes(err) }
