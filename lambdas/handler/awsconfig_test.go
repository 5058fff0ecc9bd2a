//nolint:paralleltest // the environment is the whole process's
package handler_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// sdkVariables are the SDK's variables, by the member of its EnvConfig, with a
// value that is not the default and one that the SDK refuses, if there is one.
var sdkVariables = map[string][]struct{ name, value, wrong string }{
	"Credentials": {
		{name: "AWS_ACCESS_KEY_ID", value: "AKIDOTHER"},
		{name: "AWS_SECRET_ACCESS_KEY", value: "other"},
		{name: "AWS_SESSION_TOKEN", value: "token"},
		{name: "AWS_ACCOUNT_ID", value: "123456789012"},
	},
	"Region":                           {{name: "AWS_REGION", value: "eu-central-1"}},
	"AppID":                            {{name: "AWS_SDK_UA_APP_ID", value: "orders"}},
	"EnableEndpointDiscovery":          {{name: "AWS_ENABLE_ENDPOINT_DISCOVERY", value: "True", wrong: "on"}},
	"S3UseARNRegion":                   {{name: "AWS_S3_USE_ARN_REGION", value: "true", wrong: "1"}},
	"S3DisableMultiRegionAccessPoints": {{name: "AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS", value: "TRUE", wrong: "yes"}},
	"S3DisableExpressAuth":             {{name: "AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", value: "true", wrong: "yes"}},
	"UseDualStackEndpoint":             {{name: "AWS_USE_DUALSTACK_ENDPOINT", value: "true", wrong: "2"}},
	"UseFIPSEndpoint":                  {{name: "AWS_USE_FIPS_ENDPOINT", value: "true", wrong: "yes"}},
	"DefaultsMode":                     {{name: "AWS_DEFAULTS_MODE", value: "in-region", wrong: "fast"}},
	"RetryMaxAttempts":                 {{name: "AWS_MAX_ATTEMPTS", value: "7", wrong: "many"}},
	"RetryMode":                        {{name: "AWS_RETRY_MODE", value: "adaptive", wrong: "stubborn"}},
	"IgnoreConfiguredEndpoints":        {{name: "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", value: "true", wrong: "yes"}},
	"BaseEndpoint": {
		{name: "AWS_ENDPOINT_URL", value: "https://example.com"},
		{name: "AWS_ENDPOINT_URL_S3", value: "https://s3.example.com"},
		{name: "AWS_ENDPOINT_URL_DYNAMODB", value: "https://dynamodb.example.com"},
		{name: "AWS_ENDPOINT_URL_SFN", value: "https://sfn.example.com"},
	},
	"DisableRequestCompression":   {{name: "AWS_DISABLE_REQUEST_COMPRESSION", value: "true", wrong: "yes"}},
	"RequestMinCompressSizeBytes": {{name: "AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES", value: "512", wrong: "10485761"}},
	"DisableClockSkewCorrection":  {{name: "AWS_DISABLE_CLOCK_SKEW_CORRECTION", value: "true", wrong: "yes"}},
	"AccountIDEndpointMode":       {{name: "AWS_ACCOUNT_ID_ENDPOINT_MODE", value: "required", wrong: "never"}},
	"RequestChecksumCalculation":  {{name: "AWS_REQUEST_CHECKSUM_CALCULATION", value: "when_required", wrong: "always"}},
	"ResponseChecksumValidation":  {{name: "AWS_RESPONSE_CHECKSUM_VALIDATION", value: "WHEN_REQUIRED", wrong: "always"}},
	"AuthSchemePreference":        {{name: "AWS_AUTH_SCHEME_PREFERENCE", value: "sigv4a, sigv4,"}},
}

// notRead are the members of the SDK's EnvConfig that awsConfig leaves alone, and
// why.
var notRead = map[string]string{
	"ContainerCredentialsEndpoint":     "credentials are variables themselves",
	"ContainerCredentialsRelativePath": "credentials are variables themselves",
	"ContainerAuthorizationToken":      "credentials are variables themselves",
	"WebIdentityTokenFilePath":         "credentials are variables themselves",
	"RoleARN":                          "credentials are variables themselves",
	"RoleSessionName":                  "credentials are variables themselves",
	"SharedConfigProfile":              "no files are read",
	"SharedCredentialsFile":            "no files are read",
	"SharedConfigFile":                 "no files are read",
	"RestrictFilePermissions":          "no files are written",
	"EC2IMDSClientEnableState":         "a function is not an instance",
	"EC2IMDSv1Disabled":                "a function is not an instance",
	"EC2IMDSEndpointMode":              "a function is not an instance",
	"EC2IMDSEndpoint":                  "a function is not an instance",
	"CustomCABundle":                   "read; TestFromEnvironment uses one",
}

