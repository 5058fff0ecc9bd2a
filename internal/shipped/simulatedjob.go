package shipped

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// noService is there for drivers that are not to call one.
type noService struct{}

var errNoService = errors.New("the service is simulated")

// Do implements aws.HTTPClient.
func (noService) Do(*http.Request) (*http.Response, error) { return nil, errNoService }

// callless is what a driver of the catalogue knows without a call.
type callless interface {
	jobs.Driver
	jobs.Announcer
	jobs.EndTimer
	jobs.StopTeller
}

// simulatedJob is a driver of the catalogue whose service is simulated, and sends the
// event of the job's end to the collector.
type simulatedJob struct {
	callless

	entry     *catalog.Entry
	clock     *sim.Clock
	collector *localloop.Collector
	judge     *pollcore.Check[any, any]
	calls     map[string]simulatedCall // by the operation

	mu     sync.Mutex
	starts map[string]map[string]any // input and output of start calls, by the job's reference
}

// simulatedCall answers a call of an operation.
type simulatedCall struct {
	resource string
	answer   sim.Handler
}

// stoppableJob is one that can be stopped.
type stoppableJob struct{ *simulatedJob }

// simulateDrivers makes drivers whose jobs run as the flags say.
func (b *Functions) simulateDrivers() jobs.Maker {
	return jobs.ByName(func(_ jobs.Environment, name string) (jobs.Driver, error) {
		driver, err := awsjob.NewDriver(aws.Config{
			Region: sim.DefaultRegion, HTTPClient: noService{}, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
			Credentials: credentials.NewStaticCredentialsProvider("simulated", "simulated", ""),
		}, catalog.AWS(), name)
		if err != nil {
			return nil, err
		}
		known, ok := driver.(callless)
		named, err := catalog.AWS().Resolve(name)
		if err != nil || !ok || named.Job == nil {
			return nil, &jobs.NotConfiguredError{Job: name, Lack: "--simulate runs jobs, and this is a waiter for what others start"}
		}
		j := &simulatedJob{callless: known, entry: named.Entry, clock: b.clock, collector: b.collector, starts: map[string]map[string]any{}}
		if j.judge, err = pollcore.Compile[any, any](known.Waiter()); err != nil {
			return nil, err
		}
		if err := j.simulate(b.options); err != nil {
			return nil, err
		}
		if named.Job.Stop != nil {
			return stoppableJob{j}, nil
		}
		return j, nil
	})
}

// Start implements jobs.Driver. It refuses what the driver of the service refuses to send.
func (j *simulatedJob) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	if _, err := j.callless.Start(ctx, r); errors.Is(err, jobs.ErrArguments) {
		return nil, err
	}
	input := map[string]any{}
	if err := json.Unmarshal(r.Arguments, &input); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, j.Name(), err)
	}
	if key := j.entry.Job.NaturalKey; key != nil {
		input[javasdk.MemberName(key.Member)] = r.Token
	}
	output, err := j.call(ctx, j.entry.Name, input, j.clock.Now())
	if err != nil {
		return nil, err
	}
	start := map[string]any{"input": input, "output": output}
	arguments, err := j.arguments(j.entry.Job.Arguments, start)
	if err != nil {
		return nil, err
	}
	ref := jobs.Ref{}
	for name, value := range arguments {
		if text, ok := value.(string); ok {
			ref[name] = text
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		ref[name] = string(text)
	}
	j.mu.Lock()
	j.starts[fmt.Sprint(ref)] = start
	j.mu.Unlock()
	return ref, j.announce(ctx, ref)
}

// Describe implements jobs.Driver.
func (j *simulatedJob) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return j.callFor(ctx, ref, j.entry.Job.Describe, j.entry.Job.Arguments, j.clock.Now())
}

// Stop implements jobs.Stopper.
func (j stoppableJob) Stop(ctx context.Context, ref jobs.Ref) error {
	stop := j.entry.Job.Stop
	_, err := j.callFor(ctx, ref, stop.Operation, stop.Arguments, j.clock.Now())
	return err
}

// callFor calls an operation with arguments that are made of the start call.
func (j *simulatedJob) callFor(ctx context.Context, ref jobs.Ref, operation string, expressions map[string]string, at time.Time) (any, error) {
	j.mu.Lock()
	start, known := j.starts[fmt.Sprint(ref)]
	j.mu.Unlock()
	if !known {
		return nil, fmt.Errorf("the simulated job is gone: it ran in the run that started it; give this run another --name (job %v)", ref)
	}
	arguments, err := j.arguments(expressions, start)
	if err != nil {
		return nil, err
	}
	return j.call(ctx, operation, arguments, at)
}

