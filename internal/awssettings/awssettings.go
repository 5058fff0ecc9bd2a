// Package awssettings loads the user's configuration of AWS, as the AWS CLI does.
package awssettings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/smithy-go/logging"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// Options say which of the user's settings count. Each may be empty.
type Options struct {
	Region, Profile string
	Endpoint        string // the URL of the services, instead of AWS's
	Verbose         bool   // show the SDK's log
}

// requestTimeout is how long one request may take, with its answer, so that a server
// that says nothing ends the command. The AWS CLI waits as long.
const requestTimeout = time.Minute

// Load returns the configuration for calls of AWS. It has a region and credentials; the
// error of one without is a *NoCredentialsError.
func Load(ctx context.Context, o Options) (aws.Config, error) {
	options := o.loadOptions()
	if !o.Verbose {
		options = append(options, config.WithLogger(logging.Nop{})) // its lines would break the live line
	}
	if o.Endpoint != "" {
		options = append(options, config.WithBaseEndpoint(o.Endpoint))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	switch client := cfg.HTTPClient.(type) {
	case nil:
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTimeout(requestTimeout)
	case *awshttp.BuildableClient: // with the user's certificates
		cfg.HTTPClient = client.WithTimeout(requestTimeout)
	}
	if client, ok := ctx.Value(clientKey{}).(aws.HTTPClient); ok {
		cfg.HTTPClient = client
	}
	if o.Endpoint != "" {
		cfg.BaseEndpoint = &o.Endpoint // also where configured endpoints are to be ignored
	}
	if cfg.Region == "" {
		return cfg, errors.New("no AWS region: pass --region, set AWS_REGION, or set one in the profile")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return cfg, &NoCredentialsError{err}
	}
	return cfg, nil
}

// MadeUpKey signs for servers that take any key, where the user has none.
const MadeUpKey = "local"

// LoadLocal returns the configuration for servers that are not AWS's. Where the user has
// no region it is the given one, and where the user has no credentials they are made up.
func LoadLocal(ctx context.Context, o Options, region string) (aws.Config, error) {
	options := append(o.loadOptions(), config.WithDefaultRegion(region), config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("AWS configuration: %w", err)
	}
	if _, err := cfg.Credentials.Retrieve(ctx); ctx.Err() != nil {
		return cfg, ctx.Err() // which says nothing of the credentials
	} else if err != nil {
		cfg.Credentials = credentials.NewStaticCredentialsProvider(MadeUpKey, MadeUpKey, "")
	}
	return cfg, nil
}

func (o *Options) loadOptions() []func(*config.LoadOptions) error {
	var options []func(*config.LoadOptions) error
	if o.Region != "" {
		options = append(options, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile))
	}
	return options
}

type clientKey struct{}

// WithClient lets Load give the configuration this HTTP client: that of a command that
// runs in another program.
func WithClient(ctx context.Context, client aws.HTTPClient) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// CheckEndpoint refuses what is no URL of a service. The error shows no secret.
func CheckEndpoint(flag, text string) error {
	if _, err := awscall.ParseEndpoint(text); err != nil {
		return fmt.Errorf("--%s %w; pass one such as http://127.0.0.1:8000", flag, err)
	}
	return nil
}

// BaseOf is the URL that the configuration has for the calls of a service, by the SDK's
// name, such as that of AWS_ENDPOINT_URL; empty for AWS itself.
func BaseOf(cfg *aws.Config, service string) (string, error) {
	settings, err := awscall.SettingsOf(cfg, service)
	if err != nil || settings.Base == nil {
		return "", err
	}
	return settings.Base.String(), nil
}

// NoCredentialsError is the error of a configuration without usable credentials.
type NoCredentialsError struct{ cause error }

// Error says what to do. Why the credentials that there are cannot be used, such as an
// expired session, stands behind it; that the SDK found none after its last source, the
// metadata of EC2, says nothing more.
func (e *NoCredentialsError) Error() string {
	const advice = "no AWS credentials: pass --profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in as for the AWS CLI"
	cause := strings.TrimPrefix(e.cause.Error(), "failed to refresh cached credentials, ")
	if strings.HasPrefix(cause, "no EC2 IMDS role found") {
		return advice
	}
	return advice + " (" + cause + ")"
}

func (e *NoCredentialsError) Unwrap() error { return e.cause }