// A version of the SDK that has a new variable is noticed.
func TestSDKVariablesAreAllKnown(t *testing.T) {
	for field := range reflect.TypeFor[config.EnvConfig]().Fields() {
		_, read := sdkVariables[field.Name]
		require.NotEqual(t, read, notRead[field.Name] != "", "%s is read or it is not", field.Name)
	}
}

// given returns the configuration that drivers are given.
func given(t *testing.T) (aws.Config, error) {
	t.Helper()
	var of jobs.Environment
	_, err := handler.FromEnvironment(handler.S3Store, func(e jobs.Environment) (jobs.Driver, error) {
		of = e
		return &service{idempotency: classes["token"]}, nil
	})
	return of.AWS, err
}

// essence leaves of a configuration what two of them can be compared by.
func essence(t *testing.T, cfg aws.Config) map[string]any {
	t.Helper()
	keys, err := cfg.Credentials.Retrieve(context.Background())
	require.NoError(t, err)
	keys.Source = "" // a name for people
	buckets, tables, machines := s3.NewFromConfig(cfg).Options(), dynamodb.NewFromConfig(cfg).Options(), sfn.NewFromConfig(cfg).Options()
	require.NotNil(t, cfg.Logger)
	cfg.Credentials, cfg.HTTPClient, cfg.Logger, cfg.ConfigSources = nil, nil, nil, nil
	cfg.Interceptors, cfg.RestrictFilePermissions = smithyhttp.InterceptorRegistry{}, ""
	return map[string]any{
		"configuration": cfg, "credentials": keys,
		"S3": []any{
			buckets.BaseEndpoint, buckets.EndpointOptions, buckets.UseARNRegion, buckets.DisableMultiRegionAccessPoints,
			buckets.DisableS3ExpressSessionAuth, buckets.RetryMaxAttempts, buckets.RetryMode,
		},
		"DynamoDB": []any{tables.BaseEndpoint, tables.EndpointOptions, tables.EndpointDiscovery, tables.AccountIDEndpointMode},
		"SFN":      []any{machines.BaseEndpoint, machines.EndpointOptions},
	}
}

func TestSDKVariablesMeanWhatTheyMeanToTheSDK(t *testing.T) {
	set := map[string]string{handler.EnvBucket: "records", "AWS_EC2_METADATA_DISABLED": "true"}
	for _, variables := range sdkVariables {
		for _, v := range variables {
			if !slices.Contains([]string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, v.name) { // what none can do without
				set[v.name] = ""
			}
		}
	}
	same := func(t *testing.T) map[string]any {
		t.Helper()
		ours, err := given(t)
		require.NoError(t, err)
		theirs, err := config.LoadDefaultConfig(t.Context())
		require.NoError(t, err)
		expected := essence(t, theirs)
		require.Equal(t, expected, essence(t, ours))
		return expected
	}
	setEnvironment(t, set)
	defaults := same(t)

	for field, variables := range sdkVariables {
		for _, v := range variables {
			t.Run(v.name, func(t *testing.T) {
				setEnvironment(t, set)
				t.Setenv(v.name, v.value)
				if field == "IgnoreConfiguredEndpoints" {
					t.Setenv("AWS_ENDPOINT_URL", "https://example.com")
					t.Setenv("AWS_ENDPOINT_URL_S3", "https://s3.example.com")
					require.Nil(t, same(t)["configuration"].(aws.Config).BaseEndpoint)
				} else {
					require.NotEqual(t, defaults, same(t), "the value makes a difference")
				}
				if v.wrong == "" {
					return
				}
				t.Setenv(v.name, v.wrong)
				_, err := config.LoadDefaultConfig(t.Context())
				require.Error(t, err)
				_, err = given(t)
				require.ErrorContains(t, err, "AWS configuration: environment variable "+v.name+" must be ")
				require.ErrorContains(t, err, v.wrong)
			})
		}
	}

	t.Run("older names", func(t *testing.T) {
		setEnvironment(t, set)
		for name, value := range map[string]string{
			"AWS_ACCESS_KEY_ID": "", "AWS_ACCESS_KEY": "AKIDOLD", "AWS_SECRET_ACCESS_KEY": "", "AWS_SECRET_KEY": "old",
			"AWS_REGION": "", "AWS_DEFAULT_REGION": "us-west-2",
		} {
			t.Setenv(name, value)
		}
		require.NotEqual(t, defaults, same(t))
	})
}
