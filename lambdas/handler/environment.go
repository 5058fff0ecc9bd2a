package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// The environment variables of the Lambda functions. Drivers may have some of
// their own. The AWS SDK reads its own besides, such as AWS_REGION and
// AWS_ENDPOINT_URL_S3.
const (
	EnvPrefix        = "JOBPOLLER_PREFIX"               // prefix of all keys, default "jobpoller"
	EnvJobs          = "JOBPOLLER_JOBS"                 // jobs that may be started, separated by commas; default all that are configured
	EnvLeaseMargin   = "JOBPOLLER_LEASE_MARGIN_SECONDS" // see Config.LeaseMargin
	EnvRetentionDays = "JOBPOLLER_RETENTION_DAYS"       // see Config.Retention
	EnvMaxWait       = "JOBPOLLER_MAX_WAIT_SECONDS"     // see Config.MaxWait
	EnvOutputLimit   = "JOBPOLLER_OUTPUT_LIMIT_BYTES"   // see Config.OutputLimit
	EnvLogLevel      = "JOBPOLLER_LOG_LEVEL"            // debug, info, warn or error; default AWS_LAMBDA_LOG_LEVEL, or info
	EnvQueueURL      = "JOBPOLLER_QUEUE_URL"            // of the queue of the collector, in SQS; for Tasks that wait for a callback
	EnvMetrics       = "JOBPOLLER_METRICS_NAMESPACE"    // of the CloudWatch metrics; default "JobPoller", "none" for no metrics
	EnvDeployment    = "JOBPOLLER_DEPLOYMENT"           // see Metrics.Deployment
	EnvStoreFlags    = "JOBPOLLER_STORE_FLAGS"          // see Config.StoreFlags; run and serve set it
)

// DefaultPrefix begins the keys of start records where EnvPrefix is not set.
const DefaultPrefix = "jobpoller"

const (
	defaultNamespace = "JobPoller"
	noMetrics        = "none"
)

// FromEnvironment returns the Handler of a Lambda function, set up from its
// environment, with the store and the drivers that are given. Drivers whose
// environment is not set are left out, unless EnvJobs names them. All problems
// of the environment are reported at once, among them variables that are
// misspelt ones of those that anybody has read.
func FromEnvironment(open StoreMaker, drivers ...jobs.Maker) (*Handler, error) {
	var env environment
	cfg := Config{
		LeaseMargin: time.Duration(env.number(EnvLeaseMargin, 1, 900)) * time.Second,
		Retention:   time.Duration(env.number(EnvRetentionDays, 15, 3650)) * 24 * time.Hour,
		MaxWait:     time.Duration(env.number(EnvMaxWait, 1, int(maxWaitLimit/time.Second))) * time.Second,
		OutputLimit: env.number(EnvOutputLimit, 1024, maxOutputLimit),
		StoreFlags:  env.get(EnvStoreFlags),
		Log:         env.logger(),
	}
	if namespace := env.text(EnvMetrics, defaultNamespace); namespace != noMetrics {
		cfg.Metrics = &Metrics{Namespace: namespace, Deployment: env.text(EnvDeployment, ""), Writer: os.Stdout}
	}
	settings, err := awsConfig()
	if err != nil {
		env.report("AWS configuration: %w", err)
	}
	settings.Logger = sdkLog{cfg.Log, context.Background()}
	of := jobs.Environment{
		AWS: settings, Bucket: env.get(EnvBucket), Prefix: env.text(EnvPrefix, DefaultPrefix), Getenv: env.get,
		S3: s3.NewFromConfig(settings, func(o *s3.Options) {
			// A bucket is not a host name of a custom endpoint.
			o.UsePathStyle = o.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true // else a line a check
		}),
	}
	if cfg.Store, err = open(of); err != nil {
		env.report("%w", err)
	} else {
		cfg.Store = env.movingStore(cfg.Store, of, open)
		if cfg.StoreFlags == "" {
			cfg.StoreVariables = endpointVariables(cfg.Store.Location(startrecord.Key{}))
		}
	}
	cfg.Jobs = env.registry(of, drivers)
	env.callbacks(&cfg, settings)
	env.misspelt()
	if err := cfg.checkRetention(); err != nil { // New comes too late to tell it with the rest
		env.report("%w", err)
	}
	if err := errors.Join(env.problems...); err != nil {
		return nil, err
	}
	return New(cfg)
}

// callbacks sets what Tasks that wait for a callback need, if there is a queue.
func (e *environment) callbacks(cfg *Config, settings aws.Config) {
	queueURL := e.get(EnvQueueURL)
	if queueURL == "" {
		return
	}
	queue, err := newSQSQueue(settings, queueURL)
	if err != nil {
		e.report("environment variable %s: %w", EnvQueueURL, err)
		return
	}
	tasks, err := newStepFunctions(settings)
	if err != nil {
		e.report("Step Functions: %w", err)
		return
	}
	cfg.Queue, cfg.Tasks = queue, tasks
}

// environment reads variables and collects what is wrong with them.
type environment struct {
	problems []error
	read     []string // names
}

func (e *environment) report(format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf(format, args...))
}

func (e *environment) get(name string) string {
	e.read = append(e.read, name)
	return os.Getenv(name)
}

func (e *environment) text(name, otherwise string) string {
	if v := e.get(name); v != "" {
		return v
	}
	return otherwise
}

// number returns 0 for a variable that is not set, or is wrong.
func (e *environment) number(name string, lo, hi int) int {
	v := e.get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		e.report("environment variable %s must be a whole number from %d to %d, is %q", name, lo, hi, v)
		return 0
	}
	return n
}

func (e *environment) level(name string) slog.Level {
	var level slog.Level
	if v := e.get(name); v != "" {
		if err := level.UnmarshalText([]byte(v)); err != nil {
			e.report("environment variable %s must be debug, info, warn or error, is %q", name, v)
		}
	}
	return level
}

// misspelt reports variables that nobody has read, if their names are close to
// one that was read. Others may be anybody's.
func (e *environment) misspelt() {
	const ours = "JOBPOLLER_"
	known := make([]string, len(e.read))
	for i, name := range e.read {
		known[i] = strings.TrimPrefix(name, ours)
	}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		short, found := strings.CutPrefix(name, ours)
		if !found || value == "" || slices.Contains(known, short) {
			continue
		}
		if near := nearest.Word(short, known); near != "" {
			e.report("environment variable %s is not known%s", name, nearest.Question(ours+near))
		}
	}
}

// registry builds the drivers, and keeps the jobs that EnvJobs lists.
func (e *environment) registry(of jobs.Environment, makers []jobs.Maker) *jobs.Registry {
	list := e.get(EnvJobs)
	if list != "" {
		for name := range strings.SplitSeq(list, ",") {
			of.Jobs = append(of.Jobs, strings.TrimSpace(name))
		}
	}
	all, err := jobs.Build(of, makers...)
	if err != nil {
		e.report("%w", err)
		return nil
	}
	if list == "" {
		return all
	}
	var chosen []jobs.Driver
	for _, job := range of.Jobs {
		driver, err := all.Driver(job)
		if err != nil {
			e.report("environment variable %s: %w", EnvJobs, err)
			continue
		}
		chosen = append(chosen, driver)
	}
	allowed, err := all.Only(chosen...)
	if err != nil {
		e.report("environment variable %s: %w", EnvJobs, err)
	}
	return allowed
}
