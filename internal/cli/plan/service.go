package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// serviceOptions are the flags of plan about the service's own list of past jobs.
type serviceOptions struct {
	from   bool
	params kit.Params
}

// addService adds the flags.
func (o *planOptions) addService(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.service.from, "from-service", false, "read the times of past jobs from the service's own list")
	kit.AddParams(f, &o.service.params, "list")
	kit.CompleteParams(c, kit.Lookup, func(e *catalog.Entry) *catalog.Shape {
		if e.Job == nil || e.Job.List == nil {
			return nil
		}
		return e.Service.Operations[e.Job.List.Operation].Input
	})
}

// readService reads past jobs from the service.
func (o *planOptions) readService(c *cobra.Command, s *planSubject) (*knowledge, error) {
	l, err := newListing(s, o.service.params)
	if err != nil {
		return nil, err
	}
	cfg, err := o.aws.Configuration(c.Context(), false)
	if err != nil {
		return nil, kit.ConfigurationError(err)
	}
	// The lister tries again by itself, so that its pace holds for each request.
	client := awsjob.New(cfg, awsjob.WithoutRetries())
	for _, op := range s.entry.ListCalls() { // the error that every call would have
		if err := client.Check(op); err != nil {
			return nil, kit.Usage("%w", err)
		}
	}
	r := kit.StartReading(c.ErrOrStderr(), listedText(0, 0))
	lister := &pastjobs.Lister{
		Entry: s.entry, Input: l.input, Tried: r.ShowTrouble, Progress: func(done, all int) { r.Show(listedText(done, all)) },
		Call: func(ctx context.Context, op *catalog.Operation, input any) (any, error) {
			return kit.AnswerWithin(ctx, kit.CallPatience, func(ctx context.Context) (any, error) { return client.Call(ctx, op, input) })
		},
	}
	past, more, err := lister.Read(c.Context(), o.executions.most)
	r.Close()
	if err != nil {
		return nil, l.problem(c.Context(), err)
	}
	k, err := learn(l.source(), past)
	if err != nil {
		return nil, err
	}
	if more {
		k.notes = append(k.notes, fmt.Sprintf("%s lists more than %s: --most reads more", l.op.Name, kit.Plural(o.executions.most, "job")))
	}
	o.settlePrices(cfg.Region, k)
	return k, nil
}

// listedText says how many of all jobs are described, or how many are listed.
func listedText(done, all int) string {
	if all > 0 {
		return fmt.Sprintf("%d of %s described", done, kit.Plural(all, "job"))
	}
	return kit.Plural(done, "job") + " listed"
}

// listing is the call that lists past jobs, as the command line gives it.
type listing struct {
	service string
	op      *catalog.Operation
	params  kit.Params
	input   map[string]any
}

// newListing prepares the call that lists the past jobs of a subject. It refuses what
// is wrong before any call.
func newListing(s *planSubject, p kit.Params) (*listing, error) {
	e := s.entry
	switch {
	case e == nil:
		return nil, kit.Usage("--from-service needs the service and the name of a job, such as glue StartJobRun")
	case e.Job == nil:
		return nil, kit.Usage("%s is a waiter of a resource: past jobs are listed of jobs alone. Pass --durations FILE", e.FullName())
	case e.Job.List == nil:
		return nil, kit.Usage("%s has no list of past jobs with their times. Pass --durations FILE or --from-executions ARN", e.FullName())
	}
	list := e.Job.List
	l := &listing{service: e.Service.Key, op: e.Service.Operations[list.Operation], params: p}
	input := map[string]any{}
	if err := p.Set(input, l.op.Input); err != nil {
		return nil, kit.Usage("%w", err)
	}
	constants, err := list.Constants()
	if err != nil {
		return nil, err
	}
	for name, value := range constants {
		if _, given := input[name]; !given {
			input[name] = value
		}
	}
	missing := l.op.Missing(input)
	for _, name := range list.Needs {
		if _, given := input[name]; !given {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		command := []string{"jobpoller plan", e.Service.Key, e.Name, "--from-service"}
		command = append(command, quoteAll(p.Spell())...)
		for _, name := range missing {
			command = append(command, "--param", name+"=...")
		}
		return nil, kit.Usage("%s needs %s: %s", l.op.Name, strings.Join(missing, " and "), strings.Join(command, " "))
	}
	call := kit.CallInput{Op: l.op}
	l.input, err = call.Fit(input)
	return l, err
}

// source names the jobs for people.
func (l *listing) source() string {
	return strings.Join(append([]string{l.service + ":" + l.op.Name}, l.params...), " ")
}

// problem is the error of the reading as one of the command.
func (l *listing) problem(ctx context.Context, err error) error {
	if wrong, ok := errors.AsType[*pastjobs.AnswerError](err); ok {
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: unexpected answer: %w", l.service, wrong.Op.Name, wrong.Err))
	}
	failed, ok := errors.AsType[*pastjobs.CallError](err)
	switch {
	case ctx.Err() != nil:
		return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
	case !ok:
		return err
	case errors.Is(err, jobs.ErrArguments):
		return kit.Usage("input of %s: %w", failed.Op.Name, failed.Err)
	case failed.Op == l.op && len(l.params) > 0 && failed.IsRefused(): // most often no such name
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: %s. Check %s, the account and the region",
			l.service, l.op.Name, kit.ErrorText(failed.Err), strings.Join(quoteAll(l.params.Spell()), " ")))
	default:
		return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s:%s: %s", l.service, failed.Op.Name, kit.EndReason(failed.Op.Actions, failed.Err)))
	}
}