// call calls an operation at a time, which may be one that is to come.
func (j *simulatedJob) call(ctx context.Context, operation string, arguments map[string]any, at time.Time) (any, error) {
	call := j.calls[operation]
	reply, err := call.answer(ctx, sim.Call{State: operation, Resource: call.resource, Arguments: maps.Clone(arguments), Time: at})
	if failure, ok := errors.AsType[*sim.TaskError](err); ok {
		_, code, _ := strings.Cut(failure.Name, ".")
		coded := &smithy.GenericAPIError{Code: code, Message: failure.Cause}
		if strings.HasPrefix(failure.Cause, "Rate exceeded") { // Step Functions hides the code
			coded.Fault = smithy.FaultServer
		}
		return nil, coded
	}
	return reply.Output, err
}

// arguments makes the arguments of a call, in the spelling of Step Functions.
func (j *simulatedJob) arguments(expressions map[string]string, start map[string]any) (map[string]any, error) {
	operation := j.entry.Service.Operations[j.entry.Name]
	shapes := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"input": operation.Input.Describe(), "output": operation.Output.Describe(),
	}}
	all := map[string]any{}
	for member, text := range expressions {
		expression, err := jmespath.Parse(text)
		if err != nil {
			return nil, err
		}
		if expression, err = expression.Rename(shapes, func(owner *jsontype.Type, name string) string {
			if owner == shapes {
				return name
			}
			return javasdk.MemberName(name)
		}); err != nil {
			return nil, err
		}
		program, _ := expression.Compile(nil)
		value, err := program.Eval(start)
		if err != nil {
			return nil, err
		}
		if value != nil {
			all[javasdk.MemberName(member)] = value
		}
	}
	return all, nil
}

// announce lets the event of the job's end come to the collector at its time, if the
// service sends one.
func (j *simulatedJob) announce(ctx context.Context, ref jobs.Ref) error {
	event := j.entry.Job.Event
	if event == nil || j.collector == nil {
		return nil
	}
	after, err := j.lasts(ctx, ref)
	if err != nil || after > longestSimulation {
		return err
	}
	ids, err := j.JobIDs(ref)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := j.collector.Announce(event.Sample(id), after); err != nil {
			return err
		}
	}
	return nil
}

// longestSimulation is longer than any wait.
const longestSimulation = 366 * 24 * time.Hour

// mostThrottled is how many calls a service throttles that answers some.
const mostThrottled = 1000

// lasts is how long a job runs that has begun: a simulated service also says how the job
// will be.
func (j *simulatedJob) lasts(ctx context.Context, ref jobs.Ref) (time.Duration, error) {
	now, throttled := j.clock.Now(), 0
	low, high := -time.Millisecond, longestSimulation+time.Second // it runs at low, and may have ended at high
	for high-low > time.Millisecond {
		middle := low + ((high - low) / 2).Truncate(time.Millisecond)
		output, err := j.callFor(ctx, ref, j.entry.Job.Describe, j.entry.Job.Arguments, now.Add(middle))
		if coded, ok := errors.AsType[smithy.APIError](err); ok && coded.ErrorCode() != "" {
			if throttled++; throttled > mostThrottled {
				return longestSimulation + time.Second, nil
			}
			continue
		}
		if err != nil {
			return 0, err
		}
		if j.judge.Check(nil, output, nil).Verdict == pollcore.Retry {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}

// simulate plans the answers of the calls.
func (j *simulatedJob) simulate(o Options) error {
	service := j.entry.Service
	states := map[string]any{}
	names := []string{j.entry.Name, j.entry.Job.Describe}
	if j.entry.Job.Stop != nil {
		names = append(names, j.entry.Job.Stop.Operation)
	}
	for i, name := range names {
		next := map[string]any{"End": true}
		if i < len(names)-1 {
			next = map[string]any{"Next": names[i+1]}
		}
		states[name] = next
		maps.Copy(next, map[string]any{
			"Type": "Task", "Parameters": map[string]any{}, "Resource": "arn:aws:states:::aws-sdk:" + service.ARNName + ":" + strings.ToLower(name[:1]) + name[1:],
		})
	}
	text, err := json.Marshal(map[string]any{"StartAt": names[0], "States": states})
	if err != nil {
		return err
	}
	m, err := asl.Parse(text)
	if err != nil {
		return err
	}
	plan, err := o.Simulated.PlanCalls(m, map[string]*catalog.Entry{j.entry.Job.Describe: j.entry})
	if err != nil {
		return err
	}
	mocks, err := plan.Mocks()
	if err != nil {
		return err
	}
	options := sim.Options{Seed: o.Seed, Clock: j.clock}
	if err := mocks.Apply(m, "", &options); err != nil {
		return err
	}
	j.calls = map[string]simulatedCall{}
	for _, name := range names {
		call := simulatedCall{m.State(name).Task.Resource, options.StateHandlers[name]}
		if call.answer == nil {
			call.answer = options.Handlers[call.resource]
		}
		if j.calls[name] = call; call.answer == nil {
			return fmt.Errorf("nothing simulates %s %s", service.Key, name)
		}
	}
	return nil
}
