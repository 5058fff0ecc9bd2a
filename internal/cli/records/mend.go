package records

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/wait"
	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// mendOptions are the flags of "jobpoller records adopt" and "abandon".
type mendOptions struct {
	key    keyFlags
	params kit.Params
	ref    string
	yes    bool
}

func newAdoptCommand() *cobra.Command {
	var o mendOptions
	c := &cobra.Command{
		Use:   "adopt EXECUTION_ARN [JOB_ID]",
		Short: "Write into an UNKNOWN record which job it started",
		Long: `Adopt is for a start whose outcome is not known, when you have found its job. It
writes the job into the record. Then redrive the execution: it goes on with the job.

JOB_ID is the ID as "jobpoller wait" takes it, with --param NAME=VALUE for what the
describe call needs besides. A job that the catalogue does not have needs --ref: its
reference as JSON (docs/reference/jobs.md).

Adopt describes the job first, and shows what it found. It asks on the terminal
before it writes, unless you pass --yes, and writes only if the record is as it was.

Exit codes: 0 written, 1 not written, 2 wrong usage, 4 could not reach the store.`,
		Example: `  jobpoller records adopt arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 jr_0123 --param JobName=nightly --bucket my-records
  jobpoller records adopt arn:aws:states:us-east-1:123456789012:execution:Nightly:run-2 --ref '{"FunctionName": "export"}' --table records --yes`,
		Args: kit.SomeArguments(1, 2, kit.ExecutionWanted+", and a job's ID"), //nolint:mnd // EXECUTION_ARN JOB_ID
		RunE: func(c *cobra.Command, args []string) error { return runAdopt(c, args, o) },
	}
	o.key.addTo(c)
	kit.AddParams(c.Flags(), &o.params, "describe")
	c.Flags().StringVar(&o.ref, "ref", "", "`JSON` of the job's reference, for a job that the catalogue does not have")
	c.Flags().BoolVar(&o.yes, "yes", false, "write without asking")
	kit.CompleteNothing(c, "param", "ref")
	return c
}

func runAdopt(c *cobra.Command, args []string, o mendOptions) error {
	if err := o.checkAsking(c); err != nil {
		return err
	}
	if (len(args) == 2) == (o.ref != "") { //nolint:mnd // EXECUTION_ARN JOB_ID
		return kit.Usage("adopt needs either the job's ID or --ref, such as: jobpoller records adopt %s ID", args[0])
	}
	store, found, err := o.key.load(c, args[0])
	if err != nil {
		return err
	}
	defer store.close()
	if err := checkMendable(store, found); err != nil {
		return err
	}
	rec := found.stored.Record
	q, err := requestOf(rec)
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	ref, err := o.readRef(q.Job, args)
	if err != nil {
		return err
	}
	if rec.JobRef, err = json.Marshal(ref); err != nil {
		return err
	}
	terminal.Fprintf(c.ErrOrStderr(), "%s\n  record    %s\n  job       %s %s\n", nameOfKey(found.key), rec.Status, q.Job, rec.JobRef)
	now := askJob(c.Context(), store.executionAWS(args[0]), rec)
	terminal.Fprintf(c.ErrOrStderr(), "  now       %s\n", now.text())
	if now.missing {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("the service does not know this job: nothing was written"))
	}
	rec.Status, rec.LeaseSeconds = startrecord.StatusStarted, 0
	return o.write(c, store, found, rec, "Adopt this job?",
		"The record has the job. Go on with the execution: aws stepfunctions redrive-execution --execution-arn "+args[0])
}

// readRef makes the reference of a job, in the spelling of the functions' drivers.
func (o *mendOptions) readRef(job string, args []string) (jobs.Ref, error) {
	if o.ref != "" {
		var ref jobs.Ref
		if err := json.Unmarshal([]byte(o.ref), &ref); err != nil || len(ref) == 0 {
			return nil, kit.Usage(`--ref: expected a JSON object of strings, such as '{"RunId": "jr_0123"}', found %q`, o.ref)
		}
		return ref, nil
	}
	if len(args) > 1 && args[1] == kit.Stdin {
		return nil, kit.Usage("adopt takes the ID of one job, and asks on standard input: pass the ID instead of -")
	}
	named, err := catalog.AWS().Resolve(job)
	if err != nil {
		return nil, kit.Usage("the catalogue does not have the job %q of this record: pass --ref with its reference instead of an ID", job)
	}
	s := wait.Subject{Entry: named.Entry, IDs: args[1:], Params: o.params}
	targets, err := s.Targets(nil)
	if err != nil {
		return nil, err
	}
	ref := jobs.Ref{}
	for name, value := range targets[0].Input.(map[string]any) { //nolint:forcetypeassert // the input of a call
		text, ok := value.(string)
		if !ok {
			spelled, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			text = string(spelled)
		}
		ref[javasdk.MemberName(name)] = text
	}
	return ref, nil
}

