package answers

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// storeVariables say where functions keep their start records and their messages. Those
// of a template name what is deployed, which a function on this machine leaves alone.
var storeVariables = []string{
	handler.EnvBucket, handler.EnvTable, handler.EnvPrefix, handler.EnvEncryption, handler.EnvKMSKey, handler.EnvBucketKey,
	handler.EnvPreviousBucket, handler.EnvPreviousTable, handler.EnvPreviousPrefix, handler.EnvQueueURL,
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

// SetStore lets functions keep their start records in a table, else in a bucket, whatever
// their environment names. The URL is that of an S3 server; empty for AWS's.
func SetStore(env []string, url, bucket, prefix, table string) []string {
	for _, name := range storeVariables {
		if name != handler.EnvQueueURL {
			env = append(env, name+"=")
		}
	}
	env = append(env, handler.EnvBucket+"="+bucket, handler.EnvPrefix+"="+prefix, handler.EnvTable+"="+table)
	if url == "" {
		return env
	}
	if strings.EqualFold(valueIn(env, IgnoreEndpointsVariable), "true") { // those of the user, not this one
		env = slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, EndpointVariable) })
	}
	return append(env, IgnoreEndpointsVariable+"=false", EndpointVariable+"_S3="+url)
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
