package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/deployed"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// account reads the state machines of an account, a region after the other.
type account struct {
	options *options
	command *cobra.Command
	kept    *deployed.Kept // nil without --keep
	show    *kit.Reading

	deleted  int
	old      int // of the file that keeps
	unread   []deployed.Unread
	problems []error // of regions that were not read to their end
	listed   map[string]bool
}

// sweepAccount calls found with each definition. What could be read is found beside an
// error.
func sweepAccount(c *cobra.Command, o *options, found func(*source.Definition) error) (a *account, err error) {
	a = &account{options: o, command: c, listed: map[string]bool{}}
	defer func() { // behind the live line
		if a.kept != nil {
			err = errors.Join(err, a.kept.Close())
			a.tellAge()
		}
	}()
	a.show = kit.StartReading(c.ErrOrStderr(), "the list of state machines")
	defer a.show.Close()
	regions := slices.Clone(o.regions)
	if len(regions) == 0 {
		regions = []string{""} // the configured one
	}
	slices.Sort(regions)
	for _, region := range slices.Compact(regions) {
		if err := a.sweep(c.Context(), region, found); err != nil {
			return a, err
		}
	}
	if a.kept != nil { // a region that refuses its list does so again
		return a, a.keepProblem(a.kept.Finish())
	}
	return a, nil
}

// tellAge says how old the definitions are that the file has kept.
func (a *account) tellAge() {
	if a.old == 0 {
		return
	}
	age := max(time.Since(a.kept.Began).Round(time.Minute), time.Minute)
	terminal.Fprintf(a.command.ErrOrStderr(), "lint took %s from %s, as AWS had them up to %s ago: a command before read them\n",
		kit.Plural(a.old, "definition"), terminal.Quote(a.options.keep), kit.ShortDuration(age))
}

// sweep reads the state machines of a region. Where its list is refused the next region is
// read; every other error ends the command.
func (a *account) sweep(ctx context.Context, region string, found func(*source.Definition) error) error {
	client, err := a.options.aws.StepFunctions(ctx, region)
	if err != nil {
		return err
	}
	if a.options.keep != "" && a.kept == nil {
		if a.kept, err = deployed.OpenKept(a.options.keep, client.URL); err != nil {
			return kit.Usage("--keep: %w", err)
		}
	}
	client.Tried = a.show.ShowTrouble
	s := deployed.Sweep{Client: client.Client, Region: client.Region, Kept: a.kept, Progress: func(read, of int) {
		a.show.Count(read, of, "state machine", client.PaceOf("DescribeStateMachine", of-read, client.Region))
	}}
	var unchecked error
	swept, err := s.Run(ctx, func(d *source.Deployed) error {
		unchecked = found(d.Definition())
		return unchecked
	})
	if swept != nil {
		a.deleted += swept.Deleted
		a.old += swept.Kept
		a.unread = append(a.unread, swept.Unread...)
		for _, arn := range swept.ARNs {
			a.listed[arn] = true
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case unchecked != nil:
		return unchecked
	case awserror.IsPermissionCode(kit.NewCallError(err).Code):
		a.problems = append(a.problems, fmt.Errorf("%s: %s", client.Region, kit.DeployedReason(err)))
		return nil
	}
	if _, unkept := errors.AsType[*deployed.KeepError](err); unkept {
		return a.keepProblem(err)
	}
	return kit.WithCode(kit.ExitUnknown, fmt.Errorf("%s: %s%s", client.Region, kit.DeployedReason(err), a.adviseKeep(err)))
}

// adviseKeep says how a later command goes on behind an error; empty where it would meet the
// same one, such as that of a region that there is not.
func (a *account) adviseKeep(err error) string {
	code := kit.NewCallError(err).Code
	switch {
	case code == "" && len(a.listed) == 0, !goerror.Passes(err) && !awserror.IsCredentialsCode(code):
		return ""
	case a.kept != nil:
		return ". The same command goes on from here"
	default:
		return ". With --keep FILE the next command goes on from there"
	}
}

// keepProblem is the error of a file that cannot keep more; nil of none.
func (a *account) keepProblem(err error) error {
	if err == nil {
		return nil
	}
	return kit.WithCode(kit.ExitFailed, terminal.Errorf("--keep %s: %w", a.options.keep, err))
}

// incomplete says which machines were not read, and what to do; nil if all were.
func (a *account) incomplete() error {
	problems := slices.Clone(a.problems)
	byAdvice := map[string][]deployed.Unread{}
	var advices []string
	for _, u := range a.unread {
		advice := cmp.Or(kit.AdviseDeployed(u.Err), kit.NewCallError(u.Err).Code)
		if byAdvice[advice] == nil {
			advices = append(advices, advice)
		}
		byAdvice[advice] = append(byAdvice[advice], u)
	}
	for _, advice := range advices {
		all := byAdvice[advice]
		what := terminal.Quote(all[0].ARN)
		if len(all) > 1 {
			what = fmt.Sprintf("%s, such as %s", kit.Plural(len(all), "state machine"), what)
		}
		problems = append(problems, fmt.Errorf("not read: %s: %s", what, kit.DeployedReason(all[0].Err)))
	}
	if len(problems) == 0 {
		return nil
	}
	return kit.WithCode(kit.ExitUnknown, errors.Join(problems...))
}

// tellPassed says how many state machines are gone.
func (a *account) tellPassed() string {
	if a.deleted == 0 {
		return ""
	}
	return fmt.Sprintf("; passed over %s, deleted meanwhile", kit.Plural(a.deleted, "state machine"))
}

// isGone tells whether an ARN is of a region that was read to its end, and no state
// machine there has it any more.
func (a *account) isGone(arn string) bool {
	if a.listed[arn] || len(a.problems) > 0 {
		return false
	}
	region := func(arn string) string {
		parts := strings.SplitN(arn, ":", 7) //nolint:mnd // arn:PARTITION:states:REGION:ACCOUNT:stateMachine:NAME
		return strings.Join(parts[:min(len(parts), 6)], ":")
	}
	for other := range a.listed {
		if region(other) == region(arn) {
			return true
		}
	}
	return false
}

// lintAccount lints the state machines of the account.
func lintAccount(c *cobra.Command, o options) (l *linted, unread error) {
	l = &linted{found: []Finding{}, has: map[string]bool{}, homes: readHomes{}, thing: "state machine"}
	a, err := sweepAccount(c, &o, func(d *source.Definition) error {
		findings, _, err := checkDefinition(c.Context(), d, o)
		if l.found = append(l.found, findings...); err == nil {
			l.readDefinition(d, nil)
		}
		return err
	})
	l.passedText, l.isGone = a.tellPassed(), a.isGone
	if err == nil {
		err = a.incomplete()
	}
	return l, err
}
