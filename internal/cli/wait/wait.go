// Package wait is "jobpoller wait" and "jobpoller start": it polls jobs from a shell.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// New is "jobpoller wait".
func New() *cobra.Command {
	var o waitOptions
	c := &cobra.Command{
		Use:   "wait SERVICE NAME [ID...]",
		Short: "Wait until an AWS job or resource is done",
		Long: `Wait CALLS AWS with your credentials, as the AWS CLI does. It polls a job or a
resource until the job has succeeded or failed, or until --max-wait is over. It
starts and stops nothing.

ID is the job or resource. "jobpoller show SERVICE NAME" says which member of the
describe call's input it stands for. - reads IDs from standard input, or takes
them out of the JSON that a command such as "aws athena start-query-execution"
prints. With several IDs, wait ends when all have ended, or with --any as soon as
one has succeeded.

--param NAME=VALUE gives other members. A.B=1 is for a member of a member, and a
list takes one item each time. VALUE is JSON where an object or a list is wanted
and it starts with { or [. --input gives the whole input: JSON, @FILE or -.
Members have the names of the AWS CLI or of Step Functions.

Delays: the delay between two polls grows by 15 % a poll, from the waiter's
minDelay to its maxDelay, at most to one minute, and varies by 10 %. --delay sets
one delay for all polls. The last poll may start when --max-wait is over, and take 5
seconds. --dry-run shows the input and the polls, and calls nothing.

Errors: once the service has answered, wait retries throttling, faults of the
service and lost connections. Any other error that the waiter does not expect
ends the wait.

Output: progress goes to stderr, as one live line on a terminal, else as a line
where the status changes. The result goes to stdout. -o json or --verbose adds the
whole response.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage (nothing was called), 3 timed
out, 4 could not reach the job (network, credentials, permissions), or the service
answered with an error that the waiter does not expect, 130 interrupted.`,
		Example: `  jobpoller wait ec2 InstanceRunning i-0123456789abcdef0
  jobpoller wait glue StartJobRun jr_0123 --param JobName=nightly --max-wait 2h -o json
  jobpoller wait ecs TasksStopped TASK1 TASK2 --param cluster=web --any
  aws athena start-query-execution --query-string 'SELECT 1' | jobpoller wait athena StartQueryExecution -`,
		Args: requireWaitName,
		RunE: func(c *cobra.Command, args []string) error { return runWait(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.input, "input", "", "`JSON` of the describe call's input, or @FILE, or -")
	kit.AddParams(f, &o.params, "describe")
	f.BoolVar(&o.any, "any", false, "of several IDs: wait until one has succeeded, not until all have ended")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the input and when the polls would be, and call nothing")
	o.addWaitFlags(c)
	kit.CompleteEntries(c, true)
	kit.CompleteParams(c, kit.FindAny, func(e *catalog.Entry) *catalog.Shape { return e.Operation.Input })
	return c
}

// defaultMaxWait is how long wait waits where nobody says.
const defaultMaxWait = time.Hour

// requireWaitName wants the arguments SERVICE NAME [ID...] or SERVICE:NAME [ID...].
func requireWaitName(c *cobra.Command, args []string) error {
	name, _ := kit.SplitIDs(args)
	return kit.RequireName(c, name)
}

func runWait(c *cobra.Command, args []string, o waitOptions) error {
	name, ids := kit.SplitIDs(args)
	entry, err := kit.LookupAny(name, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := o.delays.ReadSchedule(c.InOrStdin()); err != nil {
		return err
	}
	if err := o.validate(c.Flags().Changed, len(ids)); err != nil {
		return err
	}
	subject := Subject{Entry: entry, IDs: ids, input: o.input, Params: o.params}
	targets, err := subject.Targets(c.InOrStdin())
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.printPlan(c.OutOrStdout(), entry, targets)
	}
	w, err := newWaits(c, o, entry)
	if err != nil {
		return err
	}
	if len(targets) > 1 {
		return w.waitForMany(c.Context(), targets)
	}
	report, err := w.waitForOne(c.Context(), targets[0])
	if err != nil {
		return err
	}
	return w.finish(report, report.text(terminal.ColoursOf(c.OutOrStdout()), o.verbose), report.exitCode())
}

// waits are the waits of one command, which differ in their inputs.
type waits struct {
	command *cobra.Command
	options waitOptions
	entry   *catalog.Entry
	check   *pollcore.Check[any, any]
	aws     aws.Config
}

// newWaits prepares the waits for an entry. Nothing is called yet.
func newWaits(c *cobra.Command, o waitOptions, e *catalog.Entry) (*waits, error) {
	w := &waits{command: c, options: o, entry: e}
	var err error
	if w.check, err = pollcore.Compile[any, any](e.Waiter); err != nil {
		return nil, kit.Usage("%w", err)
	}
	if w.aws, err = o.aws.Configuration(c.Context(), o.verbose); err != nil {
		if c.Context().Err() != nil {
			return nil, kit.WithCode(kit.ExitInterrupted, errors.New("interrupted before the first call"))
		}
		return nil, kit.ConfigurationError(err)
	}
	return w, nil
}

// waitForOne waits for one job or resource, and shows its progress. Its error is one of
// the command line.
func (w *waits) waitForOne(ctx context.Context, t Target) (*waitReport, error) {
	p := newWaitProgress(w.command.ErrOrStderr(), w.entry, w.options)
	defer p.close()
	return w.wait(ctx, t, p)
}

// wait waits for one job or resource.
func (w *waits) wait(ctx context.Context, t Target, p *waitProgress) (*waitReport, error) {
	call, err := kit.NewDescribeCall(w.aws, w.entry, t.Input, time.Now().Add(w.options.maxWait)) //nolint:contextcheck // it calls nothing
	if err != nil {
		return nil, kit.Usage("%w", err)
	}
	outcome, err := w.check.Wait(ctx, t.Input, w.options.maxWait, call.Do, w.options.settings(call, p)...)
	if errors.Is(err, jobs.ErrArguments) { // nothing was sent
		return nil, kit.Usage("input of %s: %w", w.entry.Operation.Name, outcome.OpErr)
	}
	if err != nil && outcome.Status == "" {
		return nil, kit.Usage("%w", err)
	}
	report := newWaitReport(w.entry, w.options, p, outcome, err)
	report.ID = t.id
	return &report, nil
}

// finish prints the result as JSON or as text, and returns the error of the exit code.
func (w *waits) finish(result any, text string, code int) error {
	out := w.command.OutOrStdout()
	var err error
	if w.options.output == "json" {
		err = kit.WriteJSON(out, result)
	} else {
		_, err = io.WriteString(out, text)
	}
	if err != nil {
		return kit.WithCode(cmp.Or(code, kit.ExitUnknown), fmt.Errorf("write the result: %w", err))
	}
	if code != kit.ExitSucceeded {
		return &kit.ExitError{Code: code}
	}
	return nil
}

// settings are how the wait goes on.
func (o *waitOptions) settings(call *kit.DescribeCall, p *waitProgress) []pollcore.WaitOption {
	all := []pollcore.WaitOption{
		pollcore.InitialDelay(o.delays.Initial), pollcore.MaxAttempts(o.maxAttempts), pollcore.OnAttempt(p.show),
		pollcore.Transient(call.Transient), pollcore.CallTimeout(2 * kit.CallPatience), // the call has its own
	}
	s := p.schedule
	if s.Planned != nil {
		return append(all, pollcore.Follow(*s.Planned))
	}
	return append(all, pollcore.Between(s.Min, s.Max))
}

// schedule is when the wait polls.
func (o *waitOptions) schedule(e *catalog.Entry) pollcore.Schedule {
	s := pollcore.NewSchedule(e.Waiter, o.maxWait)
	s.Initial, s.MaxAttempts, s.Planned = o.delays.Initial, o.maxAttempts, o.delays.Schedule
	low, high := o.delays.Min, o.delays.Max
	switch {
	case o.delay > 0:
		s.Min, s.Max = o.delay, o.delay
	case low > 0 && high == 0:
		s.Min, s.Max = low, max(low, s.Max)
	case high > 0 && low == 0:
		s.Min, s.Max = min(s.Min, high), high
	case low > 0:
		s.Min, s.Max = low, high
	}
	return s
}
