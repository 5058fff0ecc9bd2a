package plan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
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
	client, err := o.aws.StepFunctions(ctx, o.origin().Region)
	if err != nil {
		return nil, err
	}
	o.executions.client = client.Client
	return client.Client, nil
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
	r := kit.StartReading(c.ErrOrStderr(), "the state machine")
	client.Tried = r.ShowTrouble
	deployed, err := client.Definition(c.Context(), o.origin())
	r.Close()
	if refused, ok := errors.AsType[*stepfunctions.CallError](err); ok && awserror.IsPermissionCode(kit.NewCallError(refused.Err).Code) {
		return unknown(kit.EndReason([]string{refused.Action}, refused.Err)), nil
	} else if err != nil {
		return nil, o.callProblem(c.Context(), err)
	}
	m, err := asl.Parse([]byte(deployed.Definition))
	if err != nil {
		return unknown("the definition at AWS: " + err.Error()), nil //nolint:nilerr // a note says it
	}
	if deployed.Type == asl.Express {
		return nil, o.refuseExpress()
	}
	d := &source.Definition{File: o.origin().String(), Text: []byte(deployed.Definition), Type: deployed.Type}
	s, err := o.findLoop(c, o.origin().String(), &source.Machine{StateMachine: m, Definition: d})
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

// openKept opens the file of --keep, or creates it, and reads what it has. Without a name
// there is no file.
func (o *planOptions) openKept() (file *os.File, kept *pastjobs.Kept, err error) {
	name := o.executions.keep
	if name != "" {
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, nil, kit.Usage("--keep: %s is not a regular file: pass another one", name)
		}
		const mode = 0o600
		if file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, mode); err != nil { //nolint:gosec // the user names it
			return nil, nil, kit.Usage("--keep: %w", err)
		}
	}
	if kept, err = pastjobs.OpenKept(file, o.origin()); err != nil {
		return nil, nil, errors.Join(kit.Usage("--keep %s: %w", name, err), file.Close())
	}
	return file, kept, nil
}

// readExecutions reads the histories of the executions that have ended.
func (o *planOptions) readExecutions(c *cobra.Command, _ *planSubject) (k *knowledge, err error) {
	client, err := o.connect(c.Context())
	if err != nil {
		return nil, err
	}
	file, kept, err := o.openKept()
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	of := o.origin()
	r := kit.StartReading(c.ErrOrStderr(), "the list of executions")
	client.Tried = r.ShowTrouble
	jobs := &pastjobs.Jobs{Only: o.only}
	var done, all int
	h := &pastjobs.Histories{
		Client: client, Origin: of, Kept: kept, After: firstStart(o.executions.planned),
		Wanted: func(arn string) bool {
			_, known := o.executions.planned[arn]
			if known {
				jobs.Leave("of executions in the file of --earlier")
			}
			return !known
		},
		Progress: func(n, of int) {
			done, all = n, of
			r.Count(n, of, "history", client.PaceOf("GetExecutionHistory", of-n, o.origin().Region))
		},
	}
	err = h.Read(c.Context(), jobs, o.executions.most)
	r.Close()
	if err != nil {
		return nil, o.historyProblem(c.Context(), err, done, all)
	}
	k, err = learn(of.String(), jobs)
	if err == nil {
		o.settlePrices(of.Region, k)
		k.notes = append(k.notes, o.severalTasks(jobs)...)
	}
	return k, err
}

// historyProblem is the error of the reading: what was read before, and how to go on.
func (o *planOptions) historyProblem(ctx context.Context, err error, done, all int) error {
	if errors.Is(err, pastjobs.ErrTooMany) {
		return kit.Usage("%s: %w", o.origin(), err)
	}
	if unkept, ok := errors.AsType[*pastjobs.KeepError](err); ok {
		err = kit.WithCode(kit.ExitFailed, terminal.Errorf("--keep %s: %w", o.executions.keep, unkept.Err))
	} else {
		err = o.callProblem(ctx, err)
	}
	coded, ok := errors.AsType[*kit.ExitError](err)
	if !ok || coded.Err == nil || all < 2 { //nolint:mnd // there is nothing to go on with
		return err
	}
	rest := terminal.Sprintf("They are kept in %s: run the same command to go on", o.executions.keep)
	if o.executions.keep == "" {
		rest = "Nothing is kept: with --keep FILE the next command goes on"
	}
	return kit.WithCode(coded.Code, terminal.Errorf("%w\nRead %d of %s. %s", coded.Err, done, kit.Plural(all, "history"), terminal.Lines(rest)))
}

// severalTasks tells if the jobs are of several Tasks.
func (o *planOptions) severalTasks(jobs *pastjobs.Jobs) []string {
	if names := slices.Sorted(maps.Keys(jobs.Tasks)); o.only == "" && len(names) > 1 {
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
