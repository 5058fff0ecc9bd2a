package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// storeVariables say where functions keep their start records and their messages. Those
// of a template name what is deployed, which a function on this machine leaves alone.
var storeVariables = []string{
	handler.EnvBucket, handler.EnvTable, handler.EnvPrefix, handler.EnvEncryption, handler.EnvKMSKey, handler.EnvBucketKey,
	handler.EnvPreviousBucket, handler.EnvPreviousTable, handler.EnvPreviousPrefix, handler.EnvQueueURL, handler.EnvStoreFlags,
}

// valueIn is the value of a variable. The last of a name counts, as for os/exec.
func valueIn(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	return ""
}

// setStore lets functions keep their start records in a table, else in a bucket, whatever
// their environment names. The URL is that of an S3 server; empty for AWS's. The flags are
// those of jobpoller records.
func setStore(env []string, url, bucket, table, flags string) []string {
	for _, name := range storeVariables {
		if name != handler.EnvQueueURL {
			env = append(env, name+"=")
		}
	}
	env = append(env, handler.EnvBucket+"="+bucket, handler.EnvPrefix+"="+prefix, handler.EnvTable+"="+table, handler.EnvStoreFlags+"="+flags)
	if url == "" {
		return env
	}
	if strings.EqualFold(valueIn(env, ignoreEndpointsVariable), "true") { // those of the user, not this one
		env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, endpointVariable) })
	}
	return append(env, ignoreEndpointsVariable+"=false", endpointVariable+"_S3="+url)
}

// functionKeys are the keys with which functions sign what they send: those of their
// environment, else of the user's settings, else the drawn ones. The variables tell the
// functions the keys and the region, as the Lambda service does.
func (s *services) functionKeys(ctx context.Context, env []string, drawn loopback.Keys, verbose bool) (loopback.Keys, []string, error) {
	cfg, err := s.ofFunctions(ctx, verbose)
	if err != nil {
		return loopback.Keys{}, nil, err
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return loopback.Keys{}, nil, err
	}
	if given := valueIn(env, "AWS_ACCESS_KEY_ID"); given != "" && s.profile == "" {
		keys = aws.Credentials{
			AccessKeyID: given, SecretAccessKey: valueIn(env, "AWS_SECRET_ACCESS_KEY"), SessionToken: valueIn(env, "AWS_SESSION_TOKEN"),
		}
	}
	if keys.AccessKeyID == madeUpKey { // which others know
		keys = aws.Credentials{AccessKeyID: drawn.AccessKeyID, SecretAccessKey: drawn.SecretAccessKey}
	}
	return loopback.Keys{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey}, []string{
		"AWS_REGION=" + cfg.Region, "AWS_ACCESS_KEY_ID=" + keys.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + keys.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + keys.SessionToken,
	}, nil
}

// addStore gives functions of --lambda the store of the run in their environment.
func (b *bench) addStore(_ context.Context, env []string) ([]string, error) {
	url := b.options.s3Endpoint
	if b.server != nil {
		url = b.server.SecretURL()
	}
	return setStore(slices.Concat(env, b.functionEnv), url, b.bucket, b.options.table, b.recordsFlags()), nil
}

// recordsFlags are the flags with which jobpoller records opens the store of the run; empty
// for those of its place.
func (b *bench) recordsFlags() string {
	if b.server == nil || b.options.table != "" {
		return ""
	}
	return dataFlags(b.options.data)
}

// dataFlags are the flags with which jobpoller records opens the store in a folder.
func dataFlags(folder string) string {
	if folder == "" {
		return "none" // see handler.Config.StoreFlags
	}
	if whole, err := filepath.Abs(folder); err == nil {
		folder = whole
	}
	return "--data " + shell.Quote(folder)
}

// setStore lets functions use the store of the run.
func (b *bench) setStore(env []string) []string {
	url := b.options.s3Endpoint
	if b.server != nil {
		url = b.server.URL()
	}
	return setStore(env, url, b.bucket, b.options.table, b.recordsFlags())
}

// addStore starts the S3 server of the start records, once, and gives functions that store
// in their environment.
func (t *serveTasks) addStore(ctx context.Context, env []string) ([]string, error) {
	if t.records.drawn == (loopback.Keys{}) {
		t.records.drawn = loopback.NewKeys()
	}
	keys, variables, err := t.options.services.functionKeys(ctx, env, t.records.drawn, t.options.verbose)
	if err != nil {
		return nil, err
	}
	if t.records.server == nil {
		if err := t.records.start(t.options.data, keys); err != nil { //nolint:contextcheck // the server lives until close
			return nil, err
		}
	}
	return setStore(slices.Concat(env, variables), t.records.server.SecretURL(), localBucket, "", dataFlags(t.options.data)), nil
}

// startRecords is the folder of start records in that of --data.
const startRecords = "start-records"

// recordServer is the S3 server of the start records of functions.
type recordServer struct {
	drawn  loopback.Keys
	server *embeddeds3.Server // nil: not started
}

// start starts the server: in a folder of data, or in memory.
func (r *recordServer) start(data string, keys loopback.Keys) (err error) {
	o := embeddeds3.Options{Known: []loopback.Keys{keys}}
	if data != "" {
		o.Dir = filepath.Join(data, startRecords)
	}
	if r.server, err = embeddeds3.Start(o); err != nil {
		return err
	}
	return r.server.CreateBucket(localBucket)
}

func (r *recordServer) close() error {
	if r.server == nil {
		return nil
	}
	return r.server.Close()
}
