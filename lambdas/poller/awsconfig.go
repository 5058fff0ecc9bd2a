package poller

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// awsConfig is the SDK's configuration from the environment alone, where a
// Lambda function has it: its role's credentials, its region, and what its owner
// adds. The SDK's own loader knows profiles, single sign-on and instance roles
// besides, with a client for each, which made the functions half as large again.
func awsConfig() (aws.Config, error) {
	env, err := config.NewEnvConfig()
	if err != nil {
		return aws.Config{}, err
	}
	var problems []error
	if !env.Credentials.HasKeys() {
		problems = append(problems, errors.New("the environment holds no credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY): "+
			"a Lambda function gets them from its role; a program that has them elsewhere sets up its own clients and calls poller.New"))
	}
	if env.Region == "" {
		problems = append(problems, errors.New("the environment holds no region (AWS_REGION)"))
	}
	client := awshttp.NewBuildableClient()
	if env.CustomCABundle != "" {
		pem, err := os.ReadFile(env.CustomCABundle)
		roots := x509.NewCertPool()
		if err == nil && !roots.AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s holds no certificate in PEM form", env.CustomCABundle)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("AWS_CA_BUNDLE: %w", err))
		}
		client = client.WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} })
	}
	cfg := aws.Config{
		Region: env.Region, HTTPClient: client,
		Credentials:      credentials.StaticCredentialsProvider{Value: env.Credentials},
		ConfigSources:    []any{env}, // whence clients read what is theirs, such as AWS_ENDPOINT_URL_S3
		RetryMaxAttempts: env.RetryMaxAttempts, RetryMode: env.RetryMode,
		DefaultsMode:                env.DefaultsMode,
		RuntimeEnvironment:          aws.RuntimeEnvironment{EnvironmentIdentifier: aws.ExecutionEnvironmentID(os.Getenv("AWS_EXECUTION_ENV")), Region: env.Region},
		AppID:                       env.AppID,
		DisableRequestCompression:   aws.ToBool(env.DisableRequestCompression),
		RequestMinCompressSizeBytes: cmp.Or(aws.ToInt64(env.RequestMinCompressSizeBytes), 10240),
		DisableClockSkewCorrection:  aws.ToBool(env.DisableClockSkewCorrection),
		AccountIDEndpointMode:       env.AccountIDEndpointMode,
		RequestChecksumCalculation:  cmp.Or(env.RequestChecksumCalculation, aws.RequestChecksumCalculationWhenSupported),
		ResponseChecksumValidation:  cmp.Or(env.ResponseChecksumValidation, aws.ResponseChecksumValidationWhenSupported),
		AuthSchemePreference:        env.AuthSchemePreference,
	}
	if env.BaseEndpoint != "" && !aws.ToBool(env.IgnoreConfiguredEndpoints) {
		cfg.BaseEndpoint = &env.BaseEndpoint
	}
	return cfg, errors.Join(problems...)
}
