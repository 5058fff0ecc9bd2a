// Package shipped runs the Lambda functions that jobpoller ships on this machine, with the
// store that they need and the sample job.
package shipped

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Options say which functions are wanted, and what they work with.
type Options struct {
	Name           string // of the execution
	Seed           uint64
	Quiet, Verbose bool
	Processes      bool // run the functions as processes
	Records        Store
	Job            string   // that the input asks for
	jobs           []string // that the definition asks for

	Services  answers.Services
	Simulated answers.Simulated
	Functions answers.Functions // of --lambda
}

// needsAWS tells whether the functions use the user's AWS settings.
func (o *Options) needsAWS() bool {
	return o.Records.External() || o.Job != lambdajob.Name && o.Job != httpjob.Name
}

// Functions is what a run works with on this machine: an S3 server, the Lambda
// service's Invoke operation for the sample job, and the two functions.
type Functions struct {
	options Options
	clock   *sim.Clock
	aws     aws.Config // the user's own
	awsErr  error      // why there is none
	// signers sign for the servers of this run. The first is drawn for the run.
	// The functions' processes have one pair of keys for all services, so with a
	// job of AWS's they sign with the user's own, the second.
	signers     []loopback.Keys
	known       []loopback.Keys // of the functions of --lambda, which others may know, too
	credentials aws.Credentials // of the user, for processes
	functionEnv []string        // what the functions of --lambda sign with

	server *embeddeds3.Server // nil with an S3 server of the user's
	client *s3.Client
	bucket string
	store  startrecord.Store

	job      *sampleJob
	endpoint string // of the Lambda service

	handlers  map[string]sim.LambdaFunction
	collector *localloop.Collector // nil with processes
	closers   []func() error

	mu    sync.Mutex
	polls int
	keys  []startrecord.Key
}

// ownFunctions are the functions that the command has itself.
var ownFunctions = []string{statemachines.RunJobFunction, statemachines.CheckStatusFunction, SampleJobFunction}

// StartFor sets up the functions for a state machine and an input, if it invokes one;
// nil for none. It puts the start of the execution into the options of its run.
func StartFor(ctx context.Context, m *asl.StateMachine, input []byte, o Options, run *sim.Options, stderr io.Writer) (_ *Functions, err error) {
	text := string(asl.Print(m))
	needed := o.Functions.RunPollers()
	for _, name := range ownFunctions {
		needed = needed || strings.Contains(text, name) && o.Functions.Find(name) == ""
	}
	if !needed {
		return nil, nil //nolint:nilnil // it needs none
	}
	o.Job, o.jobs = RequestJob(input), JobsIn(text)
	switch {
	case o.Functions.RunPollers():
		o.Job, o.jobs, o.Processes = lambdajob.Name, nil, false // the jobs are those of the functions
	case o.Simulated.IsGiven() && o.Job != lambdajob.Name:
		o.Job, o.jobs = lambdajob.Name, append(o.jobs, o.Job) // nothing calls AWS
	}
	b, err := Start(ctx, o, run.Clock, stderr)
	if err != nil {
		return nil, err
	}
	if run.StartTime, err = b.ClaimStart(ctx, stderr); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Start sets everything up. Whatever it started is stopped if it fails.
func Start(ctx context.Context, o Options, clock *sim.Clock, stderr io.Writer) (_ *Functions, err error) {
	b := &Functions{options: o, clock: clock, bucket: o.Records.Bucket, signers: []loopback.Keys{loopback.NewKeys()}}
	defer func() {
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = errors.Join(err, b.Close())
	}()
	if !clock.Virtual() || o.Records.External() {
		if o.Services.IsGiven() {
			b.aws, b.awsErr = o.Services.OfFunctions(ctx, o.Verbose)
		} else {
			b.aws, b.awsErr = config.LoadDefaultConfig(ctx, config.WithDefaultRegion(sim.DefaultRegion))
		}
		if b.awsErr != nil && o.needsAWS() {
			return nil, fmt.Errorf("AWS configuration: %w", b.awsErr)
		}
	}
	if err := b.admitProcesses(ctx); err != nil {
		return nil, err
	}
	if err := answers.Reach(ctx, "s3-endpoint", o.Records.S3Endpoint); err != nil {
		return nil, err
	}
	if err := b.openS3(); err != nil { //nolint:contextcheck // the server lives until Close
		return nil, err
	}
	if err := b.openStore(); err != nil { //nolint:contextcheck // it calls nothing
		return nil, err
	}
	b.job = &sampleJob{
		clock: clock, client: b.client, bucket: b.bucket, folder: handler.DefaultPrefix + "/sample-jobs/" + o.Name + "/",
		failed: func(err error) { terminal.Fprintf(stderr, "sample job: %v\n", err) },
	}
	if err := b.serveLambda(ctx); err != nil {
		return nil, err
	}
	if !o.Processes {
		batchSize := 10
		if clock.Virtual() {
			batchSize = 1
		}
		b.collector = localloop.NewCollector(clock, batchSize)
		b.closers = append(b.closers, b.collector.Close)
	}
	registry, err := b.drivers(stderr) //nolint:contextcheck // it calls nothing
	if err != nil {
		return nil, err
	}
	log := io.Discard
	if o.Verbose {
		log = stderr
	}
	if o.Processes {
		err = b.startProcesses(ctx, log)
	} else {
		err = b.loadHandlers(registry, log)
	}
	return b, err
}

// Close stops everything.
func (b *Functions) Close() error {
	var errs []error
	for _, closer := range slices.Backward(b.closers) {
		errs = append(errs, closer())
	}
	b.closers = nil
	return errors.Join(errs...)
}

// Own are the functions for a router of Tasks.
func (b *Functions) Own(polled func(function string, result handler.Result, err error)) answers.Own {
	own := answers.Own{
		Functions: b.functions(polled),
		Follow:    func(name string, f sim.LambdaFunction) sim.LambdaFunction { return b.follow(name, f, polled) },
	}
	if !b.options.Functions.RunPollers() {
		own.Collector = b.collector
	}
	return own
}

// CountPolls is how often check-status was called.
func (b *Functions) CountPolls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.polls
}

