package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// startOptions are the flags of "jobpoller start".
type startOptions struct {
	waitOptions

	token           string
	wait            bool
	stopOnInterrupt bool
}

// NewStart is "jobpoller start".
func NewStart() *cobra.Command {
	var o startOptions
	c := &cobra.Command{
		Use:   "start SERVICE OPERATION",
		Short: "Start an AWS job, and wait for it",
		Long: `Start CALLS AWS with your credentials. It starts a job of "jobpoller list --jobs",
prints the job's ID, and with --wait waits for the job as "jobpoller wait" does.

--param NAME=VALUE gives a member of the start call's input. A.B=1 is for a member
of a member, and a list takes one item each time. VALUE is JSON where an object or
a list is wanted and it starts with { or [. --input gives the whole input: JSON,
@FILE or -. What does not fit the service's model is refused before any call.

Where the service takes a token, start draws one, so that a call without an answer
is repeated and still starts one job. Pass the token of such a call to --token to
repeat it yourself. Without a token, a call that may have started the job is never
repeated.

Interrupt: with --wait, Ctrl-C ends the wait and says how to go on. The job runs
on, unless you pass --stop-on-interrupt.

Output: the ID goes to stdout, alone on the first line; the result of the wait
follows it. -o json prints one document.

Exit codes: 0 started, or with --wait succeeded; 1 refused or failed; 2 wrong
usage (nothing was called); 3 timed out; 4 could not reach the service (network,
credentials, permissions), it is not known whether the job has started, or the ID
could not be written; 130 interrupted.`,
		Example: `  jobpoller start athena StartQueryExecution --param QueryString='SELECT 1' --param WorkGroup=primary --wait
  jobpoller start glue StartJobRun --param JobName=nightly --param Arguments.--day=2026-11-23
  id=$(jobpoller start codebuild StartBuild --param projectName=web)`,
		Args: func(_ *cobra.Command, args []string) error {
			if !kit.HasName(args) {
				return kit.Usage("expected a service and the operation that starts a job, such as athena StartQueryExecution, found %s", kit.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runStart(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.input, "input", "", "`JSON` of the start call's input, or @FILE, or -")
	kit.AddParams(f, &o.params, "start")
	f.StringVar(&o.token, "token", "", "`TOKEN` of an earlier start call, to repeat it and start no second job")
	f.BoolVar(&o.wait, "wait", false, "wait until the job has ended")
	f.BoolVar(&o.stopOnInterrupt, "stop-on-interrupt", false, "stop the job if Ctrl-C ends the wait")
	o.addWaitFlags(c)
	completeJobs(c)
	kit.CompleteParams(c, kit.Lookup, startInput)
	kit.CompleteNothing(c, "token", "input")
	return c
}

// startInput is the type of the input of the call that starts the job.
func startInput(e *catalog.Entry) *catalog.Shape {
	if e.Job == nil {
		return nil
	}
	return e.Service.Operations[e.Name].Input
}

func runStart(c *cobra.Command, args []string, o startOptions) error {
	entry, err := kit.Lookup(args)
	if err != nil {
		return err
	}
	if entry.Job == nil {
		return kit.Usage("%s %s is a waiter, which starts nothing. Jobs: jobpoller list %s --jobs. To wait for it: jobpoller wait %[1]s %[2]s",
			entry.Service.Key, entry.Name, entry.Service.Key)
	}
	if err := o.delays.ReadSchedule(c.InOrStdin()); err != nil {
		return err
	}
	if err := o.validate(c.Flags().Changed, entry); err != nil {
		return err
	}
	s := &start{command: c, options: o, entry: entry, op: entry.Service.Operations[entry.Name]}
	if err := s.readRequest(c.InOrStdin()); err != nil {
		return err
	}
	w, err := newWaits(c, o.waitOptions, entry)
	if err != nil {
		return err
	}
	s.driver, err = awsjob.NewDriver(w.aws, catalog.AWS(), entry.FullName())
	if err != nil {
		return kit.Usage("%w", err)
	}
	report, err := s.run(c.Context())
	if err != nil {
		return err
	}
	if !o.wait {
		return s.print(report)
	}
	return s.waitFor(w, report)
}

// validate reports what is wrong with the flags, all at once.
func (o *startOptions) validate(changed func(flag string) bool, e *catalog.Entry) error {
	problems := []error{o.waitOptions.validate(changed, 0)}
	why := "is for a wait: add --wait, or remove it"
	problems = append(problems, kit.Meaningless(changed, []kit.Meaning{{
		Flags: []string{"max-wait", "delay", "min-delay", "max-delay", "initial-delay", "schedule", "max-attempts", "quiet", "stop-on-interrupt"},
		Means: o.wait, Why: why,
	}})...)
	if o.stopOnInterrupt && e.Job.Stop == nil {
		problems = append(problems, fmt.Errorf("--stop-on-interrupt: AWS has no call that stops a job of %s: remove it", e.Name))
	}
	if o.token != "" && tokenOf(e.Job) == "" {
		problems = append(problems, fmt.Errorf("--token: %s takes no token: remove it", e.Name))
	}
	if err := errors.Join(problems...); err != nil {
		return kit.Usage("%w", err)
	}
	return nil
}

// print prints the ID of a job that nobody waits for.
func (s *start) print(r *startReport) error {
	var err error
	if out := s.command.OutOrStdout(); s.options.output == "json" {
		err = kit.WriteJSON(out, r)
	} else {
		_, err = io.WriteString(out, terminal.Quote(r.ID)+"\n")
		terminal.Fprintf(s.command.ErrOrStderr(), "%s has started. Wait for it: %s\n", s.entry.Name, r.Wait)
	}
	if err != nil {
		return kit.WithCode(kit.ExitUnknown, s.unwritten(r, err))
	}
	return nil
}

// unwritten is the error of an ID that standard output does not take. The job runs, so
// the error has it.
func (s *start) unwritten(r *startReport, err error) error {
	return fmt.Errorf("%s has started %s, but its ID could not be written: %w", s.entry.Name, terminal.Quote(r.ID), err)
}

// startedWait is what a job and the wait for it come to. Its JSON members are a
// contract: see docs/reference/json.md.
type startedWait struct {
	Start *startReport `json:"start"`
	Wait  *waitReport  `json:"wait"`
}

// waitFor waits for the job that was started.
func (s *start) waitFor(w *waits, r *startReport) error {
	if s.options.output != "json" {
		if _, err := io.WriteString(s.command.OutOrStdout(), terminal.Quote(r.ID)+"\n"); err != nil {
			terminal.Fprintf(s.command.ErrOrStderr(), "%s\n", terminal.ErrorText(s.unwritten(r, err)))
		}
	}
	result, err := w.waitForOne(s.command.Context(), Target{id: r.ID, Input: r.Input})
	if err != nil {
		return err
	}
	switch result.Status {
	case waitInterrupted:
		s.endInterrupted(r)
	case string(pollcore.TimedOut), waitError:
		s.sayHowToGoOn(r)
	}
	return w.finish(startedWait{r, result}, result.text(terminal.ColoursOf(s.command.OutOrStdout()), s.options.verbose), result.exitCode())
}

// StopTimeout is how long the stop call may take once the user wants to leave.
const StopTimeout = 30 * time.Second

// endInterrupted stops the job if that was asked for, else says how to go on.
func (s *start) endInterrupted(r *startReport) {
	stopper, ok := s.driver.(jobs.Stopper)
	if !s.options.stopOnInterrupt || !ok {
		s.sayHowToGoOn(r)
		return
	}
	_, err := kit.AnswerWithin(context.WithoutCancel(s.command.Context()), StopTimeout, func(ctx context.Context) (any, error) {
		return nil, stopper.Stop(ctx, s.ref)
	})
	if err != nil {
		stop := s.entry.Service.Operations[s.entry.Job.Stop.Operation]
		terminal.Fprintf(s.command.ErrOrStderr(), "%s failed, the job may run on: %s\n", stop.Name, kit.EndReason(stop.Actions, err))
		s.sayHowToGoOn(r)
		return
	}
	terminal.Fprintf(s.command.ErrOrStderr(), "%s was called: the service stops the job\n", s.entry.Job.Stop.Operation)
}

func (s *start) sayHowToGoOn(r *startReport) {
	terminal.Fprintf(s.command.ErrOrStderr(), "The job may run on. Wait for it again: %s\n", r.Wait)
}

// completeJobs completes a service, and the operations that start its jobs.
func completeJobs(c *cobra.Command) {
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		if len(args) == 0 {
			found = kit.CompleteKnownService(typed, false)
		} else if listing, err := catalog.AWS().Find(args[0]); err == nil && len(args) == 1 {
			for _, e := range listing.Entries {
				if e.Kind == catalog.AWSJob && strings.HasPrefix(strings.ToLower(e.Name), strings.ToLower(typed)) {
					found = append(found, e.Name)
				}
			}
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
