package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/shell"
)

// awsFlags say which AWS a command calls.
type awsFlags struct {
	region, profile, endpoint string
}

// addTo gives a command the flags.
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
	return awssettings.CheckEndpoint("endpoint-url", a.endpoint)
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

// configuration is the user's configuration of AWS. It has a region and credentials.
func (a *awsFlags) configuration(ctx context.Context, verbose bool) (aws.Config, error) {
	return awssettings.Load(ctx, awssettings.Options{Region: a.region, Profile: a.profile, Endpoint: a.endpoint, Verbose: verbose})
}

// configurationError is the error of a configuration as one of the command: without
// credentials nothing can be reached, and the rest is wrong usage.
func configurationError(err error) error {
	if _, lacking := errors.AsType[*awssettings.NoCredentialsError](err); lacking {
		return withCode(exitUnknown, err)
	}
	return usage("%w", err)
}
