package poller

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// The environment variables of the Lambda functions. Drivers may have some of
// their own. The AWS SDK reads its own besides, such as AWS_REGION and
// AWS_ENDPOINT_URL_S3.
const (
	EnvPrefix        = "JOBPOLLER_PREFIX"               // prefix of all keys, default "jobpoller"
	EnvJobs          = "JOBPOLLER_JOBS"                 // allowed jobs, separated by commas; default all that are configured
	EnvLeaseMargin   = "JOBPOLLER_LEASE_MARGIN_SECONDS" // see Config.LeaseMargin
	EnvRetentionDays = "JOBPOLLER_RETENTION_DAYS"       // see Config.Retention
	EnvMaxWait       = "JOBPOLLER_MAX_WAIT_SECONDS"     // see Config.MaxWait
	EnvOutputLimit   = "JOBPOLLER_OUTPUT_LIMIT_BYTES"   // see Config.OutputLimit
	EnvLogLevel      = "JOBPOLLER_LOG_LEVEL"            // debug, info, warn or error; default info
	EnvMetrics       = "JOBPOLLER_METRICS_NAMESPACE"    // of the CloudWatch metrics; default "JobPoller", "none" for no metrics
)

const (
	defaultPrefix    = "jobpoller"
	defaultNamespace = "JobPoller"
	noMetrics        = "none"
)

// FromEnvironment returns the Poller of a Lambda function, set up from its
// environment, with the store and the drivers that are given. Drivers whose
// environment is not set are left out, unless EnvJobs names them. All problems
// of the environment are reported at once.
func FromEnvironment(open StoreMaker, drivers ...jobs.Maker) (*Poller, error) {
	var env environment
	cfg := Config{
		LeaseMargin: time.Duration(env.number(EnvLeaseMargin, 1, 900)) * time.Second,
		Retention:   time.Duration(env.number(EnvRetentionDays, 15, 3650)) * 24 * time.Hour,
		MaxWait:     time.Duration(env.number(EnvMaxWait, 1, int(maxWaitLimit/time.Second))) * time.Second,
		OutputLimit: env.number(EnvOutputLimit, 1024, MaxEventBytes),
		Log:         slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: env.level(EnvLogLevel)})),
	}
	if namespace := env.text(EnvMetrics, defaultNamespace); namespace != noMetrics {
		cfg.Metrics = &Metrics{Namespace: namespace, Writer: os.Stdout}
	}
	settings, err := awsConfig()
	if err != nil {
		env.report("AWS configuration: %w", err)
	}
	of := jobs.Environment{
		AWS: settings, Bucket: os.Getenv(EnvBucket), Prefix: env.text(EnvPrefix, defaultPrefix), Getenv: os.Getenv,
		S3: s3.NewFromConfig(settings, func(o *s3.Options) {
			// A bucket is no host name of a custom endpoint.
			o.UsePathStyle = o.BaseEndpoint != nil
			o.DisableLogOutputChecksumValidationSkipped = true // else a line a check
		}),
	}
	if cfg.Store, err = open(of); err != nil {
		env.report("%w", err)
	}
	cfg.Jobs = env.registry(of, drivers)
	if err := errors.Join(env.problems...); err != nil {
		return nil, err
	}
	return New(cfg)
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

// registry builds the drivers, and keeps the jobs that EnvJobs lists.
func (e *environment) registry(of jobs.Environment, makers []jobs.Maker) *jobs.Registry {
	var built []jobs.Driver
	var missing []error // drivers that are not configured
	for _, newDriver := range makers {
		switch driver, err := newDriver(of); {
		case errors.Is(err, jobs.ErrNotConfigured):
			missing = append(missing, err)
		case err != nil:
			e.report("%w", err)
		default:
			built = append(built, driver)
		}
	}
	all, err := jobs.NewRegistry(built...)
	if err != nil {
		e.report("%w", err)
		return nil
	}
	list := os.Getenv(EnvJobs)
	if list == "" {
		return all
	}
	var chosen []jobs.Driver
	for job := range strings.SplitSeq(list, ",") {
		driver, err := all.Driver(strings.TrimSpace(job))
		if err != nil {
			e.report("environment variable %s: %w", EnvJobs, errors.Join(append([]error{err}, missing...)...))
			continue
		}
		chosen = append(chosen, driver)
	}
	allowed, err := jobs.NewRegistry(chosen...)
	if err != nil {
		e.report("environment variable %s: %w", EnvJobs, err)
	}
	return allowed
}