func newAbandonCommand() *cobra.Command {
	var o mendOptions
	c := &cobra.Command{
		Use:   "abandon EXECUTION_ARN",
		Short: "Let an UNKNOWN start be made again",
		Long: `Abandon is for a start whose outcome is not known, when you are sure that its job
does not run: you looked for it and found none, or stopped it. It marks the record
as refused. A redrive of the execution then starts the job again; without one, the
wait has failed and nothing more happens.

If the job does run, the redrive starts a second one. Abandon asks on the terminal
before it writes, unless you pass --yes, and writes only if the record is as it was.

Exit codes: 0 written, 1 not written, 2 wrong usage, 4 could not reach the store.`,
		Example: "  jobpoller records abandon arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 --bucket my-records",
		Args:    kit.OneArgument(kit.ExecutionWanted),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.checkAsking(c); err != nil {
				return err
			}
			store, found, err := o.key.load(c, args[0])
			if err != nil {
				return err
			}
			defer store.close()
			if err := checkMendable(store, found); err != nil {
				return err
			}
			rec := found.stored.Record
			terminal.Fprintf(c.ErrOrStderr(), "%s\n  record    %s, the start was at %s\n", nameOfKey(found.key), rec.Status, rec.StartedAt.Format(time.RFC3339))
			rec.Status, rec.LeaseSeconds = startrecord.StatusFailed, 0
			return o.write(c, store, found, rec, "Is it certain that the job does not run?",
				"The record is marked as refused. To start the job again: aws stepfunctions redrive-execution --execution-arn "+args[0])
		},
	}
	o.key.addTo(c)
	c.Flags().BoolVar(&o.yes, "yes", false, "write without asking")
	return c
}

// checkAsking refuses to ask where nobody is: a program that answers does not look.
func (o *mendOptions) checkAsking(c *cobra.Command) error {
	asked, ok := c.InOrStdin().(interface{ IsTerminal() bool })
	if o.yes || ok && asked.IsTerminal() {
		return nil
	}
	return kit.Usage("%s asks before it writes, and standard input is not a terminal: pass --yes to write without asking", c.CommandPath())
}

// checkMendable refuses records whose start is clear, or still going on.
func checkMendable(store *recordStore, f foundRecord) error {
	rec := f.stored.Record
	lease := time.Duration(rec.LeaseSeconds+1) * time.Second
	switch {
	case rec.MovedTo != "":
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("the record has moved to %s: pass --bucket or --table of that place", rec.MovedTo))
	case rec.JobRef != nil:
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("%s has a job already (%s): there is nothing to settle", store.Location(f.key), rec.JobRef))
	case rec.Status == startrecord.StatusStarting && f.stored.Age <= lease:
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("a function may be starting the job right now: try again in %s",
			kit.ShortDuration(lease-f.stored.Age+time.Second)))
	case rec.Status != startrecord.StatusUnknown && rec.Status != startrecord.StatusStarting:
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("%s has the status %s: only UNKNOWN records, and STARTING ones whose function has died, can be settled",
			store.Location(f.key), rec.Status))
	default:
		return nil
	}
}

// write asks, and writes the record if it is as it was.
func (o *mendOptions) write(c *cobra.Command, store *recordStore, f foundRecord, rec startrecord.Record, question, done string) error {
	if !o.yes {
		terminal.Fprintf(c.ErrOrStderr(), "%s Type yes: ", question)
		line, _ := bufio.NewReader(c.InOrStdin()).ReadString('\n') // what was typed counts
		if c.Context().Err() != nil {
			return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted: nothing was written"))
		}
		if text := strings.ToLower(strings.TrimSpace(line)); text != "yes" && text != "y" {
			return kit.WithCode(kit.ExitFailed, errors.New("nothing was written"))
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), wait.StopTimeout)
	defer cancel()
	_, err := store.Replace(ctx, f.key, rec, f.stored.Version)
	if errors.Is(err, startrecord.ErrChanged) {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("nothing was written: somebody has changed the record meanwhile. "+
			"Look again: jobpoller records show %s%s", nameOfKey(f.key), store.given))
	}
	if err != nil {
		return storeError(ctx, err)
	}
	terminal.Fprintf(c.OutOrStdout(), "%s\n", done)
	return nil
}
