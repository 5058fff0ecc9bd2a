package kit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// AwsFlags say which AWS a command calls.
type AwsFlags struct {
	Region, Profile, Endpoint string

	stderr func() io.Writer // of the command; nil shows no progress
}

// AddTo gives a command the flags.
func (a *AwsFlags) AddTo(c *cobra.Command) {
	c.Flags().StringVar(&a.Region, "region", "", "`REGION` of AWS, instead of the configured one")
	CompleteNothing(c, "region")
	a.AddWithoutRegion(c)
}

// AddForARN gives the flags to a command that calls AWS where an ARN stands for a
// definition, whose region it says.
func (a *AwsFlags) AddForARN(c *cobra.Command) {
	a.AddWithoutRegion(c)
	for _, name := range []string{"profile", "endpoint-url"} {
		c.Flags().Lookup(name).Usage += " (with an ARN)"
	}
}

// CheckForARN refuses the flags of AddForARN where no ARN is read.
func (a *AwsFlags) CheckForARN(names ...string) error {
	if a.Profile == "" && a.Endpoint == "" || slices.ContainsFunc(names, source.IsARN) {
		return nil
	}
	return Usage("--profile and --endpoint-url need %s: nothing else calls AWS", definitionARN)
}

// AddWithoutRegion gives a command the flags but --region.
func (a *AwsFlags) AddWithoutRegion(c *cobra.Command) {
	a.stderr = c.ErrOrStderr
	f := c.Flags()
	f.StringVar(&a.Profile, "profile", "", "`PROFILE` of the AWS configuration files")
	f.StringVar(&a.Endpoint, "endpoint-url", "", "`URL` of the service, instead of AWS's")
	CompleteNothing(c, "profile", "endpoint-url")
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
