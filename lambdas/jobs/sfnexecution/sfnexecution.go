// Package sfnexecution drives executions of Standard state machines of AWS Step
// Functions.
package sfnexecution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Name is what requests call this job.
const Name = "states:StartExecution"

// What an execution that Stop has stopped says of its end.
const (
	StopError = "JobPoller.Stopped"
	StopCause = "the poller that started this execution has stopped it"
)

// waiter keeps waiting for an execution that waits to be redriven
// (PENDING_REDRIVE), as one in a Map Run may.
var waiter = pollcore.MustNew("ExecutionEnded",
	pollcore.Succeed(pollcore.Output("Status").Is("SUCCEEDED")),
	failed("FAILED"), failed("TIMED_OUT"), failed("ABORTED"),
	pollcore.Delay(10*time.Second, 2*time.Minute))

func failed(status string) pollcore.Option {
	return pollcore.FailWithMessage(pollcore.Output("Status").Is(status), "Cause || Error")
}

// Client is the part of the Step Functions client that the driver calls.
type Client interface {
	DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput, ...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error)
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	StopExecution(context.Context, *sfn.StopExecutionInput, ...func(*sfn.Options)) (*sfn.StopExecutionOutput, error)
}

// Driver starts, finds, describes and stops executions. Its arguments are
// {"StateMachineArn": "...", "Input": any JSON, "TraceHeader": "..."}, of which
// only the first is required; a version or alias will do for it. An Input that
// is a string is taken for JSON text, as in the API. The name of the execution
// is the token: a state machine has no two executions of one name in 90 days.
type Driver struct{ client Client }

// New returns a driver that calls client.
func New(client Client) *Driver { return &Driver{client} }

// FromEnvironment returns the driver of a Lambda function.
func FromEnvironment(e jobs.Environment) (jobs.Driver, error) {
	return New(sfn.NewFromConfig(e.AWS)), nil
}

// Name implements jobs.Driver.
func (*Driver) Name() string { return Name }

// Waiter implements jobs.Driver.
func (*Driver) Waiter() *pollcore.Waiter { return waiter }

// Idempotency implements jobs.Driver.
func (*Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByNaturalKey}
}

// Permissions implements jobs.Driver. For a version or alias too IAM asks for
// the state machine.
func (*Driver) Permissions() []jobs.Permission {
	const (
		machine   = "arn:${Partition}:states:${Region}:${Account}:stateMachine:${StateMachineName}"
		execution = "arn:${Partition}:states:${Region}:${Account}:execution:${StateMachineName}:${ExecutionId}"
	)
	return []jobs.Permission{
		{Action: "states:DescribeStateMachine", For: jobs.MethodStart, Resource: machine},
		{Action: "states:StartExecution", For: jobs.MethodStart, Resource: machine},
		{Action: "states:DescribeExecution", For: jobs.MethodFind, Resource: execution},
		{Action: "states:DescribeExecution", For: jobs.MethodDescribe, Resource: execution},
		{Action: "states:StopExecution", For: jobs.MethodStop, Resource: execution},
	}
}

// Start implements jobs.Driver. An execution that has the token for its name
// already is the one that the request asks for. Express state machines start one
// a call whatever its name, and nobody can describe it, so they are refused
// before anything is started.
func (d *Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, machine, err := input(r)
	if err != nil {
		return nil, err
	}
	described, err := d.client.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{
		StateMachineArn: aws.String(machine.arn()), IncludedData: types.IncludedDataMetadataOnly,
	})
	if err != nil {
		return nil, err
	}
	if described.Type == types.StateMachineTypeExpress {
		return nil, fmt.Errorf("%w of %s: %s is an Express state machine; Step Functions describes only the executions of Standard ones",
			jobs.ErrArguments, Name, *in.StateMachineArn)
	}
	out, err := d.client.StartExecution(ctx, in, once)
	if _, exists := errors.AsType[*types.ExecutionAlreadyExists](err); exists {
		return ref(machine.execution(r.Token)), nil
	}
	switch {
	case err != nil:
		return nil, err
	case out.ExecutionArn == nil:
		return nil, fmt.Errorf("%s returned no ExecutionArn", Name)
	case isExpress(*out.ExecutionArn):
		// The machine was made anew meanwhile. To call this a refusal would
		// say that nothing runs.
		return nil, fmt.Errorf("%s: %s is an Express state machine by now; an execution of it has begun, but cannot be described",
			Name, *in.StateMachineArn)
	}
	return ref(*out.ExecutionArn), nil
}

