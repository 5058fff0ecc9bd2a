package kit

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/shell"
)

// AwsFlags say which AWS a command calls.
type AwsFlags struct {
	Region, Profile, Endpoint string
}

// AddTo gives a command the flags.
func (a *AwsFlags) AddTo(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&a.Region, "region", "", "`REGION` of AWS, instead of the configured one")
	f.StringVar(&a.Profile, "profile", "", "`PROFILE` of the AWS configuration files")
	f.StringVar(&a.Endpoint, "endpoint-url", "", "`URL` of the service, instead of AWS's")
	CompleteNothing(c, "region", "profile", "endpoint-url")
}

// Validate returns what is wrong with the flags.
func (a *AwsFlags) Validate() error {
	if a.Endpoint == "" {
		return nil
	}
	return awssettings.CheckEndpoint("endpoint-url", a.Endpoint)
}

// Spell writes the flags that are set as a shell reads them, each after a space.
func (a *AwsFlags) Spell() string {
	var b strings.Builder
	for _, flag := range []struct{ name, value string }{{"region", a.Region}, {"profile", a.Profile}, {"endpoint-url", a.Endpoint}} {
		if flag.value != "" {
			b.WriteString(" --" + flag.name + " " + shell.Quote(flag.value))
		}
	}
	return b.String()
}

// Configuration is the user's configuration of AWS. It has a region and credentials.
func (a *AwsFlags) Configuration(ctx context.Context, verbose bool) (aws.Config, error) {
	return awssettings.Load(ctx, awssettings.Options{Region: a.Region, Profile: a.Profile, Endpoint: a.Endpoint, Verbose: verbose})
}

// ConfigurationError is the error of a configuration as one of the command: without
// credentials nothing can be reached, and the rest is wrong usage.
func ConfigurationError(err error) error {
	if _, lacking := errors.AsType[*awssettings.NoCredentialsError](err); lacking {
		return WithCode(ExitUnknown, err)
	}
	return Usage("%w", err)
}
