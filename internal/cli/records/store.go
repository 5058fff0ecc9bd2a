package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// storeFlags say where the Lambda functions keep their start records. What is not
// given is that of the functions' environment variables.
type storeFlags struct {
	bucket, table, prefix string
	data                  string // folder of run or serve --data
	aws                   kit.AwsFlags
}

func (f *storeFlags) addTo(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.bucket, "bucket", "", "`BUCKET` of the start records (else "+handler.EnvBucket+")")
	flags.StringVar(&f.table, "table", "", "`TABLE` of DynamoDB with the start records (else "+handler.EnvTable+")")
	flags.StringVar(&f.prefix, "prefix", "", "`PREFIX` of the records' keys (else "+handler.EnvPrefix+", or "+handler.DefaultPrefix+")")
	f.aws.AddTo(c)
	kit.CompleteNothing(c, "bucket", "table", "prefix")
}

// addDataTo adds the flag for the records of run and serve.
func (f *storeFlags) addDataTo(c *cobra.Command) {
	c.Flags().StringVar(&f.data, "data", "", "`FOLDER` of --data of a jobpoller run or serve that has ended")
	kit.Must(c.MarkFlagDirname("data"))
}

// validate reads the environment for what is not given, and returns what is wrong.
func (f *storeFlags) validate() error {
	if f.data != "" {
		if f.bucket != "" || f.table != "" {
			return errors.New("--data excludes --bucket and --table: remove one")
		}
		f.bucket, f.prefix = localloop.Bucket, cmp.Or(f.prefix, handler.DefaultPrefix)
		return f.aws.Validate()
	}
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
	return errors.Join(store, f.aws.Validate())
}

// spell writes the flags that are set as a shell reads them, each after a space.
func (f *storeFlags) spell() string {
	var b strings.Builder
	for _, flag := range []struct{ name, value string }{
		{"bucket", f.bucket},
		{"table", f.table},
		{"prefix", f.prefix},
		{"data", f.data},
	} {
		if flag.value != "" {
			b.WriteString(" --" + flag.name + " " + shell.Quote(flag.value))
		}
	}
	return b.String() + f.aws.Spell()
}

// recordStore is the store of the functions' start records.
type recordStore struct {
	startrecord.Store

	flags storeFlags
	given string // the flags as they were given, for commands that are advised
	aws   aws.Config
	s3    *s3.Client
	local *embeddeds3.Server // of --data
}

// close releases the folder of --data.
func (r *recordStore) close() {
	if r.local != nil {
		_ = r.local.Close() // what was written is in the file
	}
}

// openStore opens the store. Nothing is sent to it yet.
func (f *storeFlags) openStore(ctx context.Context) (*recordStore, error) {
	given := f.spell()
	if err := f.validate(); err != nil {
		return nil, kit.Usage("%w", err)
	}
	cfg, err := f.aws.Configuration(ctx, false)
	if err != nil && f.data == "" { // else only the job needs AWS
		return nil, kit.ConfigurationError(err)
	}
	r, err := f.storeOf(cfg) //nolint:contextcheck // the server of --data lives until close
	if err != nil {
		return nil, err
	}
	r.given = given
	return r, nil
}

// storeOf opens the store by a configuration of AWS.
func (f *storeFlags) storeOf(cfg aws.Config) (*recordStore, error) {
	r := &recordStore{flags: *f, aws: cfg}
	if f.data != "" {
		return r, r.openFolder()
	}
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
		return nil, kit.Usage("%s", terminal.Lines(flagsForVariables().Replace(err.Error())))
	}
	return r, nil
}

// openFolder opens the store in the folder of --data: that of run, or in that of serve.
func (r *recordStore) openFolder() (err error) {
	for _, folder := range []string{r.flags.data, filepath.Join(r.flags.data, localloop.RecordsFolder)} {
		if !embeddeds3.IsFolder(folder) {
			continue
		}
		if r.local, err = embeddeds3.Start(embeddeds3.Options{Dir: folder}); err != nil {
			return kit.Usage("--data: %w", err)
		}
		r.s3 = r.local.DirectClient()
		r.Store, err = s3store.New(r.s3, localloop.Bucket, r.flags.prefix)
		return err
	}
	return kit.Usage("--data: no start records in %s: pass the folder of a run or serve with --data", r.flags.data)
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
	if r.flags.aws.Region == "" {
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
		return fmt.Errorf("%w%s", startrecord.ErrConfiguration, strings.TrimPrefix(kit.WithoutSDK(err), startrecord.ErrConfiguration.Error()))
	case !errors.Is(err, startrecord.ErrUnavailable):
		return err
	}
	action := "s3:GetObject"
	if r.flags.table != "" {
		action = "dynamodb:GetItem"
	}
	return fmt.Errorf("%s: %s", r.name(), kit.EndReason([]string{action}, err))
}

// storeError is the error of a store as one of the command: nothing was found, or the
// store could not be reached.
func storeError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &kit.ExitError{Code: kit.ExitInterrupted}
	}
	if errors.Is(err, startrecord.ErrNotFound) {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if errors.Is(err, startrecord.ErrInvalidKey) {
		return kit.Usage("%w", err)
	}
	return kit.WithCode(kit.ExitUnknown, err)
}
