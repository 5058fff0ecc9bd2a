package records

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// newStatusCommand is "jobpoller records status".
func newStatusCommand() *cobra.Command {
	var store storeFlags
	var output string
	c := &cobra.Command{
		Use:   "status EXECUTION_ARN",
		Short: "Show the start records of an execution, their jobs and the next poll",
		Long: `Status CALLS AWS with your credentials, and changes nothing. It shows the
execution, and of each poller in it the start record, what the service says of the
job now, the deadline and the next poll.

Exit codes: 0 found a record, 1 there is none, 2 wrong usage, 4 could not reach the
store.`,
		Example: "  jobpoller records status arn:aws:states:us-east-1:123456789012:execution:Nightly:run-1 --bucket my-records",
		Args:    kit.OneArgument(kit.ExecutionWanted),
		RunE: func(c *cobra.Command, args []string) error {
			return runStatus(c, args[0], store, output)
		},
	}
	store.addTo(c)
	store.addDataTo(c)
	kit.AddOutput(c, &output)
	return c
}

// executionStatus is an execution with its pollers. Its JSON members are a contract:
// see docs/reference/json.md.
type executionStatus struct {
	Execution string         `json:"execution"`
	Status    string         `json:"status,omitempty"`
	Error     string         `json:"error,omitempty"` // why AWS did not say the status
	Pollers   []pollerStatus `json:"pollers"`

	redriven time.Time // zero if it was not
}

// pollerStatus is a record and its job.
type pollerStatus struct {
	listedRecord

	Job             string     `json:"job,omitempty"`
	Now             *jobNow    `json:"now,omitempty"`
	Deadline        *time.Time `json:"deadline,omitempty"`
	NextPollSeconds float64    `json:"nextPollSeconds,omitempty"` // at most

	name string
}

// mostPollers is how many records of an execution are shown: a Map can have many.
const mostPollers = 100

func runStatus(c *cobra.Command, execution string, flags storeFlags, output string) error {
	if err := kit.CheckOutput(output); err != nil {
		return kit.Usage("%w", err)
	}
	if err := checkKey(startrecord.Key{ExecutionARN: execution, Poller: handler.DefaultPoller}); err != nil {
		return err
	}
	store, err := flags.openStore(c.Context())
	if err != nil {
		return err
	}
	defer store.close()
	var found []foundRecord
	more := false
	err = store.list(c.Context(), execution, "", func(f foundRecord) (bool, error) {
		if more = len(found) == mostPollers; !more {
			found = append(found, f)
		}
		return !more, nil
	})
	if err != nil {
		return storeError(c.Context(), err)
	}
	cfg := store.executionAWS(execution)
	s := askExecution(c.Context(), cfg, execution)
	for _, f := range found {
		s.Pollers = append(s.Pollers, s.newPoller(c.Context(), cfg, store, f, time.Now()))
	}
	if output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), s)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), s.text())
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if more {
		terminal.Fprintf(c.ErrOrStderr(), "The execution has more than %d records: jobpoller records list %s%s\n", mostPollers, execution, store.given)
	}
	if len(found) == 0 {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("the execution has no start record in %s under %s: run-job has not begun, or keeps its records elsewhere",
			store.name(), flags.prefix))
	}
	return nil
}

// askExecution asks Step Functions how the execution stands.
func askExecution(ctx context.Context, cfg aws.Config, arn string) executionStatus {
	s := executionStatus{Execution: arn, Pollers: []pollerStatus{}}
	entry, err := catalog.AWS().Lookup("stepfunctions", "StartExecution")
	if err != nil {
		s.Error = err.Error()
		return s
	}
	answer, err := kit.AnswerWithin(ctx, kit.CallPatience, func(ctx context.Context) (any, error) {
		return awsjob.New(cfg).Call(ctx, entry.Operation, map[string]any{"executionArn": arn})
	})
	if err != nil {
		s.Error = kit.EndReason(entry.Operation.Actions, err)
		return s
	}
	members, _ := answer.(map[string]any)
	s.Status, _ = members["status"].(string)
	if text, ok := members["redriveDate"].(string); ok {
		s.redriven, _ = time.Parse(time.RFC3339Nano, text) // of the model, so it is a time
	}
	return s
}

func (e *executionStatus) newPoller(ctx context.Context, cfg aws.Config, store *recordStore, f foundRecord, now time.Time) pollerStatus {
	s := pollerStatus{listedRecord: newListedRecord(store, f), name: nameOfKey(f.key) + store.given}
	if f.err != nil {
		return s
	}
	rec := f.stored.Record
	q, err := requestOf(rec)
	if err != nil {
		s.Error = err.Error()
		return s
	}
	s.Job = q.Job
	if rec.JobRef != nil {
		s.Now = new(askJob(ctx, cfg, rec))
	}
	if rec.Status == startrecord.StatusStarted && q.Waiter != nil {
		since := rec.StartedAt
		if e.redriven.After(since) { // max wait counts anew
			since = e.redriven
		}
		s.Deadline = new(since.Add(time.Duration(q.MaxWaitSeconds) * time.Second))
		s.NextPollSeconds = nextPoll(q, f.key, now.Sub(since)).Seconds()
	}
	return s
}

// nextPoll is how long the next poll can take to come, so long after the start. When
// the last one was, no record says.
func nextPoll(q handler.Request, key startrecord.Key, elapsed time.Duration) time.Duration {
	s := q.Schedule(key)
	if first := s.First(); elapsed < first {
		return first - elapsed
	}
	_, hi := s.Bounds(pollcore.Progress{Elapsed: elapsed})
	return max(0, min(hi, s.Total-elapsed))
}

func (e *executionStatus) text() string {
	var b strings.Builder
	status := e.Status
	if e.Error != "" {
		status = "not known: " + e.Error
	}
	terminal.Fprintf(&b, "%s\n  execution  %s\n", e.Execution, status)
	for _, p := range e.Pollers {
		b.WriteString(p.text())
	}
	return b.String()
}

func (p *pollerStatus) text() string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		terminal.Fprintf(&b, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if p.Record == nil {
		row("record", "cannot be read: %s", p.Error)
		return b.String()
	}
	poller := p.Record.Poller
	if p.Record.Scope != "" {
		poller += ", scope " + p.Record.Scope
	}
	row("poller", "%s", poller)
	written := "just now"
	if age := time.Duration(p.AgeSeconds * float64(time.Second)).Round(time.Second); age > 0 {
		written = kit.ShortDuration(age) + " ago"
	}
	row("record", "%s, written %s, %s", p.Record.Status, written, p.Location)
	if p.Job != "" {
		row("job", "%s %s", p.Job, p.Record.JobRef)
	}
	if p.Now != nil {
		row("now", "%s", p.Now.text())
	}
	if p.Deadline != nil {
		row("deadline", "%s", p.Deadline.Format(time.RFC3339))
		row("next poll", "within %s", kit.ShortDuration(time.Duration(p.NextPollSeconds*float64(time.Second)).Round(time.Second)))
	}
	if p.Record.Status == startrecord.StatusUnknown {
		id := `--ref '{"NAME": "VALUE"}'`
		if _, err := catalog.AWS().Resolve(p.Job); err == nil {
			id = "JOB_ID"
		}
		row("do", "look for the job in the service. It runs: jobpoller records adopt %s %s. It does not: jobpoller records abandon %s", p.name, id, p.name)
	}
	return b.String()
}
