package cli

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// describeCall calls the operation that a waiter polls, with one input.
type describeCall struct {
	operation *catalog.Operation
	send      func(context.Context) (any, error)
	// answered: the service has answered once.
	answered bool
}

// newDescribeCall prepares the calls of a wait. It refuses what is wrong before any
// call.
func newDescribeCall(cfg aws.Config, e *catalog.Entry, input any) (*describeCall, error) {
	call := &describeCall{operation: e.Operation}
	client := awsjob.New(cfg)
	if err := client.Check(e.Operation); err != nil {
		return nil, err
	}
	call.send = func(ctx context.Context) (any, error) { return client.Call(ctx, e.Operation, input) }
	return call, nil
}

// do makes one call. Its result is a JSON value in the model's spelling.
func (d *describeCall) do(ctx context.Context, _ any) (any, error) {
	out, err := d.send(ctx)
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

// transient reports whether to retry an error. A service that never answered is
// more likely misspelt than down.
func (d *describeCall) transient(err error) bool { return d.answered && goerror.Passes(err) }