// admitProcesses lets the functions' processes sign with the keys that they have.
func (b *Functions) admitProcesses(ctx context.Context) (err error) {
	o := b.options
	if o.Processes && o.needsAWS() {
		if b.credentials, err = b.aws.Credentials.Retrieve(ctx); err != nil {
			return fmt.Errorf("AWS credentials: %w", err)
		}
		b.signers = append(b.signers, loopback.Keys{AccessKeyID: b.credentials.AccessKeyID, SecretAccessKey: b.credentials.SecretAccessKey})
	}
	if o.Functions.RunPollers() {
		var keys loopback.Keys
		if keys, b.functionEnv, err = o.Services.FunctionKeys(ctx, os.Environ(), b.signers[0], o.Verbose); err != nil {
			return err
		}
		b.known = append(b.known, keys)
	}
	return nil
}

// serveLambda serves the Lambda service's Invoke operation on the loopback
// interface, with the sample job as its function.
func (b *Functions) serveLambda(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	// A job that was accepted has begun: a run that is killed now leaves its note, and
	// the virtual clock does not go on before it.
	async := func(run func(context.Context)) { run(ctx) }
	job := func(ctx context.Context, payload []byte) ([]byte, error) {
		result, err := b.job.invoke(ctx, payload)
		if err != nil {
			b.job.failed(err) // nobody waits for the answer
		}
		return result, err
	}
	functions := map[string]func(context.Context, []byte) ([]byte, error){SampleJobFunction: job}
	server, err := runtimeapi.ServeInvoke(functions, async, slices.Concat(b.signers, b.known)...) //nolint:contextcheck // the server lives until Close
	if err != nil {
		return err
	}
	b.endpoint = server.URL()
	b.closers = append(b.closers, func() error {
		err := server.Close()
		server.Wait() // none begins later
		b.job.stop()
		return err
	})
	return nil
}

// loadHandlers runs the two functions in this process.
func (b *Functions) loadHandlers(registry *jobs.Registry, log io.Writer) error {
	cfg := handler.Config{
		Store: localloop.Index(b.store), Queue: b.collector, Tasks: b.collector,
		Jobs: registry, Now: b.clock.Now, NoDwell: b.clock.Virtual(), Log: slog.New(slog.NewJSONHandler(log, nil)),
		StoreFlags: b.recordsFlags(),
	}
	url, service := b.options.Records.S3Endpoint, "_S3="
	if b.options.Records.Table != "" {
		at, _ := b.options.Services.Places.Of("dynamodb")
		url, service = at.URL(), "_DYNAMODB="
	}
	if url != "" {
		cfg.StoreVariables = answers.EndpointVariable + service + shell.Quote(url) + " "
	}
	if b.clock.Virtual() {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(b.options.Seed, 1)) //nolint:gosec // jitter, repeatable by design
		cfg.Random = func(n int64) int64 {
			mu.Lock()
			defer mu.Unlock()
			return random.Int64N(n)
		}
	}
	p, err := handler.New(cfg)
	if err != nil {
		return err
	}
	b.handlers = localloop.Functions(p)
	b.collector.Start(p.Collect)
	return nil
}

// readResult reads a result of the poller's functions; false if it is something else.
func readResult(text []byte) (result handler.Result, ok bool) {
	err := json.Unmarshal(text, &result)
	return result, err == nil && result.Status != ""
}

// Functions are the functions that a definition can invoke. After each call of
// one of the poller's two, polled is told what it returned.
func (b *Functions) functions(polled func(function string, result handler.Result, err error)) map[string]sim.LambdaFunction {
	all := map[string]sim.LambdaFunction{SampleJobFunction: b.job.invoke}
	for name, function := range b.handlers {
		all[name] = b.follow(name, function, polled)
	}
	return all
}

// follow tells polled what a function returns, by the name that the shipped one has.
func (b *Functions) follow(
	name string, function sim.LambdaFunction, polled func(function string, result handler.Result, err error),
) sim.LambdaFunction {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		b.note(name, payload)
		text, err := function(ctx, payload)
		result, ok := readResult(text)
		if err == nil && !ok {
			return text, nil // that of another function
		}
		polled(name, result, err)
		return text, err
	}
}

// note counts the checks and remembers whose start records the run has.
func (b *Functions) note(function string, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if function == statemachines.CheckStatusFunction {
		b.polls++
	}
	if event, err := handler.ParseEvent(payload); err == nil && !slices.Contains(b.keys, event.Key) {
		b.keys = append(b.keys, event.Key)
	}
}
