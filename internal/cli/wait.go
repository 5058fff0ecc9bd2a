package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

func newWaitCommand() *cobra.Command {
	var o waitOptions
	c := &cobra.Command{
		Use:   "wait SERVICE NAME --input JSON --max-wait DURATION",
		Short: "Wait until an AWS job or resource is done",
		Long: `Wait CALLS AWS with your credentials, as the AWS CLI does. It polls a job or a
resource until the job has succeeded or failed, or until --max-wait is over. It
starts and stops nothing.

--input is the input of the describe call: JSON, @FILE, or - for standard input.
"jobpoller show SERVICE NAME" prints an example. Members have the names of the
AWS CLI or of Step Functions.

Delays: the delay between two polls grows by 15 % a poll, from the waiter's
minDelay to its maxDelay, at most to one minute, and varies by 10 %. --delay sets
one delay for all polls. The last poll may start when --max-wait is over.

Errors: once the service has answered, wait retries throttling, faults of the
service and lost connections. Any other error that the waiter does not expect
ends the wait.

Output: progress goes to stderr, as one live line on a terminal, else as a line
a poll. The result goes to stdout. -o json or --verbose adds the whole response.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage (nothing was called), 3 timed
out, 4 could not reach the job (network, credentials, permissions), 130
interrupted.`,
		Example: `  jobpoller wait dynamodb ExportCompleted --max-wait 1h --input '{"ExportArn": "arn:aws:dynamodb:..."}'
  jobpoller wait ecs ServicesStable --max-wait 10m --input '{"cluster": "web", "services": ["api"]}'
  jobpoller wait glue StartJobRun --max-wait 2h --input @run.json --delay 30s -o json`,
		Args: requireName,
		RunE: func(c *cobra.Command, args []string) error { return runWait(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.input, "input", "", "input of the describe call: `JSON`, @FILE or - (required)")
	addMaxWait(f, &o.maxWait, 0)
	addDuration(f, &o.delay, "delay", 0, "the same delay between all polls")
	o.delays.addTo(f)
	f.IntVar(&o.maxAttempts, "max-attempts", 0, "give up after this many polls")
	o.aws.addTo(c)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the whole response and the SDK's warnings too")
	completeEntries(c, true)
	completeNothing(c, "max-wait", "delay", "min-delay", "max-delay", "initial-delay", "max-attempts")
	addOutput(c, &o.output)
	return c
}

func runWait(c *cobra.Command, args []string, o waitOptions) error {
	entry, err := lookup(args)
	if err != nil {
		return err
	}
	if err := o.validate(c.Flags().Changed); err != nil {
		return err
	}
	if err := callable(entry); err != nil {
		return usage("%w", err)
	}
	input, err := o.readInput(entry, c.InOrStdin())
	if err != nil {
		return err
	}
	check, err := pollcore.Compile[any, any](entry.Waiter)
	if err != nil {
		return usage("%w", err)
	}
	call, err := o.newCall(c.Context(), entry, input)
	if err != nil {
		if c.Context().Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before the first call")}
		}
		return usage("%w", err)
	}

	p := newWaitProgress(c.ErrOrStderr(), entry, o)
	outcome, err := check.Wait(c.Context(), input, o.maxWait, call.do, o.settings(entry, call, p)...)
	p.close()
	if errors.Is(err, jobs.ErrArguments) { // nothing was sent
		return usage("--input: %w", outcome.OpErr)
	}
	if err != nil && outcome.Status == "" {
		return usage("%w", err)
	}
	r := newWaitReport(entry, o, outcome, err)
	if o.output == "json" {
		err = writeJSON(c.OutOrStdout(), r)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), r.text(o.verbose))
	}
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("write the result: %w", err)}
	}
	if code := r.exitCode(); code != exitSucceeded {
		return &exitError{code: code}
	}
	return nil
}

// readInput reads the input of the operation that is polled, in the spelling of
// the model.
func (o *waitOptions) readInput(e *catalog.Entry, in io.Reader) (any, error) {
	if o.input == "" {
		return nil, usage("wait needs --input: the input of %s, %s", e.Operation.Name, exampleInput(e.Operation))
	}
	text, hint := []byte(o.input), ""
	if file, isFile := strings.CutPrefix(o.input, "@"); isFile || file == stdin {
		var err error
		if text, err = readText(file, in); err != nil {
			return nil, usage("--input of %s: %w", e.Operation.Name, err)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(o.input), "{") {
		hint = "\nTo read a file, write @ before its name"
	}
	value, problems, err := typecheck.FitText(text, e.Operation.Input, true)
	if err != nil && hint != "" {
		err = fmt.Errorf("%w%s", err, hint)
	}
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return nil, usage("--input of %s: %w", e.Operation.Name, err)
	}
	return value, nil
}

// settings are how the wait goes on.
func (o *waitOptions) settings(e *catalog.Entry, call *describeCall, p *waitProgress) []pollcore.WaitOption {
	all := []pollcore.WaitOption{
		pollcore.InitialDelay(o.delays.initial), pollcore.MaxAttempts(o.maxAttempts), pollcore.OnAttempt(p.show),
		pollcore.Transient(call.transient),
	}
	own := pollcore.NewSchedule(e.Waiter, o.maxWait)
	low, high := o.delays.min, o.delays.max
	switch {
	case o.delay > 0:
		all = append(all, pollcore.Every(o.delay))
	case low > 0 && high == 0:
		all = append(all, pollcore.Between(low, max(low, own.Max)))
	case high > 0 && low == 0:
		all = append(all, pollcore.Between(min(own.Min, high), high))
	case low > 0:
		all = append(all, pollcore.Between(low, high))
	}
	return all
}
