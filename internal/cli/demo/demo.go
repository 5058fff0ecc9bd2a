// Package demo is "jobpoller demo": the shipped poller on a sample job.
package demo

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/localrun"
)

// New is "jobpoller demo".
func New() *cobra.Command {
	o := localrun.Options{Seed: kit.DefaultSeed}
	var job localrun.Sample
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run the shipped poller on a sample job, on this machine",
		Long: `Demo runs the shipped poller (RunJob, Wait, CheckStatus, Choice) on a sample job that
works for some seconds. The Lambda functions run here, and the start records go to
an embedded S3 server. You need no AWS account. To run a definition or a request
of yours, use jobpoller run.

With --data and the same --name, a second demo goes on with the job of the first.

Progress goes to stderr, the result to stdout. --virtual shows no progress.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 130 interrupted.`,
		Example: `  jobpoller demo --job-seconds 6
  jobpoller demo --virtual --job-seconds 86400 --max-wait 30h -o json
  jobpoller demo --virtual --job-fails --trace --html report.html`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return kit.Usage("demo takes no definition: to run %s, use jobpoller run", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := errors.Join(job.Check(), o.Check()); err != nil {
				return kit.Usage("%w", err)
			}
			o.SetName()
			return localrun.RunSample(c, &o, job, o.NewFunctionOptions())
		},
	}
	job.AddTo(c)
	o.AddTo(c)
	return c
}
