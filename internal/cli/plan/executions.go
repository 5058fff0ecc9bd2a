package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// executionOptions are the flags of plan about past executions.
type executionOptions struct {
	arn  string
	most int
	keep string

	// planned are the starts of the executions, by their ARNs, that a schedule was planned
	// for: it is checked by the jobs of others, which did not start before them.
	planned map[string]time.Time

	client *stepfunctions.Client // nil before the first call
}

// How many executions, or jobs of a list, plan reads.
const (
	defaultExecutions = 1000
	mostExecutions    = 100_000
)

// addExecutions adds the flags.
func (o *planOptions) addExecutions(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.executions.arn, "from-executions", "", "`ARN` of a state machine, version, alias, Map Run or execution: read the histories of past executions")
	f.IntVar(&o.executions.most, "most", defaultExecutions, "read the newest executions, or the first jobs that --from-service lists: so many at most")
	f.StringVar(&o.executions.keep, "keep", "", "`FILE` that keeps what each execution says, to read only the executions that it lacks")
	kit.CompleteNothing(c, "from-executions", "most")
}

// origin reads the ARN.
func (o *planOptions) origin() *stepfunctions.Origin {
	of, _ := stepfunctions.ParseOrigin(o.executions.arn) // validate has refused others
	return of
}

func (o *planOptions) executionSource() durationSource {
	s := durationSource{flag: "from-executions", value: o.executions.arn, read: o.readExecutions}
	if of := o.origin(); of != nil {
		s.region = of.Region
	}
	if o.executions.keep != "" {
		s.more = append(s.more, "--keep", o.executions.keep)
	}
	s.more = append(s.more, o.executions.spellMost()...)
	return s
}

// spellMost writes --most as a shell reads it.
func (e *executionOptions) spellMost() []string {
	if e.most == defaultExecutions {
		return nil
	}
	return []string{"--most", strconv.Itoa(e.most)}
}

// executionProblems says what is wrong with the flags.
func (o *planOptions) executionProblems() (problems []error) {
	e := &o.executions
	if e.arn == "" {
		if e.keep != "" {
			problems = append(problems, errors.New("--keep needs --from-executions"))
		}
		return problems
	}
	if _, err := stepfunctions.ParseOrigin(e.arn); err != nil {
		problems = append(problems, fmt.Errorf("--from-executions: %w", err))
	}
	if err := kit.CheckOutputs([]kit.OutputFile{{Flag: "keep", Name: e.keep}}, o.schedule, o.earlier); err != nil {
		problems = append(problems, err)
	}
	return problems
}

// connect returns the client of Step Functions. It calls nothing.
func (o *planOptions) connect(ctx context.Context) (*stepfunctions.Client, error) {
	if o.executions.client != nil {
		return o.executions.client, nil
	}
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	flags := o.aws
	flags.Region = o.origin().Region
	cfg, err := flags.Configuration(ctx, false)
	if err != nil {
		return nil, kit.ConfigurationError(err)
	}
	// The client tries again by itself, so that each request counts for its pace.
	o.executions.client = stepfunctions.New(service, awsjob.New(cfg, awsjob.WithoutRetries()).Call)
	return o.executions.client, nil
}

// describeLoop finds today's loop in the definition of the state machine itself.
func (o *planOptions) describeLoop(c *cobra.Command) (*planSubject, error) {
	if o.check {
		return &planSubject{}, nil // today's schedule does not count
	}
	client, err := o.connect(c.Context())
	if err != nil {
		return nil, err
	}
	unknown := func(why string) *planSubject {
		return &planSubject{notes: []string{"today's schedule is not shown: " + why}}
	}
	r := o.startReading(c, client)
	text, as, err := client.Definition(c.Context(), o.origin())
	r.live.Close()
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok && awserror.IsPermissionCode(kit.NewCallError(refused.Err).Code) {
		return unknown(kit.EndReason([]string{refused.Action}, refused.Err)), nil
	} else if err != nil {
		return nil, o.callProblem(c.Context(), err)
	}
	m, err := asl.Parse(text)
	if err != nil {
		return unknown("the definition at AWS: " + err.Error()), nil //nolint:nilerr // a note says it
	}
	if as == asl.Express {
		return nil, o.refuseExpress()
	}
	s, err := o.findLoop(c, o.origin().String(), &source.Machine{StateMachine: m, Definition: &source.Definition{File: o.origin().String(), Text: text, Type: as}})
	if none, ok := errors.AsType[*noLoopError](err); ok {
		return unknown("the state machine " + none.Error()), nil
	}
	return s, err
}

