package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/commandline"
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
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// recordPlace says where start records go: to the embedded S3 server, else to a bucket, or
// to a table.
type recordPlace struct {
	data       string // the folder of the embedded server; empty for memory
	s3Endpoint string // of another S3 server than AWS's
	bucket     string
	table      string
}

// external tells whether start records go to a store that is not ours.
func (r *recordPlace) external() bool { return r.usesS3() || r.table != "" }

// usesS3 tells whether an S3 server that is not ours is used.
func (r *recordPlace) usesS3() bool { return r.s3Endpoint != "" || r.bucket != "" }

// benchOptions say which functions are wanted, and what they work with.
type benchOptions struct {
	name           string // of the execution
	seed           uint64
	quiet, verbose bool
	processes      bool // run the functions as processes
	records        recordPlace
	job            string   // that the input asks for
	jobs           []string // that the definition asks for

	services  answers.Services
	simulated answers.Simulated
	functions answers.Functions // of --lambda
}

// needsAWS tells whether the functions use the user's AWS settings.
func (o *benchOptions) needsAWS() bool {
	return o.records.external() || o.job != lambdajob.Name && o.job != httpjob.Name
}

// bench is what a run works with on this machine: an S3 server, the Lambda
// service's Invoke operation for the sample job, and the two functions.
type bench struct {
	options benchOptions
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
var ownFunctions = []string{statemachines.RunJobFunction, statemachines.CheckStatusFunction, sampleJobFunction}

// newBenchFor sets up the functions for a state machine and an input, if it invokes one;
// nil for none. It puts the start of the execution into the options of its run.
func newBenchFor(ctx context.Context, m *asl.StateMachine, input []byte, o benchOptions, run *sim.Options, stderr io.Writer) (_ *bench, err error) {
	text := string(asl.Print(m))
	needed := o.functions.RunPollers()
	for _, name := range ownFunctions {
		needed = needed || strings.Contains(text, name) && o.functions.Find(name) == ""
	}
	if !needed {
		return nil, nil //nolint:nilnil // it needs none
	}
	o.job, o.jobs = requestJob(input), jobsIn(text)
	switch {
	case o.functions.RunPollers():
		o.job, o.jobs, o.processes = lambdajob.Name, nil, false // the jobs are those of the functions
	case o.simulated.IsGiven() && o.job != lambdajob.Name:
		o.job, o.jobs = lambdajob.Name, append(o.jobs, o.job) // nothing calls AWS
	}
	b, err := newBench(ctx, o, run.Clock, stderr)
	if err != nil {
		return nil, err
	}
	if run.StartTime, err = b.claimStart(ctx, stderr); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// newBench sets everything up. Whatever it started is stopped if it fails.
func newBench(ctx context.Context, o benchOptions, clock *sim.Clock, stderr io.Writer) (_ *bench, err error) {
	b := &bench{options: o, clock: clock, bucket: o.records.bucket, signers: []loopback.Keys{loopback.NewKeys()}}
	defer func() {
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = errors.Join(err, b.Close())
	}()
	if !clock.Virtual() || o.records.external() {
		if o.services.IsGiven() {
			b.aws, b.awsErr = o.services.OfFunctions(ctx, o.verbose)
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
	if err := answers.Reach(ctx, "s3-endpoint", o.records.s3Endpoint); err != nil {
		return nil, err
	}
	if err := b.openS3(); err != nil { //nolint:contextcheck // the server lives until Close
		return nil, err
	}
	if err := b.openStore(); err != nil { //nolint:contextcheck // it calls nothing
		return nil, err
	}
	b.job = &sampleJob{
		clock: clock, client: b.client, bucket: b.bucket, folder: handler.DefaultPrefix + "/sample-jobs/" + o.name + "/",
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
	if o.functions.RunPollers() {
		var keys loopback.Keys
		if keys, b.functionEnv, err = o.services.FunctionKeys(ctx, os.Environ(), b.signers[0], o.verbose); err != nil {
			return err
		}
		b.known = append(b.known, keys)
	}
	return nil
}

// openS3 starts the embedded server, or prepares for the user's.
func (b *bench) openS3() error {
	if b.options.records.usesS3() {
		b.client = s3.NewFromConfig(b.aws, func(o *s3.Options) {
			if b.options.records.s3Endpoint != "" {
				o.BaseEndpoint = aws.String(b.options.records.s3Endpoint)
			}
			o.UsePathStyle = o.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true
		})
		return nil
	}
	o := embeddeds3.Options{Dir: b.options.records.data, Keys: b.signers, Known: b.known}
	if b.clock.Virtual() {
		o.Now = b.clock.Now
	}
	server, err := embeddeds3.Start(o)
	if err != nil && b.options.records.data != "" {
		return commandline.Errorf("--data: %w", err)
	}
	if err != nil {
		return err
	}
	b.closers = append(b.closers, server.Close)
	b.server, b.client, b.bucket = server, server.Client(), localloop.Bucket
	if b.clock.Virtual() {
		b.client = server.DirectClient()
	}
	return server.CreateBucket(localloop.Bucket)
}

// openStore opens the store of the start records.
func (b *bench) openStore() (err error) {
	if b.options.records.table == "" {
		b.store, err = s3store.New(b.client, b.bucket, handler.DefaultPrefix)
		return err
	}
	b.store, err = direct.New(b.aws, b.options.records.table, handler.DefaultPrefix)
	return err
}

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
			return lambdajob.New(invoker, b.client, b.bucket, handler.DefaultPrefix+"/jobs"), nil
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
	case b.options.simulated.IsGiven():
		makers[2] = b.simulateDrivers()
	case b.clock.Virtual():
		makers[2] = withoutAWS(noVirtualTime)
	case b.awsErr != nil:
		makers[2] = withoutAWS("AWS configuration: " + b.awsErr.Error())
	}
	job := b.options.job
	registry, err := jobs.Build(jobs.Environment{
		AWS: b.aws, S3: b.client, Bucket: b.bucket, Prefix: handler.DefaultPrefix, Jobs: append(slices.Clone(b.options.jobs), job), Getenv: os.Getenv,
	}, makers...)
	if err != nil {
		return nil, commandline.Errorf("%w", err)
	}
	if _, err := registry.Driver(job); errors.Is(err, jobs.ErrNotConfigured) {
		return nil, commandline.Errorf("%w", err)
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
	if b.options.simulated.IsGiven() {
		return nil
	}
	base := ""
	if key, _, _ := strings.Cut(job, ":"); job != httpjob.Name {
		service, err := models.Load(key)
		if err != nil {
			return err
		}
		if at, named := b.options.services.Places.Of(service.Key); named && !at.IsAWS() {
			return nil
		}
		if base, err = awssettings.BaseOf(&b.aws, service.Name); err != nil {
			return commandline.Errorf("%w", err)
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
	url, service := b.options.records.s3Endpoint, "_S3="
	if b.options.records.table != "" {
		at, _ := b.options.services.Places.Of("dynamodb")
		url, service = at.URL(), "_DYNAMODB="
	}
	if url != "" {
		cfg.StoreVariables = answers.EndpointVariable + service + shell.Quote(url) + " "
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

// addStore gives functions of --lambda the store of the run in their environment.
func (b *bench) addStore(_ context.Context, env []string) ([]string, error) {
	url := b.options.records.s3Endpoint
	if b.server != nil {
		url = b.server.SecretURL()
	}
	return answers.SetStore(slices.Concat(env, b.functionEnv), b.storeAt(url)), nil
}

// storeAt is the store of the run for functions, with its S3 server at a URL.
func (b *bench) storeAt(url string) answers.Store {
	return answers.Store{URL: url, Bucket: b.bucket, Table: b.options.records.table, Flags: b.recordsFlags()}
}

// recordsFlags are the flags with which jobpoller records opens the store of the run; empty
// for those of its place.
func (b *bench) recordsFlags() string {
	if b.server == nil || b.options.records.table != "" {
		return ""
	}
	return answers.FolderFlags(b.options.records.data)
}

// own are the functions for a router of Tasks.
func (b *bench) own(polled func(function string, result handler.Result, err error)) answers.Own {
	own := answers.Own{
		Functions: b.functions(polled),
		Follow:    func(name string, f sim.LambdaFunction) sim.LambdaFunction { return b.follow(name, f, polled) },
	}
	if !b.options.functions.RunPollers() {
		own.Collector = b.collector
	}
	return own
}

// readResult reads a result of the poller's functions; false if it is something else.
func readResult(text []byte) (result handler.Result, ok bool) {
	err := json.Unmarshal(text, &result)
	return result, err == nil && result.Status != ""
}

// invokeHandlers are what answers the Tasks that invoke functions.
func (b *bench) invokeHandlers(polled func(function string, result handler.Result, err error)) map[string]sim.Handler {
	invoke := sim.LambdaInvoke(b.functions(polled))
	handlers := map[string]sim.Handler{answers.LambdaInvoke: invoke}
	if b.collector != nil {
		handlers[answers.InvokeForToken] = b.collector.Handler(invoke)
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

// countPolls is how often check-status was called.
func (b *bench) countPolls() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.polls
}

// reachableServer is the S3 server of the start records; nil if it is not ours, or if the
// run is virtual and so over before anybody could use it.
func (b *bench) reachableServer() *embeddeds3.Server {
	if b.clock.Virtual() {
		return nil
	}
	return b.server
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

// requestJob is the job that the input asks for; an input that is not a request
// is for the sample job or for no job at all.
func requestJob(input []byte) string {
	request := struct {
		Job string `json:"job"`
	}{lambdajob.Name}
	if json.Unmarshal(input, &request) != nil {
		return lambdajob.Name
	}
	return request.Job
}

// jobsIn are the jobs that a definition asks the functions for by name.
func jobsIn(definition string) []string {
	var found []string
	for _, match := range jobMember().FindAllStringSubmatch(definition, -1) {
		found = append(found, match[1])
	}
	return found
}

// jobMember is the member of a request that names a job of the catalogue.
var jobMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"job":\s*"([\w-]+:\w+)"`) })
