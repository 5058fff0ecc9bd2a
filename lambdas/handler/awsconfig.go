package handler

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// awsConfig is the SDK's configuration from the environment alone, where a
// Lambda function has it: its role's credentials, its region, and what its owner
// adds. The SDK's own loader, and be it asked for the variables alone, links
// clients for single sign-on, instance roles and more, which a function never
// calls but sets up at every start. A test compares the two.
func awsConfig() (aws.Config, error) {
	var env environment
	cfg := aws.Config{
		Region:                     env.text("AWS_REGION", os.Getenv("AWS_DEFAULT_REGION")),
		Credentials:                env.credentials(),
		HTTPClient:                 env.httpClient(),
		RetryMaxAttempts:           env.number("AWS_MAX_ATTEMPTS", 0, math.MaxInt32),
		RetryMode:                  choice(&env, "AWS_RETRY_MODE", retryModes),
		DefaultsMode:               cmp.Or(choice(&env, "AWS_DEFAULTS_MODE", defaultsModes), aws.DefaultsModeLegacy),
		AppID:                      os.Getenv("AWS_SDK_UA_APP_ID"),
		DisableRequestCompression:  aws.ToBool(choice(&env, "AWS_DISABLE_REQUEST_COMPRESSION", booleans)),
		DisableClockSkewCorrection: aws.ToBool(choice(&env, "AWS_DISABLE_CLOCK_SKEW_CORRECTION", booleans)),
		AccountIDEndpointMode:      cmp.Or(choice(&env, "AWS_ACCOUNT_ID_ENDPOINT_MODE", accountIDModes), aws.AccountIDEndpointModePreferred),
		RequestChecksumCalculation: cmp.Or(choice(&env, "AWS_REQUEST_CHECKSUM_CALCULATION", requestChecksums), aws.RequestChecksumCalculationWhenSupported),
		ResponseChecksumValidation: cmp.Or(choice(&env, "AWS_RESPONSE_CHECKSUM_VALIDATION", responseChecksums), aws.ResponseChecksumValidationWhenSupported),
	}
	const compressed = "AWS_REQUEST_MIN_COMPRESSION_SIZE_BYTES"
	cfg.RequestMinCompressSizeBytes = int64(env.number(compressed, 0, 10<<20))
	if os.Getenv(compressed) == "" {
		cfg.RequestMinCompressSizeBytes = 10 << 10 // the SDK's default
	}
	if cfg.DefaultsMode == aws.DefaultsModeAuto {
		cfg.RuntimeEnvironment = aws.RuntimeEnvironment{
			EnvironmentIdentifier: aws.ExecutionEnvironmentID(os.Getenv("AWS_EXECUTION_ENV")), Region: cfg.Region,
		}
	}
	for scheme := range strings.SplitSeq(os.Getenv("AWS_AUTH_SCHEME_PREFERENCE"), ",") {
		if scheme = strings.TrimSpace(scheme); scheme != "" {
			cfg.AuthSchemePreference = append(cfg.AuthSchemePreference, scheme)
		}
	}
	settings := clientSettings{
		ignoreEndpoints:   choice(&env, envIgnoreEndpoints, booleans),
		endpointDiscovery: choice(&env, "AWS_ENABLE_ENDPOINT_DISCOVERY", endpointDiscovery),
		dualStack:         choice(&env, "AWS_USE_DUALSTACK_ENDPOINT", dualStack),
		fips:              choice(&env, "AWS_USE_FIPS_ENDPOINT", fips),
		useARNRegion:      choice(&env, "AWS_S3_USE_ARN_REGION", booleans),
		noMultiRegion:     choice(&env, "AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS", booleans),
		noExpressAuth:     choice(&env, "AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", booleans),
	}
	cfg.ConfigSources = []any{settings}
	if endpoint := os.Getenv(envEndpoint); endpoint != "" && !aws.ToBool(settings.ignoreEndpoints) {
		cfg.BaseEndpoint = &endpoint
	}
	if cfg.Region == "" {
		env.report("the environment has no region: set AWS_REGION")
	}
	return cfg, errors.Join(env.problems...)
}

const (
	envEndpoint        = "AWS_ENDPOINT_URL" // and, for one service, with an underscore and its name behind
	envIgnoreEndpoints = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"
)

// The values of the SDK's variables, in lower case. The zero value stands for a
// variable that is not set.
var (
	booleans   = map[string]*bool{"true": new(true), "false": new(false)}
	retryModes = map[string]aws.RetryMode{
		"standard": aws.RetryModeStandard, "adaptive": aws.RetryModeAdaptive,
	}
	defaultsModes = map[string]aws.DefaultsMode{
		"auto": aws.DefaultsModeAuto, "cross-region": aws.DefaultsModeCrossRegion, "in-region": aws.DefaultsModeInRegion,
		"legacy": aws.DefaultsModeLegacy, "mobile": aws.DefaultsModeMobile, "standard": aws.DefaultsModeStandard,
	}
	accountIDModes = map[string]aws.AccountIDEndpointMode{
		"preferred": aws.AccountIDEndpointModePreferred, "required": aws.AccountIDEndpointModeRequired, "disabled": aws.AccountIDEndpointModeDisabled,
	}
	requestChecksums = map[string]aws.RequestChecksumCalculation{
		"when_supported": aws.RequestChecksumCalculationWhenSupported, "when_required": aws.RequestChecksumCalculationWhenRequired,
	}
	responseChecksums = map[string]aws.ResponseChecksumValidation{
		"when_supported": aws.ResponseChecksumValidationWhenSupported, "when_required": aws.ResponseChecksumValidationWhenRequired,
	}
	endpointDiscovery = map[string]aws.EndpointDiscoveryEnableState{
		"true": aws.EndpointDiscoveryEnabled, "false": aws.EndpointDiscoveryDisabled, "auto": aws.EndpointDiscoveryAuto,
	}
	dualStack = map[string]aws.DualStackEndpointState{"true": aws.DualStackEndpointStateEnabled, "false": aws.DualStackEndpointStateDisabled}
	fips      = map[string]aws.FIPSEndpointState{"true": aws.FIPSEndpointStateEnabled, "false": aws.FIPSEndpointStateDisabled}
)

