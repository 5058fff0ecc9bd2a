package plan

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
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
	kit.CompleteParams(c, func(e *catalog.Entry) *catalog.Shape {
		if e.Job == nil || e.Job.List == nil {
			return nil
		}
		return e.Service.Operations[e.Job.List.Operation].Input
	})
}

// readService reads past jobs from the service.
func (o *planOptions) readService(c *cobra.Command, s *planSubject) (*knowledge, error) {
	r, err := newJobLister(s, o.service.params)
	if err != nil {
		return nil, err
	}
	cfg, err := o.aws.Configuration(c.Context(), false)
	if err != nil {
		return nil, kit.ConfigurationError(err)
	}
	// The lister tries again by itself, so that its pace holds for each request.
	r.client = awsjob.New(cfg, awsjob.WithoutRetries())
	if err := r.check(); err != nil {
		return nil, kit.Usage("%w", err)
	}
	r.live = kit.NewLive(c.ErrOrStderr(), false, r.standing)
	jobs, err := r.read(c.Context(), o.executions.most)
	r.live.Close()
	if err != nil {
		return nil, err
	}
	k, err := learn(r.source(), jobs)
	if err != nil {
		return nil, err
	}
	if r.more {
		k.notes = append(k.notes, fmt.Sprintf("%s lists more than %s: --most reads more", r.list.Operation, kit.Plural(o.executions.most, "job")))
	}
	o.settlePrices(cfg.Region, k)
	return k, nil
}

// newJobLister prepares the calls that list the past jobs of a subject. It refuses what
// is wrong before any call.
func newJobLister(s *planSubject, p kit.Params) (*jobLister, error) {
	e := s.entry
	switch {
	case e == nil:
		return nil, kit.Usage("--from-service needs the service and the name of a job, such as glue StartJobRun")
	case e.Job == nil:
		return nil, kit.Usage("%s is a waiter of a resource: past jobs are listed of jobs alone. Pass --durations FILE", e.FullName())
	case e.Job.List == nil:
		return nil, kit.Usage("%s has no list of past jobs with their times. Pass --durations FILE or --from-executions ARN", e.FullName())
	}
	r := &jobLister{entry: e, list: e.Job.List, op: e.Service.Operations[e.Job.List.Operation], params: p}
	call := kit.CallInput{Op: r.op, Params: p}
	input := map[string]any{}
	if err := p.Set(input, r.op.Input); err != nil {
		return nil, kit.Usage("%w", err)
	}
	constants, err := r.list.Constants()
	if err != nil {
		return nil, err
	}
	for name, value := range constants {
		if _, given := input[name]; !given {
			input[name] = value
		}
	}
	missing := call.Missing(input)
	for _, name := range r.list.Needs {
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
		return nil, kit.Usage("%s needs %s: %s", r.op.Name, strings.Join(missing, " and "), strings.Join(command, " "))
	}
	r.input, err = call.Fit(input)
	return r, err
}

// source names the jobs for people.
func (r *jobLister) source() string {
	words := []string{r.entry.Service.Key + ":" + r.op.Name}
	return strings.Join(append(words, r.params...), " ")
}

// check returns the error that every call would have.
func (r *jobLister) check() error {
	for _, op := range r.entry.ListCalls() {
		if err := r.client.Check(op); err != nil {
			return err
		}
	}
	return nil
}