// isExpress reports whether an execution is of an Express state machine.
func isExpress(execution string) bool {
	place, err := arn.Parse(execution)
	return err == nil && strings.HasPrefix(place.Resource, "express:")
}

// once keeps the client from repeating a call: what it says of the second one
// would hide what became of the first.
func once(o *sfn.Options) { o.Retryer = aws.NopRetryer{} }

// Find implements jobs.Finder.
func (d *Driver) Find(ctx context.Context, r jobs.Request) (found jobs.Ref, ok bool, err error) {
	_, machine, err := input(r)
	if err != nil {
		return nil, false, err
	}
	execution := machine.execution(r.Token)
	_, err = d.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &execution, IncludedData: types.IncludedDataMetadataOnly})
	if _, none := errors.AsType[*types.ExecutionDoesNotExist](err); none {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return ref(execution), true, nil
}

// Describe implements jobs.Driver.
func (d *Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.DescribeExecution)(ctx, ref)
}

// Stop implements jobs.Stopper. Step Functions takes the order for an execution
// that has ended, too, and leaves it as it is.
func (d *Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	_, err := d.client.StopExecution(ctx, &sfn.StopExecutionInput{
		ExecutionArn: aws.String(ref["ExecutionArn"]), Error: aws.String(StopError), Cause: aws.String(StopCause),
	})
	return err
}

// ref is the reference to an execution.
func ref(execution string) jobs.Ref { return jobs.Ref{"ExecutionArn": execution} }

// input reads the arguments of a request.
func input(r jobs.Request) (*sfn.StartExecutionInput, stateMachine, error) {
	doc, err := jsontree.Parse(r.Arguments)
	if err != nil {
		return nil, stateMachine{}, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	in := &sfn.StartExecutionInput{Name: &r.Token}
	var machine stateMachine
	reader := jsontree.Reader{HideStrings: true, Spell: javasdk.MemberName}
	reader.Object(doc.Root, "the object of arguments", map[string]func(*jsontree.Node){
		"StateMachineArn": func(n *jsontree.Node) {
			in.StateMachineArn = new(string)
			reader.Text(in.StateMachineArn)(n)
			if machine, err = parseStateMachine(n.Text); n.Kind == jsontree.String && err != nil {
				reader.Report(n.Problem("%v", err))
			}
		},
		"Input": func(n *jsontree.Node) {
			in.Input = aws.String(string(n.Raw()))
			if n.Kind != jsontree.String {
				return
			}
			in.Input = &n.Text
			if !json.Valid([]byte(n.Text)) {
				reader.Report(n.Problem("expected JSON text in the string, found other text; leave the quotes out to pass a JSON value as it is"))
			}
		},
		"TraceHeader": func(n *jsontree.Node) {
			in.TraceHeader = new(string)
			reader.Text(in.TraceHeader)(n)
		},
		"Name": func(n *jsontree.Node) { reader.Report(n.Problem("leave Name out, the poller sets it")) },
	}, "StateMachineArn")
	if err := reader.Problems.Err(); err != nil {
		return nil, stateMachine{}, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, Name, err)
	}
	return in, machine, nil
}

// stateMachine is the state machine that an ARN names, by itself or by a version
// or alias.
type stateMachine struct {
	place arn.ARN
	name  string
}

func parseStateMachine(text string) (stateMachine, error) {
	place, err := arn.Parse(text)
	kind, rest, _ := strings.Cut(place.Resource, ":")
	name, _, _ := strings.Cut(rest, ":")
	switch {
	case err != nil || place.Service != "states" || kind != "stateMachine" || name == "":
		return stateMachine{}, errors.New("expected the ARN of a state machine, of a version or of an alias of one, found other text")
	case strings.Contains(rest, "/"):
		return stateMachine{}, errors.New("expected the ARN of a state machine, found that of a Distributed Map state, which cannot be started by itself")
	}
	return stateMachine{place, name}, nil
}

// arn returns the ARN of the machine itself: its type is that of all versions.
func (m stateMachine) arn() string {
	machine := m.place
	machine.Resource = "stateMachine:" + m.name
	return machine.String()
}

// execution returns the ARN of the machine's execution of a name, in which
// versions and aliases do not appear.
func (m stateMachine) execution(name string) string {
	execution := m.place
	execution.Resource = "execution:" + m.name + ":" + name
	return execution.String()
}
