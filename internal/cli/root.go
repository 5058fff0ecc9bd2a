package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/compile"
	"github.com/jobpoller/jobpoller/internal/cli/demo"
	"github.com/jobpoller/jobpoller/internal/cli/fix"
	"github.com/jobpoller/jobpoller/internal/cli/graph"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/lint"
	"github.com/jobpoller/jobpoller/internal/cli/plan"
	"github.com/jobpoller/jobpoller/internal/cli/records"
	"github.com/jobpoller/jobpoller/internal/cli/report"
	"github.com/jobpoller/jobpoller/internal/cli/run"
	"github.com/jobpoller/jobpoller/internal/cli/serve"
	"github.com/jobpoller/jobpoller/internal/cli/show"
	"github.com/jobpoller/jobpoller/internal/cli/wait"
)

// newRootCommand is jobpoller with all its commands.
func newRootCommand() *cobra.Command {
	root := kit.NewRoot(slices.Concat(helpTopics(), []*cobra.Command{
		lint.New(), graph.New(), show.NewList(), show.NewCheck(),
		serve.New(), run.New(), demo.New(), show.New(), compile.New(), wait.New(), fix.New(),
		wait.NewStart(), records.New(), report.New(), plan.New(), newVersionCommand(),
	}, records.NewMoved(), []*cobra.Command{run.NewMocks(), report.NewWatch()})...)
	root.Short = "Check, test and build Step Functions poll loops"
	root.Long = `jobpoller checks, tests and builds Step Functions poll loops. It knows when 661 AWS
jobs and resources are done.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, 3 timed out, 4 could not reach
the job, 130 interrupted. More: jobpoller help exit-codes`
	root.Example = `  jobpoller lint poller.asl.json
  jobpoller run poller.asl.json --virtual --mocks mocks.json --trace
  jobpoller compile athena StartQueryExecution --start --max-wait 30m
  jobpoller list dynamodb
  jobpoller start athena StartQueryExecution --param QueryString='SELECT 1' --wait
  jobpoller wait ec2 InstanceRunning i-0123456789abcdef0
  jobpoller graph poller.asl.json >poller.svg`
	return root
}
