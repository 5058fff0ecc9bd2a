package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/modelfit"
)

// waitOptions are the flags of "jobpoller wait".
type waitOptions struct {
	lookup

	input   string
	timeout time.Duration

	delay, maxDelay, interval, initialDelay time.Duration
	maxAttempts                             int
	exact                                   bool

	region, profile, endpoint string

	output  string
	quiet   bool
	verbose bool
}

func newWaitCommand() *cobra.Command {
	var o waitOptions
	c := &cobra.Command{
		Use:   "wait SERVICE NAME --input JSON --timeout DURATION",
		Short: "Wait until a waiter or job of AWS is done",
		Long: `Wait CALLS AWS with your credentials, as the AWS CLI does: the operation that the
waiter polls, again and again, until an acceptor of success or failure matches or
the time is up. It starts and stops nothing.

--input is the input of the operation that is polled, also for a job: "jobpoller show"
has an example. It is JSON, @FILE, or - for standard input, spelt as the service's
model or Step Functions spells it.

The delay between calls grows by 15 % a call, from the waiter's minDelay to its
maxDelay, though to no more than a minute, give or take a tenth. --max-delay is another
longest delay. A call may start up to the end of the timeout. Throttling, faults of the
service and lost connections are waited out once the service has answered; any other
error that no acceptor expects ends the wait.

With --exact all of this is as the Smithy specification has it: such errors end
the wait, delays double up to maxDelay and are drawn from all that is below, and no call
starts in the last minDelay. A waiter with a minDelay of 15 s and a timeout of 30 s then
makes two calls and ends after 15 s, as the pseudo-code of the specification does.

Calls go through the SDK's clients for Athena, DynamoDB, Glue, Lambda, Redshift Data,
S3, Step Functions and Transcribe, and through a client of our own for all other
services that speak JSON. Operations that neither can call are refused before
anything is called.

Progress goes to stderr: one updating line on a terminal, else, and with --verbose, a
line a call. The result goes to stdout; it shows what the acceptors read, and the
whole output only with -o json or --verbose.

Exit codes: 0 succeeded, 1 failed, 2 wrong usage, or nothing could be called, 3 timed
out, or --max-attempts made, 4 an error that no acceptor matches: nothing is known of
the job, 130 interrupted.`,
		Example: `  jobpoller wait dynamodb ExportCompleted --timeout 1h --input '{"ExportArn": "arn:aws:dynamodb:..."}'
  jobpoller wait ecs ServicesStable --timeout 10m --input '{"cluster": "web", "services": ["api"]}'
  jobpoller wait glue StartJobRun --timeout 2h --input @run.json --interval 30s -o json`,
		Args: twoNames,
		RunE: func(c *cobra.Command, args []string) error { return runWait(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.input, "input", "", "input of the operation that is polled: JSON, @FILE or -; required")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait at most, such as 90s or 2h; required")
	f.DurationVar(&o.delay, "delay", 0, "shortest delay between calls, instead of the waiter's")
	f.DurationVar(&o.maxDelay, "max-delay", 0, "longest delay between calls, instead of the waiter's, which counts up to 1m")
	f.DurationVar(&o.interval, "interval", 0, "call at this interval, without backoff and jitter")
	f.DurationVar(&o.initialDelay, "initial-delay", 0, "time before the first call")
	f.IntVar(&o.maxAttempts, "max-attempts", 0, "give up after so many calls")
	f.BoolVar(&o.exact, "exact", false, "keep to the Smithy specification to the letter")
	f.StringVar(&o.region, "region", "", "AWS region, instead of the configured one")
	f.StringVar(&o.profile, "profile", "", "profile of the AWS configuration files")
	f.StringVar(&o.endpoint, "endpoint-url", "", "URL of the service, instead of AWS's")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the last output too, and the warnings of the SDK")
	o.addTo(c, true)
	addOutput(c, &o.output)
	return c
}

// validate reports what is wrong with the flags, all at once.
func (o *waitOptions) validate(changed func(flag string) bool) error {
	problems := []error{checkOutput(o.output)}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.timeout <= 0 {
		report("wait needs --timeout, how long to wait at most, such as 30m; it is %s", o.timeout)
	}
	for _, f := range []struct {
		flag  string
		value time.Duration
	}{{"delay", o.delay}, {"max-delay", o.maxDelay}, {"interval", o.interval}} {
		if changed(f.flag) && f.value <= 0 {
			report("--%s must be above 0, is %s", f.flag, f.value)
		}
	}
	if o.delay > 0 && o.maxDelay > 0 && o.maxDelay < o.delay {
		report("--max-delay (%s) must not be below --delay (%s)", o.maxDelay, o.delay)
	}
	if o.interval > 0 && (o.delay > 0 || o.maxDelay > 0) {
		report("--interval is a delay that stays the same: leave --delay and --max-delay out")
	}
	if o.initialDelay < 0 {
		report("--initial-delay must not be negative, is %s", o.initialDelay)
	}
	if o.timeout > 0 && o.initialDelay >= o.timeout {
		report("--initial-delay (%s) must be below --timeout (%s)", o.initialDelay, o.timeout)
	}
	if changed("max-attempts") && o.maxAttempts < 1 {
		report("--max-attempts must be at least 1, is %d", o.maxAttempts)
	}
	if u, err := url.Parse(o.endpoint); o.endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		report("--endpoint-url must be a URL such as http://127.0.0.1:8000, is %q", o.endpoint)
	}
	if err := errors.Join(problems...); err != nil {
		return usage("%w", err)
	}
	return nil
}

func runWait(c *cobra.Command, args []string, o waitOptions) error {
	entry, err := o.entry(args[0], args[1])
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

	p := newWaitProgress(c.ErrOrStderr(), entry.Name, o)
	outcome, err := check.Wait(c.Context(), input, o.timeout, call.do, o.settings(entry, call, p)...)
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
		return nil, usage("wait needs --input, the input of %s, %s", e.Operation.Name, exampleInput(e.Operation))
	}
	text, hint := []byte(o.input), ""
	if file, isFile := strings.CutPrefix(o.input, "@"); isFile || file == stdin {
		var err error
		if text, err = readText(file, in); err != nil {
			return nil, usage("--input of %s: %w", e.Operation.Name, err)
		}
	} else if !strings.HasPrefix(strings.TrimSpace(o.input), "{") {
		hint = "\nwrite @ before the name of a file"
	}
	value, problems, err := modelfit.Text(text, e.Operation.Input, true)
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

// exampleInput says what an input looks like.
func exampleInput(op *catalog.Operation) string {
	sample := inputOf(op)
	if strings.HasPrefix(sample, "{") {
		return fmt.Sprintf("such as '%s'", sample)
	}
	return "a JSON object with " + sample
}

// sampleInput shows the members that an input needs.
func sampleInput(op *catalog.Operation) string {
	if op.Input == nil {
		return "{}"
	}
	return sampleValue(op.Input)
}

// sampleValue is a JSON value of a shape, with dots for what the user knows.
func sampleValue(s *catalog.Shape) string {
	switch s.Type {
	case catalog.Structure:
		var members []string
		for _, m := range s.Members {
			if m.Required || m.In == catalog.InPath {
				members = append(members, fmt.Sprintf("%q: %s", m.Name, sampleValue(m.Shape)))
			}
		}
		return "{" + strings.Join(members, ", ") + "}"
	case catalog.List:
		if element := s.Element.Shape; element.Type == catalog.String {
			return "[" + sampleValue(element) + "]"
		}
		return "[]"
	case catalog.Map, catalog.Union:
		return "{}"
	case catalog.Boolean:
		return "true"
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return "1"
	default:
		return `"..."`
	}
}

// settings are how the wait goes on.
func (o *waitOptions) settings(e *catalog.Entry, call *describeCall, p *waitProgress) []pollcore.WaitOption {
	all := []pollcore.WaitOption{pollcore.InitialDelay(o.initialDelay), pollcore.MaxAttempts(o.maxAttempts), pollcore.OnAttempt(p.attempted)}
	own := pollcore.NewSchedule(e.Waiter, o.timeout)
	if o.exact {
		own = pollcore.NewSmithySchedule(e.Waiter, o.timeout)
		all = append(all, pollcore.Exact())
	} else {
		all = append(all, pollcore.Transient(call.transient))
	}
	switch {
	case o.interval > 0:
		all = append(all, pollcore.Every(o.interval))
	case o.delay > 0 && o.maxDelay == 0:
		all = append(all, pollcore.Between(o.delay, max(o.delay, own.Max)))
	case o.maxDelay > 0 && o.delay == 0:
		all = append(all, pollcore.Between(min(own.Min, o.maxDelay), o.maxDelay))
	case o.delay > 0:
		all = append(all, pollcore.Between(o.delay, o.maxDelay))
	}
	return all
}
