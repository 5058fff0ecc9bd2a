package pastjobs

import (
	"context"
	"errors"
	"time"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// Histories reads past jobs from the histories of executions, each once.
type Histories struct {
	Client *stepfunctions.Client
	Origin *stepfunctions.Origin
	Kept   *Kept
	// After is when the executions that count started, at the earliest; Wanted tells of
	// each whether it counts.
	After  time.Time
	Wanted func(arn string) bool
	// Progress is told how many of all histories are read.
	Progress func(done, all int)
}

// Read adds the jobs of so many executions at most. Its error is one of the client, a
// *KeepError, or ErrTooMany.
func (h *Histories) Read(ctx context.Context, jobs *Jobs, most int) error {
	ended, err := h.Client.ListEnded(ctx, h.Origin, most, h.After, h.Wanted)
	if err != nil {
		return err
	}
	unread := 0
	for _, e := range ended {
		if h.Kept.find(e) == nil {
			unread++
		}
	}
	done := 0
	h.Progress(done, unread)
	for _, e := range ended {
		k := h.Kept.find(e)
		if k == nil {
			if k, err = h.readOne(ctx, e, jobs); err != nil {
				return err
			}
			done++
			h.Progress(done, unread)
		}
		if k == nil {
			continue
		}
		if err := k.addTo(jobs); err != nil {
			return err
		}
	}
	return nil
}

// readOne reads the history of an execution, and keeps what it says if the execution has
// ended. A redrive can follow.
// It returns nil if the history says nothing now.
func (h *Histories) readOne(ctx context.Context, listed stepfunctions.Ended, jobs *Jobs) (*KeptExecution, error) {
	e, err := h.Client.History(ctx, listed.ARN)
	switch {
	case err == nil:
	case listed.ARN == h.Origin.ARN || ctx.Err() != nil:
		return nil, err
	case errors.Is(err, stepfunctions.ErrAnswer):
		jobs.Leave("of executions whose history cannot be read")
		return nil, nil //nolint:nilnil // as said
	case goerror.Code(err) == "ExecutionDoesNotExist":
		jobs.Leave("of executions that Step Functions no longer keeps")
		return nil, nil //nolint:nilnil // as said
	default:
		return nil, err
	}
	k := newKeptExecution(listed, e)
	if !e.HasEnded() {
		return k, nil
	}
	return k, h.Kept.add(k)
}
