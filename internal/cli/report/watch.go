package report

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// How often a watch asks: soon after something has happened, and less and less often
// while nothing does, so that a quiet day of watching makes some 6,000 calls of the
// 1,728,000 that an account has.
const (
	watchSoonest = 2 * time.Second
	watchLatest  = 15 * time.Second
	// watchRefused is the longest delay while Step Functions throttles.
	watchRefused = time.Minute
)

// NewWatch is "jobpoller watch", the old name of "jobpoller report --follow".
func NewWatch() *cobra.Command {
	o := reportOptions{follow: true}
	c := &cobra.Command{
		Use:     "watch EXECUTION_ARN",
		Short:   "Follow an execution on AWS until it ends",
		Long:    "Watch is the old name of jobpoller report --follow, which has its description.",
		Example: `  jobpoller report "$ARN" --follow --html report.html`,
		Args:    kit.OneArgument(kit.ExecutionWanted),
		RunE:    func(c *cobra.Command, args []string) error { return runReport(c, args[0], o) },
	}
	o.addTo(c)
	return kit.Moved(c, "report --follow")
}

// followExecution returns an execution when it has ended, and shows where it stands until then.
func (o *reportOptions) followExecution(c *cobra.Command, arn string) (*history.Execution, error) {
	record, err := o.record(c.Context(), arn)
	if err != nil {
		return nil, err
	}
	w := &watch{record: record}
	if !o.quiet {
		w.live = kit.NewLive(c.ErrOrStderr(), false, w.standing)
	}
	e, err := w.follow(c.Context())
	w.live.Close()
	switch {
	case errors.Is(err, context.Canceled):
		terminal.Fprintf(c.ErrOrStderr(), "The watch has ended. The execution goes on.\n")
		return nil, &kit.ExitError{Code: kit.ExitInterrupted}
	case err != nil:
		return nil, kit.RecordError(arn, err)
	}
	return e, nil
}

// watch follows an execution.
type watch struct {
	record *stepfunctions.Record
	live   *kit.Live

	mu    sync.Mutex
	now   kit.Standing
	start time.Time
}

// mostDescribed is how often the description of an execution that has ended is asked
// for again.
const mostDescribed = 4

// follow returns the execution when it has ended.
func (w *watch) follow(ctx context.Context) (*history.Execution, error) {
	delay, answered, left := watchSoonest, false, mostDescribed
	var e *history.Execution
	for {
		fresh, err := w.record.Update(ctx)
		if err == nil && (fresh || e != nil) {
			err = w.record.Describe(ctx)
		}
		class := goerror.Classify(callOf(err))
		// A service that never answered is more likely misspelt than down.
		answered = answered || fresh || err == nil || class != awserror.NotSent && class != awserror.Unclear
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil && (!answered || !class.Passes()):
			return nil, err
		}
		if fresh {
			var unread error
			if e, unread = readExecution(w.record); unread != nil {
				return nil, unread
			}
			if !e.HasEnded() {
				w.show(e)
			}
		}
		ended := e != nil && e.HasEnded()
		switch {
		case ended && (err == nil || left == 0):
			return readExecution(w.record) // with what it lacked before
		case ended:
			left--
		}
		switch {
		case err != nil:
			delay = min(2*delay, watchRefused)
			w.tell(kit.ErrorText(callOf(err)) + ", asks again in " + kit.WholeSeconds(delay))
		case fresh:
			delay = watchSoonest
		default:
			delay = min(delay*3/2, watchLatest)
			w.tell("")
		}
		if err := sleep(ctx, delay); err != nil {
			return nil, err
		}
	}
}

// callOf is the error of the call itself.
func callOf(err error) error {
	if call, ok := errors.AsType[*stepfunctions.CallError](err); ok {
		return call.Err
	}
	return err
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// show shows where the execution stands.
func (w *watch) show(e *history.Execution) {
	visits := e.FindVisits()
	s := kit.Standing{Status: e.Status}
	for _, v := range visits.All {
		if v.Open {
			s.Where = v.State
		}
	}
	for _, j := range e.FindJobs(visits) {
		last := &j.Polls[len(j.Polls)-1]
		s.Polls, s.Seen = len(j.Polls), last.Status
		if !j.Deadline.IsZero() {
			s.Limit = j.Deadline.Sub(e.Start).Round(time.Second)
		}
	}
	if e.Machine != nil {
		s.Limit = kit.Sooner(s.Limit, e.Machine)
	}
	w.mu.Lock()
	w.now, w.start = s, e.Start
	w.mu.Unlock()
	w.live.Show(w.standing())
}

// tell shows why there is nothing new, or nothing if all is well.
func (w *watch) tell(message string) {
	w.mu.Lock()
	w.now.Message = message
	if w.now.Status == "" {
		w.now.Status = history.StatusRunning
	}
	w.mu.Unlock()
	w.live.Show(w.standing())
}

// standing is where the execution stands now.
func (w *watch) standing() kit.Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.now
	if !w.start.IsZero() {
		s.Elapsed = max(0, time.Since(w.start))
	}
	return s
}
