package poller

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The environment variables of the Lambda functions. The AWS SDK reads its own
// besides, such as AWS_REGION and AWS_ENDPOINT_URL_S3.
const (
	EnvBucket        = "JOBPOLLER_BUCKET"               // required: bucket of the start records
	EnvPrefix        = "JOBPOLLER_PREFIX"               // their key prefix, default "jobpoller"
	EnvJobs          = "JOBPOLLER_JOBS"                 // allowed jobs, separated by commas; default all
	EnvLeaseMargin   = "JOBPOLLER_LEASE_MARGIN_SECONDS" // see Config.LeaseMargin
	EnvRetentionDays = "JOBPOLLER_RETENTION_DAYS"       // see Config.Retention
	EnvLogLevel      = "JOBPOLLER_LOG_LEVEL"            // debug, info, warn or error; default info
)

const defaultPrefix = "jobpoller"

// FromEnvironment returns the Poller of a Lambda function, set up from its
// environment, with the given drivers. All problems of the environment are
// reported at once.
func FromEnvironment(ctx context.Context, drivers ...func(jobs.Environment) jobs.Driver) (*Poller, error) {
	var env environment
	bucket := env.required(EnvBucket)
	prefix := env.text(EnvPrefix, defaultPrefix)
	margin := env.number(EnvLeaseMargin, 1, 900)
	days := env.number(EnvRetentionDays, 15, 3650)
	level := env.level(EnvLogLevel)
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		env.report("AWS configuration: %w", err)
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		// A bucket is no host name of a custom endpoint.
		o.UsePathStyle = o.BaseEndpoint != nil
		o.DisableLogOutputChecksumValidationSkipped = true // else a line a check
	})
	store, err := s3store.New(client, bucket, prefix)
	if err != nil && bucket != "" {
		env.report("environment variables %s and %s: %w", EnvBucket, EnvPrefix, err)
	}
	registry := env.registry(EnvJobs, jobs.Environment{AWS: cfg, S3: client, Bucket: bucket, Prefix: prefix}, drivers)
	if err := errors.Join(env.problems...); err != nil {
		return nil, err
	}
	return New(Config{
		Store: store, Jobs: registry,
		LeaseMargin: time.Duration(margin) * time.Second,
		Retention:   time.Duration(days) * 24 * time.Hour,
		Log:         slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
	})
}

// environment reads variables and collects what is wrong with them.
type environment struct{ problems []error }

func (e *environment) report(format string, args ...any) {
	e.problems = append(e.problems, fmt.Errorf(format, args...))
}

func (e *environment) text(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func (e *environment) required(name string) string {
	v := os.Getenv(name)
	if v == "" {
		e.report("environment variable %s is required, but not set", name)
	}
	return v
}

// number returns 0 for a variable that is not set.
func (e *environment) number(name string, lo, hi int) int {
	v := os.Getenv(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		e.report("environment variable %s must be a whole number from %d to %d, is %q", name, lo, hi, v)
	}
	return n
}

func (e *environment) level(name string) slog.Level {
	var level slog.Level
	if v := os.Getenv(name); v != "" {
		if err := level.UnmarshalText([]byte(v)); err != nil {
			e.report("environment variable %s must be debug, info, warn or error, is %q", name, v)
		}
	}
	return level
}

// registry builds the drivers of the jobs that the variable lists, or all of
// them.
func (e *environment) registry(name string, je jobs.Environment, drivers []func(jobs.Environment) jobs.Driver) *jobs.Registry {
	built := make([]jobs.Driver, 0, len(drivers))
	for _, d := range drivers {
		built = append(built, d(je))
	}
	all, err := jobs.NewRegistry(built...)
	if err != nil {
		e.report("%w", err)
		return nil
	}
	list := os.Getenv(name)
	if list == "" {
		return all
	}
	var chosen []jobs.Driver
	for job := range strings.SplitSeq(list, ",") {
		driver, err := all.Driver(strings.TrimSpace(job))
		if err != nil {
			e.report("environment variable %s: %w", name, err)
			continue
		}
		chosen = append(chosen, driver)
	}
	allowed, err := jobs.NewRegistry(chosen...)
	if err != nil {
		e.report("environment variable %s: %w", name, err)
	}
	return allowed
}