// choice reads a variable that has one of a few values, in any case.
func choice[T any](e *environment, name string, values map[string]T) T {
	var unset T
	text := os.Getenv(name)
	if text == "" {
		return unset
	}
	value, ok := values[strings.ToLower(text)]
	if !ok {
		e.report("environment variable %s must be one of %s, is %q", name, strings.Join(slices.Sorted(maps.Keys(values)), ", "), text)
	}
	return value
}

func (e *environment) credentials() credentials.StaticCredentialsProvider {
	keys := aws.Credentials{
		AccessKeyID:     e.text("AWS_ACCESS_KEY_ID", os.Getenv("AWS_ACCESS_KEY")),
		SecretAccessKey: e.text("AWS_SECRET_ACCESS_KEY", os.Getenv("AWS_SECRET_KEY")),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		AccountID:       os.Getenv("AWS_ACCOUNT_ID"),
		Source:          "environment",
	}
	if !keys.HasKeys() {
		e.report("the environment has no credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY): " +
			"in Lambda they come from the function's role; elsewhere, set up the clients and call handler.New")
	}
	return credentials.StaticCredentialsProvider{Value: keys, Source: []aws.CredentialSource{aws.CredentialSourceEnvVars}}
}

// httpClient returns the SDK's own client, which trusts the certificates of
// AWS_CA_BUNDLE instead of the system's if that is set.
func (e *environment) httpClient() *awshttp.BuildableClient {
	client := awshttp.NewBuildableClient()
	bundle := os.Getenv("AWS_CA_BUNDLE")
	if bundle == "" {
		return client
	}
	pem, err := os.ReadFile(bundle) //nolint:gosec // the owner of the function names the file
	roots := x509.NewCertPool()
	if err == nil && !roots.AppendCertsFromPEM(pem) {
		err = fmt.Errorf("%s has no certificate in PEM form", bundle)
	}
	if err != nil {
		e.report("AWS_CA_BUNDLE: %w", err)
	}
	return client.WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} })
}

// clientSettings is what the clients of services ask a source of configuration
// for. The names of its methods are the SDK's.
type clientSettings struct {
	ignoreEndpoints, useARNRegion, noMultiRegion, noExpressAuth *bool

	endpointDiscovery aws.EndpointDiscoveryEnableState
	dualStack         aws.DualStackEndpointState
	fips              aws.FIPSEndpointState
}

// GetServiceBaseEndpoint returns the endpoint for the service alone, such as
// AWS_ENDPOINT_URL_S3.
func (clientSettings) GetServiceBaseEndpoint(_ context.Context, service string) (endpoint string, found bool, err error) {
	endpoint = os.Getenv(envEndpoint + "_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	return endpoint, endpoint != "", nil
}

// GetIgnoreConfiguredEndpoints tells whether the variables of endpoints count
// for nothing.
func (s clientSettings) GetIgnoreConfiguredEndpoints(context.Context) (value, found bool, err error) {
	return aws.ToBool(s.ignoreEndpoints), s.ignoreEndpoints != nil, nil
}

// GetEnableEndpointDiscovery returns AWS_ENABLE_ENDPOINT_DISCOVERY.
func (s clientSettings) GetEnableEndpointDiscovery(context.Context) (aws.EndpointDiscoveryEnableState, bool, error) {
	return s.endpointDiscovery, s.endpointDiscovery != aws.EndpointDiscoveryUnset, nil
}

// GetUseDualStackEndpoint returns AWS_USE_DUALSTACK_ENDPOINT.
func (s clientSettings) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return s.dualStack, s.dualStack != aws.DualStackEndpointStateUnset, nil
}

// GetUseFIPSEndpoint returns AWS_USE_FIPS_ENDPOINT.
func (s clientSettings) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return s.fips, s.fips != aws.FIPSEndpointStateUnset, nil
}

// GetS3UseARNRegion returns AWS_S3_USE_ARN_REGION.
func (s clientSettings) GetS3UseARNRegion(context.Context) (value, found bool, err error) {
	return aws.ToBool(s.useARNRegion), s.useARNRegion != nil, nil
}

// GetS3DisableMultiRegionAccessPoints returns
// AWS_S3_DISABLE_MULTIREGION_ACCESS_POINTS.
func (s clientSettings) GetS3DisableMultiRegionAccessPoints(context.Context) (value, found bool, err error) {
	return aws.ToBool(s.noMultiRegion), s.noMultiRegion != nil, nil
}

// GetS3DisableExpressAuth returns AWS_S3_DISABLE_EXPRESS_SESSION_AUTH.
func (s clientSettings) GetS3DisableExpressAuth() (value, found bool) {
	return aws.ToBool(s.noExpressAuth), s.noExpressAuth != nil
}
