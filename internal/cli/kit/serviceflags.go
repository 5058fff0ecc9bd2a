package kit

import (
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/answers"
)

// AddServices gives a command the flags that say where calls of AWS services go.
func AddServices(c *cobra.Command, s *answers.Services) {
	f := c.Flags()
	f.StringArrayVar(&s.Endpoints, "endpoint-url", nil, "`[SERVICE=]URL` that calls of AWS services go to; repeatable")
	f.StringSliceVar(&s.AWS, "aws", nil, "`SERVICES` to call at AWS, which AWS charges for, as in --aws=s3,sqs; all with --aws alone")
	f.Lookup("aws").NoOptDefVal = answers.EveryService
	f.StringVar(&s.Region, "region", "", "`REGION` of AWS, instead of the configured one")
	f.StringVar(&s.Profile, "profile", "", "`PROFILE` of the AWS configuration files")
	CompleteNothing(c, "endpoint-url", "region", "profile")
	Must(c.RegisterFlagCompletionFunc("aws", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return CompleteService(typed), cobra.ShellCompDirectiveNoFileComp
	}))
}