func (o *planOptions) refuseExpress() error {
	return kit.Usage("%s: Step Functions keeps no history of Express executions. Pass the file of their log: --durations FILE", o.executions.arn)
}

// callProblem is the error of a call.
func (o *planOptions) callProblem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
	}
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok {
		switch kit.NewCallError(refused.Err).Code {
		case "StateMachineTypeNotSupported":
			return o.refuseExpress()
		case "StateMachineDoesNotExist", "ResourceNotFound":
			return kit.WithCode(kit.ExitUnknown, terminal.Errorf("%s: there is no such state machine or Map Run: check the account and the region", o.executions.arn))
		}
	}
	return kit.RecordError(o.executions.arn, err)
}

// readExecutions reads the histories of the executions that have ended.
func (o *planOptions) readExecutions(c *cobra.Command, _ *planSubject) (k *knowledge, err error) {
	client, err := o.connect(c.Context())
	if err != nil {
		return nil, err
	}
	of := o.origin()
	kept, err := openKept(o.executions.keep, of)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	r := o.startReading(c, client)
	r.kept = kept
	jobs, err := r.read(c.Context(), o)
	r.live.Close()
	if err != nil {
		return nil, err
	}
	k, err = learn(of.String(), jobs)
	if err == nil {
		o.settlePrices(of.Region, k)
		k.notes = append(k.notes, r.notes(o.only)...)
	}
	return k, err
}

// executionReader reads histories, each once.
type executionReader struct {
	client *stepfunctions.Client
	of     *stepfunctions.Origin
	kept   *keptFile
	start  time.Time
	states map[string]bool // the Tasks that polled
	live   *kit.Live

	mu         sync.Mutex
	what       string // is read, before the histories
	done, all  int    // histories; all is 0 before they are listed
	left, last time.Duration
	trouble    string // of the last call
}

// startReading shows what the calls of the client read, until the caller closes live.
func (o *planOptions) startReading(c *cobra.Command, client *stepfunctions.Client) *executionReader {
	r := &executionReader{client: client, of: o.origin(), start: time.Now(), what: "the state machine"}
	r.live = kit.NewLive(c.ErrOrStderr(), false, r.standing)
	client.Tried = r.showTrouble
	return r
}

// showTrouble shows the error of a call, after which minutes can pass.
func (r *executionReader) showTrouble(err error) {
	trouble := ""
	if err != nil {
		trouble = kit.NewCallError(err).Code
	}
	r.mu.Lock()
	r.trouble = trouble
	r.mu.Unlock()
	if trouble != "" {
		r.live.Show(r.standing())
	}
}

// read returns the jobs.
func (r *executionReader) read(ctx context.Context, o *planOptions) (*pastJobs, error) {
	r.mu.Lock()
	r.what = "the list of executions"
	r.mu.Unlock()
	jobs, done := &pastJobs{only: o.only}, 0
	ended, err := r.client.ListEnded(ctx, r.of, o.executions.most, firstStart(o.executions.planned), func(arn string) bool {
		_, known := o.executions.planned[arn]
		if known {
			jobs.leave("of executions in the file of --earlier")
		}
		return !known
	})
	if err != nil {
		return nil, o.callProblem(ctx, err)
	}
	unread := 0
	for _, e := range ended {
		if r.kept.find(e) == nil {
			unread++
		}
	}
	r.show(0, unread)
	r.states = map[string]bool{}
	for _, e := range ended {
		k := r.kept.find(e)
		if k == nil {
			if k, err = r.readOne(ctx, o, e, jobs); err != nil {
				return nil, r.breakOff(err)
			}
			done++
			r.show(done, unread)
		}
		if k == nil {
			continue
		}
		for _, j := range k.Jobs {
			r.states[j.State] = true
		}
		if err := k.addTo(jobs); err != nil {
			return nil, kit.Usage("%s: %w", r.of, err)
		}
	}
	return jobs, nil
}

