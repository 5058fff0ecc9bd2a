package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// serviceOptions are the flags of plan about the service's own list of past jobs.
type serviceOptions struct {
	from   bool
	params params
}

// addService adds the flags.
func (o *planOptions) addService(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.service.from, "from-service", false, "read the times of past jobs from the service's own list")
	addParams(f, &o.service.params, "list")
	completeParams(c, func(e *catalog.Entry) *catalog.Shape {
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
	cfg, err := o.aws.configuration(c.Context(), false)
	if err != nil {
		return nil, configurationError(err)
	}
	// The lister tries again by itself, so that its pace holds for each request.
	r.client = awsjob.New(cfg, awsjob.WithoutRetries())
	if err := r.check(); err != nil {
		return nil, usage("%w", err)
	}
	r.live = newLive(c.ErrOrStderr(), false, r.standing)
	jobs, err := r.read(c.Context(), o.executions.most)
	r.live.close()
	if err != nil {
		return nil, err
	}
	k, err := learn(r.source(), jobs)
	if err != nil {
		return nil, err
	}
	if r.more {
		k.notes = append(k.notes, fmt.Sprintf("%s lists more than %s: --most reads more", r.list.Operation, plural(o.executions.most, "job")))
	}
	o.settlePrices(cfg.Region, k)
	return k, nil
}

// newJobLister prepares the calls that list the past jobs of a subject. It refuses what
// is wrong before any call.
func newJobLister(s *planSubject, p params) (*jobLister, error) {
	e := s.entry
	switch {
	case e == nil:
		return nil, usage("--from-service needs the service and the name of a job, such as glue StartJobRun")
	case e.Job == nil:
		return nil, usage("%s is a waiter of a resource: past jobs are listed of jobs alone. Pass --durations FILE", e.FullName())
	case e.Job.List == nil:
		return nil, usage("%s has no list of past jobs with their times. Pass --durations FILE or --from-executions ARN", e.FullName())
	}
	r := &jobLister{entry: e, list: e.Job.List, op: e.Service.Operations[e.Job.List.Operation], params: p}
	call := callInput{op: r.op, params: p}
	input := map[string]any{}
	if err := p.set(input, r.op.Input); err != nil {
		return nil, usage("%w", err)
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
	missing := call.missing(input)
	for _, name := range r.list.Needs {
		if _, given := input[name]; !given {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		command := []string{"jobpoller plan", e.Service.Key, e.Name, "--from-service"}
		command = append(command, quoteAll(p.spell())...)
		for _, name := range missing {
			command = append(command, "--param", name+"=...")
		}
		return nil, usage("%s needs %s: %s", r.op.Name, strings.Join(missing, " and "), strings.Join(command, " "))
	}
	r.input, err = call.fit(input)
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
