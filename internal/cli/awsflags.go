package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/shell"
)

// awsFlags say which AWS a command calls.
type awsFlags struct {
	region, profile, endpoint string
}

func (a *awsFlags) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&a.region, "region", "", "AWS `REGION`, instead of the configured one")
	f.StringVar(&a.profile, "profile", "", "`PROFILE` of the AWS configuration files")
	f.StringVar(&a.endpoint, "endpoint-url", "", "`URL` of the service, instead of AWS's")
	completeNothing(c, "region", "profile", "endpoint-url")
}

// validate returns what is wrong with the flags.
func (a *awsFlags) validate() error {
	if a.endpoint == "" {
		return nil
	}
	return checkEndpoint("endpoint-url", a.endpoint)
}

// spell writes the flags that are set as a shell reads them, each after a space.
func (a *awsFlags) spell() string {
	var b strings.Builder
	for _, flag := range []struct{ name, value string }{{"region", a.region}, {"profile", a.profile}, {"endpoint-url", a.endpoint}} {
		if flag.value != "" {
			b.WriteString(" --" + flag.name + " " + shell.Quote(flag.value))
		}
	}
	return b.String()
}

// clientKey is the key of a context's HTTP client, which sends the calls of a command
// that runs in another program.
type clientKey struct{}

// requestTimeout is how long one request may take, with its answer, so that a server
// that says nothing ends the command. The AWS CLI waits as long.
const requestTimeout = time.Minute

// configuration is the user's configuration of AWS. It has a region and credentials.
func (a *awsFlags) configuration(ctx context.Context, verbose bool) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if !verbose {
		options = append(options, config.WithLogger(logging.Nop{})) // its lines would break the live line
	}
	if a.region != "" {
		options = append(options, config.WithRegion(a.region))
	}
	if a.profile != "" {
		options = append(options, config.WithSharedConfigProfile(a.profile))
	}
	if a.endpoint != "" {
		options = append(options, config.WithBaseEndpoint(a.endpoint))
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
	if a.endpoint != "" {
		cfg.BaseEndpoint = &a.endpoint // also where configured endpoints are to be ignored
	}
	if cfg.Region == "" {
		return cfg, errors.New("no AWS region: pass --region, set AWS_REGION, or set one in the profile")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return cfg, &noCredentialsError{err}
	}
	return cfg, nil
}

// noCredentialsError is the error of a configuration without usable credentials.
type noCredentialsError struct{ cause error }

func (e *noCredentialsError) Error() string {
	return "no AWS credentials: pass --profile, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
		"or sign in as for the AWS CLI (" + e.cause.Error() + ")"
}

func (e *noCredentialsError) Unwrap() error { return e.cause }

// configurationError is the error of a configuration as one of the command: without
// credentials nothing can be reached, and the rest is wrong usage.
func configurationError(err error) error {
	if _, lacking := errors.AsType[*noCredentialsError](err); lacking {
		return &exitError{exitUnknown, err}
	}
	return usage("%w", err)
}

// checkEndpoint refuses what is no URL of a service. The error shows no secret.
func checkEndpoint(flag, text string) error {
	if _, err := awscall.ParseEndpoint(text); err != nil {
		return fmt.Errorf("--%s %w; pass one such as http://127.0.0.1:8000", flag, err)
	}
	return nil
}
