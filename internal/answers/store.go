package answers

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awssettings"
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

// Store is where functions keep their start records.
type Store struct {
	URL           string // of an S3 server; empty for AWS's
	Bucket, Table string // the table, if there is one, else the bucket
	Flags         string // with which jobpoller records opens it: see handler.Config
}

// SetStore lets functions keep their start records in a store, whatever their environment
// names.
func SetStore(env []string, s Store) []string {
	for _, name := range storeVariables {
		if name != handler.EnvQueueURL {
			env = append(env, name+"=")
		}
	}
	env = append(env, handler.EnvBucket+"="+s.Bucket, handler.EnvPrefix+"="+handler.DefaultPrefix, handler.EnvTable+"="+s.Table, handler.EnvStoreFlags+"="+s.Flags)
	if s.URL == "" {
		return env
	}
	if strings.EqualFold(valueIn(env, IgnoreEndpointsVariable), "true") { // those of the user, not this one
		env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, EndpointVariable) })
	}
	return append(env, IgnoreEndpointsVariable+"=false", EndpointVariable+"_S3="+s.URL)
}

// FunctionKeys are the keys with which functions sign what they send: those of their
// environment, else of the user's settings, else the drawn ones. The variables tell the
// functions the keys and the region, as the Lambda service does.
func (s *Services) FunctionKeys(ctx context.Context, env []string, drawn loopback.Keys, verbose bool) (loopback.Keys, []string, error) {
	cfg, err := s.OfFunctions(ctx, verbose)
	if err != nil {
		return loopback.Keys{}, nil, err
	}
	keys, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return loopback.Keys{}, nil, err
	}
	if given := valueIn(env, "AWS_ACCESS_KEY_ID"); given != "" && s.Profile == "" {
		keys = aws.Credentials{
			AccessKeyID: given, SecretAccessKey: valueIn(env, "AWS_SECRET_ACCESS_KEY"), SessionToken: valueIn(env, "AWS_SESSION_TOKEN"),
		}
	}
	if keys.AccessKeyID == awssettings.MadeUpKey { // which others know
		keys = aws.Credentials{AccessKeyID: drawn.AccessKeyID, SecretAccessKey: drawn.SecretAccessKey}
	}
	return loopback.Keys{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey}, []string{
		"AWS_REGION=" + cfg.Region, "AWS_ACCESS_KEY_ID=" + keys.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + keys.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + keys.SessionToken,
	}, nil
}

// FolderFlags are the flags with which jobpoller records opens the store of a run or a
// server in a folder; in memory, what says so.
func FolderFlags(folder string) string {
	if folder == "" {
		return "none" // see handler.Config.StoreFlags
	}
	if whole, err := filepath.Abs(folder); err == nil {
		folder = whole
	}
	return "--data " + shell.Quote(folder)
}
