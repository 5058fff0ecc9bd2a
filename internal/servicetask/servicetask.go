// Package servicetask does the Tasks of state machines that call AWS services: it
// calls the services. Package sim knows none; what wires the two gives it the
// handlers of this package.
package servicetask

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Caller calls services with one configuration. It is safe for concurrent use.
type Caller struct {
	client *awsjob.Client
	hooks  Hooks
}

// Hooks are told of the jobs of Tasks that end with their job, on the goroutines of the
// Tasks. Each may be nil.
type Hooks struct {
	// Polled is told what a poll was answered, in the model's spelling, or its error.
	Polled func(entry *catalog.Entry, answer any, err error)
	// Left is told why the job of a Task that has ended may run on.
	Left func(state string, why error)
}

func (h Hooks) tellPoll(entry *catalog.Entry, answer any, err error) {
	if h.Polled != nil {
		h.Polled(entry, answer, err)
	}
}

func (h Hooks) tellLeft(state string, why error) {
	if h.Left != nil {
		h.Left(state, why)
	}
}

// New returns a caller. A call is one request: Step Functions repeats none either.
func New(cfg aws.Config, hooks Hooks) *Caller {
	return &Caller{client: awsjob.New(cfg, awsjob.WithoutRetries()), hooks: hooks}
}

// ErrNotCallable means that no call does a Task: its resource is no operation of a
// service, or its end is not told by one.
var ErrNotCallable = errors.New("no call of a service does this Task")

// Operation returns what a Task of the resource calls; nil if the models do not know it.
func Operation(resource string) (*catalog.Operation, error) {
	return typecheck.FindOperation(CallOf(resource), models.Load)
}

// Service returns the service that a resource calls, by its key in the AWS CLI; empty
// if the models do not know the operation.
func Service(resource string) (string, error) {
	op, err := Operation(resource)
	if op == nil || err != nil {
		return "", err
	}
	return op.Service.Key, nil
}

// Handler returns what does the Tasks of a resource. Its error wraps ErrNotCallable,
// or is that of every call, such as one of the configuration.
func (c *Caller) Handler(resource string) (sim.Handler, error) {
	r := asl.ParseResource(resource)
	op, err := Operation(resource)
	if err != nil {
		return nil, err
	}
	switch {
	case r.WaitsForToken():
		return nil, fmt.Errorf("%w: it ends when a task token comes back", ErrNotCallable)
	case op == nil:
		return nil, fmt.Errorf("%w: jobpoller does not know the operation", ErrNotCallable)
	}
	if err := c.client.Check(op); err != nil {
		return nil, err
	}
	api, err := typecheck.FindAPI(CallOf(resource), models.Load)
	if err != nil {
		return nil, err
	}
	t := &task{caller: c, resource: r, operation: op, output: api.Output, spelling: api.Spelling()}
	switch {
	case r.IsFunction():
		return t.invokeFunction, nil
	case r.Pattern == "" && r.Service == "lambda" && r.Action == "invoke":
		return t.invoke, nil
	case r.Pattern == "":
		return t.call, nil
	}
	if t.sync, err = newSync(r, op); err != nil {
		return nil, err
	}
	if err := c.client.Check(t.sync.entry.Operation); err != nil {
		return nil, err
	}
	return t.run, nil
}

// task is what does the Tasks of one resource.
type task struct {
	caller    *Caller
	resource  asl.Resource
	operation *catalog.Operation
	output    *catalog.Shape // of the result of a Task that ends with the answer
	spelling  typecheck.Spelling
	sync      *sync // nil for a Task that ends with the answer
}

// call does a Task that ends with the answer of its operation.
func (t *task) call(ctx context.Context, call sim.Call) (sim.Reply, error) {
	_, answer, err := t.send(ctx, call)
	if err != nil {
		return sim.Reply{}, err
	}
	return sim.Reply{Output: t.spelling.Result(typecheck.OwnResult(t.resource, answer), t.output)}, nil
}

// send calls the operation, and returns input and answer in the model's spelling.
func (t *task) send(ctx context.Context, call sim.Call) (input, answer any, err error) {
	if input, err = t.spelling.Arguments(call.Arguments, t.operation.Input); err != nil {
		return nil, nil, fmt.Errorf("arguments of %s: %w", call.Resource, err)
	}
	if answer, err = t.caller.client.Call(ctx, t.operation, input); err != nil {
		return nil, nil, t.failure(call, err)
	}
	return input, answer, nil
}
