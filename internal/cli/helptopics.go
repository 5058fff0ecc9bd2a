package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// helpTopics are what "help" explains besides commands.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "environment", Short: "The variables that jobpoller reads", Long: environmentTopic},
		{Use: "exit-codes", Short: "The exit codes of all commands", Long: exitCodesTopic},
		{Use: "strategies", Short: "The ways in which compiled loops poll", Long: strategiesTopic()},
	}
}

const environmentTopic = `jobpoller reads these variables.

AWS: those of the AWS CLI and the SDKs count for every command that calls AWS.
  AWS_PROFILE, AWS_REGION                       which account and region
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
  AWS_SESSION_TOKEN                             credentials
  AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_<SERVICE>  other endpoints; --endpoint-url wins
  AWS_USE_FIPS_ENDPOINT, AWS_USE_DUALSTACK_ENDPOINT
  AWS_MAX_ATTEMPTS, AWS_RETRY_MODE              the SDK's own retries

The terminal: --color wins over all of them.
  NO_COLOR        not empty: no colors
  CLICOLOR_FORCE  not 0: colors without a terminal too
  CLICOLOR        0: no colors
  TERM            dumb: no live line and no colors

run passes these to the Lambda functions that it has itself:
  JOBPOLLER_HTTP_HOSTS, JOBPOLLER_HTTP_LOOPBACK  hosts that http:Request may call

A function of --lambda gets the whole environment of the command, and the variables of
its template that this lacks. For run-job, check-status and the collector, run and serve
set the store and the keys for it. Their variables are on the page
docs/reference/functions.md.`

const exitCodesTopic = `Every command ends with one of these codes.

    0  succeeded
    1  failed
    2  wrong usage: flags, names, files or input; nothing was called
    3  timed out
    4  could not reach the job (network, credentials, permissions), or cannot
       say what became of it
  130  interrupted

code  run                    wait, start                     check
   0  execution succeeded    job succeeded                   success
   1  it failed, or broke    job failed; start: the service  failure
      off                    refused it
   2  it did not begin       nothing was called              wrong usage
   3  it timed out           max wait or --max-attempts      retry: a wait would
                             reached                         go on
   4                         the job could not be reached;   an error of a call
                             start: it may have started

lint      1 if it finds more than notes
list      1 if it finds nothing
compile   1 if the strategy cannot express the waiter, or --check finds a
          difference
fix       1 if it offers a repair, or a finding or a loop stays
report    4 if AWS could not be asked; else 0, however the execution ended, but with
            --follow as run
records   1 if there is no such record, it was not written, or doctor finds something
            wrong; 4 if the store could not be reached
`

// strategiesTopic lists the strategies of compile.
func strategiesTopic() string {
	var b strings.Builder
	b.WriteString("compile --strategy writes a loop in one of these ways.\n\n")
	for _, s := range compile.Strategies() {
		by := string(s.Language())
		if s.UsesFunctions() {
			by += ", with the two Lambda functions"
		}
		if s.NeedsCollector() {
			by += " and the collector"
		}
		terminal.Fprintf(&b, "  %s (%s)\n      %s\n", string(s), by, s.Summary())
	}
	b.WriteString("\ncompile --report says what each poll costs, and how late it may see the end.\n")
	return b.String()
}
