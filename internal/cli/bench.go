package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/builtin"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/lambdas/jobs/lambdajob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	localBucket = "jobpoller"
	prefix      = "jobpoller"
)

// bench is what a run works with on this machine: an S3 server, the Lambda
// service's Invoke operation for the sample job, and the two functions.
type bench struct {
	options runOptions
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

// newBench sets everything up. Whatever it started is stopped if it fails.
func newBench(ctx context.Context, o runOptions, clock *sim.Clock, stderr io.Writer) (_ *bench, err error) {
	b := &bench{options: o, clock: clock, bucket: o.bucket, signers: []loopback.Keys{loopback.NewKeys()}}
	defer func() {
		if err == nil {
			return
		}
		code := exitFailed
		if coded, ok := errors.AsType[*exitError](err); ok {
			code = coded.code
		}
		if ctx.Err() != nil {
			code, err = exitInterrupted, errors.New("interrupted")
		}
		err = &exitError{code, errors.Join(err, b.Close())}
	}()
	if !o.virtual || o.external() {
		if o.services.isGiven() {
			b.aws, b.awsErr = o.services.ofFunctions(ctx, o.verbose)
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
	if err := reach(ctx, "s3-endpoint", o.s3Endpoint); err != nil {
		return nil, err
	}
	if err := b.openS3(); err != nil { //nolint:contextcheck // the server lives until Close
		return nil, err
	}
	if err := b.openStore(); err != nil { //nolint:contextcheck // it calls nothing
		return nil, err
	}
	b.job = &sampleJob{
		clock: clock, client: b.client, bucket: b.bucket, folder: prefix + "/sample-jobs/" + o.name + "/",
		failed: func(err error) { terminal.Fprintf(stderr, "sample job: %v\n", err) },
	}
	if err := b.serveLambda(ctx); err != nil {
		return nil, err
	}
	if !o.processes {
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
	if o.verbose {
		log = stderr
	}
	if o.processes {
		err = b.startProcesses(ctx, log)
	} else {
		err = b.loadHandlers(registry, log)
	}
	return b, err
}

// Close stops everything.
func (b *bench) Close() error {
	var errs []error
	for _, closer := range slices.Backward(b.closers) {
		errs = append(errs, closer())
	}
	b.closers = nil
	return errors.Join(errs...)
}

// admitProcesses lets the functions' processes sign with the keys that they have.
func (b *bench) admitProcesses(ctx context.Context) (err error) {
	o := b.options
	if o.processes && o.needsAWS() {
		if b.credentials, err = b.aws.Credentials.Retrieve(ctx); err != nil {
			return fmt.Errorf("AWS credentials: %w", err)
		}
		b.signers = append(b.signers, loopback.Keys{AccessKeyID: b.credentials.AccessKeyID, SecretAccessKey: b.credentials.SecretAccessKey})
	}
	if o.functions.runPollers() {
		var keys loopback.Keys
		if keys, b.functionEnv, err = o.services.functionKeys(ctx, os.Environ(), b.signers[0], o.verbose); err != nil {
			return err
		}
		b.known = append(b.known, keys)
	}
	return nil
}

// openS3 starts the embedded server, or prepares for the user's.
func (b *bench) openS3() error {
	if b.options.usesS3() {
		b.client = s3.NewFromConfig(b.aws, func(o *s3.Options) {
			if b.options.s3Endpoint != "" {
				o.BaseEndpoint = aws.String(b.options.s3Endpoint)
			}
			o.UsePathStyle = o.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true
		})
		return nil
	}
	o := embeddeds3.Options{Dir: b.options.data, Keys: b.signers, Known: b.known}
	if b.clock.Virtual() {
		o.Now = b.clock.Now
	}
	server, err := embeddeds3.Start(o)
	if err != nil && b.options.data != "" {
		return usage("--data: %w", err)
	}
	if err != nil {
		return err
	}
	b.closers = append(b.closers, server.Close)
	b.server, b.client, b.bucket = server, server.Client(), localBucket
	if b.clock.Virtual() {
		b.client = server.DirectClient()
	}
	return server.CreateBucket(localBucket)
}

// openStore opens the store of the start records.
func (b *bench) openStore() (err error) {
	if b.options.table == "" {
		b.store, err = s3store.New(b.client, b.bucket, prefix)
		return err
	}
	b.store, err = direct.New(b.aws, b.options.table, prefix)
	return err
}

// reach finds out whether anybody listens at an endpoint: a client of AWS would
// try for a minute and a half.
func reach(ctx context.Context, flag, endpoint string) error {
	if endpoint == "" {
		return nil
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return usage("--%s: %w", flag, err)
	}
	port := cmp.Or(u.Port(), u.Scheme) // a name of a port too
	conn, err := (&net.Dialer{Timeout: reachTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return usage("--%s: cannot reach %s: %w", flag, endpoint, err)
	}
	return conn.Close()
}

const reachTimeout = 5 * time.Second

// serveLambda serves the Lambda service's Invoke operation on the loopback
// interface, with the sample job as its function.
func (b *bench) serveLambda(ctx context.Context) error {
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
	functions := map[string]func(context.Context, []byte) ([]byte, error){sampleJobFunction: job}
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

const noVirtualTime = "it calls a real service, which has no virtual time: remove --virtual"

// withoutAWS has no driver of the catalogue's jobs, for a reason.
func withoutAWS(lack string) jobs.Maker {
	return jobs.ByName(func(_ jobs.Environment, name string) (jobs.Driver, error) {
		if _, err := catalog.AWS().Resolve(name); err != nil {
			return nil, fmt.Errorf("%w: %w", jobs.ErrUnknownJob, err)
		}
		return nil, &jobs.NotConfiguredError{Job: name, Lack: lack}
	})
}

// drivers returns those of the Lambda functions, as far as there is what they
// need, and warns of a job that leaves this machine.
func (b *bench) drivers(stderr io.Writer) (*jobs.Registry, error) {
	invoker := builtin.Invoker(aws.Config{
		BaseEndpoint: aws.String(b.endpoint), Region: sim.DefaultRegion,
		Credentials: credentials.NewStaticCredentialsProvider(b.signers[0].AccessKeyID, b.signers[0].SecretAccessKey, ""),
	})
	makers := []jobs.Maker{
		func(jobs.Environment) (jobs.Driver, error) {
			return lambdajob.New(invoker, b.client, b.bucket, prefix+"/jobs"), nil
		},
		func(e jobs.Environment) (jobs.Driver, error) {
			if b.clock.Virtual() {
				return nil, &jobs.NotConfiguredError{Job: httpjob.Name, Lack: noVirtualTime}
			}
			return httpjob.FromEnvironment(e)
		},
		awsjob.Catalogue,
	}
	switch {
	case b.options.simulated.isGiven():
		makers[2] = b.simulateDrivers()
	case b.clock.Virtual():
		makers[2] = withoutAWS(noVirtualTime)
	case b.awsErr != nil:
		makers[2] = withoutAWS("AWS configuration: " + b.awsErr.Error())
	}
	job := b.options.job
	registry, err := jobs.Build(jobs.Environment{
		AWS: b.aws, S3: b.client, Bucket: b.bucket, Prefix: prefix, Jobs: append(slices.Clone(b.options.jobs), job), Getenv: os.Getenv,
	}, makers...)
	if err != nil {
		return nil, usage("%w", err)
	}
	if _, err := registry.Driver(job); errors.Is(err, jobs.ErrNotConfigured) {
		return nil, usage("%w", err)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(b.options.jobs), job)))) {
		if _, err := registry.Driver(name); err == nil && name != lambdajob.Name {
			if err := b.announce(stderr, name); err != nil {
				return nil, err
			}
		}
	}
	return registry, nil
}

// announce says where the calls of a job go, unless the flags name a URL.
func (b *bench) announce(stderr io.Writer, job string) error {
	if b.options.simulated.isGiven() {
		return nil
	}
	base := ""
	if key, _, _ := strings.Cut(job, ":"); job != httpjob.Name {
		service, err := models.Load(key)
		if err != nil {
			return err
		}
		if at, named := b.options.services.places.of(service.Key); named && !at.isAWS() {
			return nil
		}
		if base, err = baseOf(&b.aws, service); err != nil {
			return usage("%w", err)
		}
	}
	if base == "" {
		terminal.Fprintf(stderr, "%s calls the real service\n", job)
	} else {
		terminal.Fprintf(stderr, "%s calls %s instead of AWS, as AWS_ENDPOINT_URL or the AWS configuration says\n", job, base)
	}
	return nil
}

// loadHandlers runs the two functions in this process.
func (b *bench) loadHandlers(registry *jobs.Registry, log io.Writer) error {
	cfg := handler.Config{
		Store: localloop.Index(b.store), Queue: b.collector, Tasks: b.collector,
		Jobs: registry, Now: b.clock.Now, NoDwell: b.clock.Virtual(), Log: slog.New(slog.NewJSONHandler(log, nil)),
		StoreFlags: b.recordsFlags(),
	}
	at := place{b.options.s3Endpoint}
	service := "_S3="
	if b.options.table != "" {
		at, _ = b.options.services.places.of("dynamodb")
		service = "_DYNAMODB="
	}
	if !at.isAWS() {
		cfg.StoreVariables = endpointVariable + service + shell.Quote(at.url) + " "
	}
	if b.clock.Virtual() {
		var mu sync.Mutex
		random := rand.New(rand.NewPCG(b.options.seed, 1)) //nolint:gosec // jitter, repeatable by design
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

// functions are the functions that a definition can invoke. After each call of
// one of the poller's two, polled is told what it returned.
func (b *bench) functions(polled func(function string, result handler.Result, err error)) map[string]sim.LambdaFunction {
	all := map[string]sim.LambdaFunction{sampleJobFunction: b.job.invoke}
	for name, function := range b.handlers {
		all[name] = b.follow(name, function, polled)
	}
	return all
}

// follow tells polled what a function returns, by the name that the shipped one has.
func (b *bench) follow(
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

// readResult reads a result of the poller's functions; false if it is something else.
func readResult(text []byte) (result handler.Result, ok bool) {
	err := json.Unmarshal(text, &result)
	return result, err == nil && result.Status != ""
}

// invokeHandlers are what answers the Tasks that invoke functions.
func (b *bench) invokeHandlers(polled func(function string, result handler.Result, err error)) map[string]sim.Handler {
	invoke := sim.LambdaInvoke(b.functions(polled))
	handlers := map[string]sim.Handler{lambdaInvoke: invoke}
	if b.collector != nil {
		handlers[lambdaInvokeForToken] = b.collector.Handler(invoke)
	}
	return handlers
}

// note counts the checks and remembers whose start records the run has.
func (b *bench) note(function string, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if function == statemachines.CheckStatusFunction {
		b.polls++
	}
	if event, err := handler.ParseEvent(payload); err == nil && !slices.Contains(b.keys, event.Key) {
		b.keys = append(b.keys, event.Key)
	}
}

// startRecords names the start records that the run has written.
func (b *bench) startRecords(ctx context.Context) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	locations := []string{}
	for _, key := range b.keys {
		if _, err := b.store.Load(ctx, key); err == nil {
			locations = append(locations, b.store.Location(key))
		}
	}
	return locations
}