// readOne reads the history of an execution, and keeps what it says if the execution has
// ended. A redrive can follow.
// It returns nil if the history says nothing now.
func (r *executionReader) readOne(ctx context.Context, o *planOptions, listed stepfunctions.Ended, jobs *pastJobs) (*keptExecution, error) {
	e, err := r.client.History(ctx, listed.ARN)
	refused, isCall := errors.AsType[*stepfunctions.CallError](err)
	switch {
	case err == nil:
	case listed.ARN == o.executions.arn || ctx.Err() != nil:
		return nil, o.callProblem(ctx, err)
	case errors.Is(err, stepfunctions.ErrAnswer):
		jobs.leave("of executions whose history cannot be read")
		return nil, nil //nolint:nilnil // as said
	case isCall && kit.NewCallError(refused.Err).Code == "ExecutionDoesNotExist":
		jobs.leave("of executions that Step Functions no longer keeps")
		return nil, nil //nolint:nilnil // as said
	default:
		return nil, o.callProblem(ctx, err)
	}
	k := newKeptExecution(listed, e)
	if !e.HasEnded() {
		return k, nil
	}
	return k, r.kept.add(k)
}

// breakOff tells of an error what was read before, and how to go on.
func (r *executionReader) breakOff(err error) error {
	coded, ok := errors.AsType[*kit.ExitError](err)
	if !ok || coded.Err == nil || r.all < 2 { //nolint:mnd // there is nothing to go on with
		return err
	}
	what := fmt.Sprintf("Read %d of %s.", r.done, kit.Plural(r.all, "history"))
	if r.kept.out != nil {
		return kit.WithCode(coded.Code, terminal.Errorf("%w\n%s They are kept in %s: run the same command to go on", coded.Err, terminal.Lines(what), r.kept.name))
	}
	return kit.WithCode(coded.Code, terminal.Errorf("%w\n%s Nothing is kept: with --keep FILE the next command goes on", coded.Err, terminal.Lines(what)))
}

// show notes how many histories are read.
func (r *executionReader) show(done, all int) {
	took := time.Since(r.start)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.all, r.last = done, all, took
	r.left = r.client.PaceOf(all-done, r.of.Region)
	if done > 0 {
		r.left = max(r.left, took/time.Duration(done)*time.Duration(all-done))
	}
}

// standing is where the reading stands.
func (r *executionReader) standing() kit.Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := kit.Standing{Status: "READING", Elapsed: time.Since(r.start), Message: r.what}
	if r.all > 0 {
		s.Message = fmt.Sprintf("%d of %s", r.done, kit.Plural(r.all, "history"))
		if left := r.left - (s.Elapsed - r.last); left >= time.Second {
			s.Message += ", " + kit.WholeSeconds(left) + " left"
		}
	}
	if s.Seen = r.trouble; r.trouble != "" {
		s.Message += "  last answer: " + r.trouble
	}
	return s
}

// notes tell if the jobs are of several Tasks.
func (r *executionReader) notes(only string) []string {
	if names := slices.Sorted(maps.Keys(r.states)); only == "" && len(names) > 1 {
		return []string{"the jobs are of several Tasks: plan for one with --only: " + strings.Join(names, ", ")}
	}
	return nil
}

// firstStart is the first of the starts that are known.
func firstStart(starts map[string]time.Time) (first time.Time) {
	for _, start := range starts {
		if first.IsZero() || !start.IsZero() && start.Before(first) {
			first = start
		}
	}
	return first
}
