package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// storeFlags say where the Lambda functions keep their start records. What is not
// given is that of the functions' environment variables.
type storeFlags struct {
	bucket, table, prefix string
	aws                   awsFlags
}

func (f *storeFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.bucket, "bucket", "", "`BUCKET` of the start records (else "+handler.EnvBucket+")")
	flags.StringVar(&f.table, "table", "", "DynamoDB `TABLE` of the start records (else "+handler.EnvTable+")")
	flags.StringVar(&f.prefix, "prefix", "", "`PREFIX` of the records' keys (else "+handler.EnvPrefix+", or "+handler.DefaultPrefix+")")
	f.aws.addTo(c)
	completeNothing(c, "bucket", "table", "prefix")
}

// validate reads the environment for what is not given, and returns what is wrong.
func (f *storeFlags) validate() error {
	if f.bucket == "" && f.table == "" {
		f.table = os.Getenv(handler.EnvTable)
		if f.bucket = os.Getenv(handler.EnvBucket); f.table != "" {
			f.bucket = "" // of a function with both, the table has the records
		}
	}
	f.prefix = cmp.Or(f.prefix, os.Getenv(handler.EnvPrefix), handler.DefaultPrefix)
	var store error
	switch {
	case f.bucket == "" && f.table == "":
		store = fmt.Errorf("where are the start records? Pass --bucket or --table, or set %s or %s", handler.EnvBucket, handler.EnvTable)
	case f.bucket != "" && f.table != "":
		store = errors.New("--bucket and --table exclude each other: remove one")
	}
	return errors.Join(store, f.aws.validate())
}

// spell writes the flags that are set as a shell reads them, each after a space.
func (f *storeFlags) spell() string {
	var b strings.Builder
	for _, flag := range []struct{ name, value string }{
		{"bucket", f.bucket},
		{"table", f.table},
		{"prefix", f.prefix},
	} {
		if flag.value != "" {
			b.WriteString(" --" + flag.name + " " + shell.Quote(flag.value))
		}
	}
	return b.String() + f.aws.spell()
}

// recordStore is the store of the functions' start records.
type recordStore struct {
	startrecord.Store

	flags storeFlags
	given string // the flags as they were given, for commands that are advised
	aws   aws.Config
	s3    *s3.Client
}

// openStore opens the store. Nothing is sent to it yet.
func (f *storeFlags) openStore(ctx context.Context) (*recordStore, error) {
	given := f.spell()
	if err := f.validate(); err != nil {
		return nil, usage("%w", err)
	}
	cfg, err := f.aws.configuration(ctx, false)
	if err != nil {
		return nil, configurationError(err)
	}
	r, err := f.storeOf(cfg)
	if err != nil {
		return nil, err
	}
	r.given = given
	return r, nil
}

// storeOf opens the store by a configuration of AWS.
func (f *storeFlags) storeOf(cfg aws.Config) (*recordStore, error) {
	r := &recordStore{flags: *f, aws: cfg}
	r.s3 = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	var err error
	r.Store, err = anystore.Open(jobs.Environment{
		AWS: cfg, S3: r.s3, Bucket: f.bucket, Prefix: f.prefix,
		Getenv: func(name string) string {
			if name == handler.EnvTable {
				return f.table
			}
			return os.Getenv(name) // records are encrypted as the functions do it
		},
	})
	if err != nil {
		return nil, usage("%s", terminal.Lines(flagsForVariables().Replace(err.Error())))
	}
	return r, nil
}

// flagsForVariables names the flags beside the variables that stand for them.
func flagsForVariables() *strings.Replacer {
	return strings.NewReplacer(
		"environment variable "+handler.EnvBucket, "--bucket or "+handler.EnvBucket,
		"environment variable "+handler.EnvPrefix, "--prefix or "+handler.EnvPrefix,
		"environment variables "+handler.EnvTable+" and "+handler.EnvPrefix, "--table and --prefix",
	)
}

// executionAWS is the configuration for calls about an execution and its jobs: they are
// in the region of its ARN, if the flags do not name one.
func (r *recordStore) executionAWS(arn string) aws.Config {
	cfg := r.aws.Copy()
	if r.flags.aws.region == "" {
		cfg.Region = strings.Split(arn, ":")[3] // as checkKey has seen
	}
	return cfg
}

// name is what to call the store.
func (r *recordStore) name() string {
	if r.flags.table != "" {
		return "table " + r.flags.table
	}
	return "bucket " + r.flags.bucket
}

// loadError is the error of a read, without what the SDK says of the call if the store
// did not answer.
func (r *recordStore) loadError(err error) error {
	switch {
	case errors.Is(err, startrecord.ErrConfiguration):
		return fmt.Errorf("%w%s", startrecord.ErrConfiguration, strings.TrimPrefix(withoutSDK(err), startrecord.ErrConfiguration.Error()))
	case !errors.Is(err, startrecord.ErrUnavailable):
		return err
	}
	action := "s3:GetObject"
	if r.flags.table != "" {
		action = "dynamodb:GetItem"
	}
	return fmt.Errorf("%s: %s", r.name(), endReason([]string{action}, err))
}

// storeError is the error of a store as one of the command: nothing was found, or the
// store could not be reached.
func storeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{code: exitInterrupted}
	}
	if errors.Is(err, startrecord.ErrNotFound) {
		return withCode(exitFailed, err)
	}
	if errors.Is(err, startrecord.ErrInvalidKey) {
		return usage("%w", err)
	}
	return withCode(exitUnknown, err)
}
