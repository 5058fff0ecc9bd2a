package shipped

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// claimTimeout bounds how long a run takes to claim its name: a dozen requests to
// a slow store.
const claimTimeout = 30 * time.Second

// claimKey is the key of the record that says when the execution of a name began.
func claimKey(execution string) startrecord.Key {
	return startrecord.Key{ExecutionARN: executionARN(execution), Poller: localloop.ClaimPoller, Scope: "execution"}
}

func executionARN(execution string) string {
	return sim.ExecutionARN(sim.Options{StateMachine: answers.StateMachine, Execution: execution})
}

// ClaimStart returns when the execution of the run's name began: now, or when a
// run before said. A start record belongs to the execution of one start time, and
// a later one replaces it, so runs of one name must agree on it before any of them
// starts a job: whoever creates the claim decides for all.
func (b *Functions) ClaimStart(ctx context.Context, stderr io.Writer) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	began, resumed, err := b.beganBefore(ctx)
	if err != nil {
		return time.Time{}, claimError(ctx, b.options.Name, err)
	}
	key := claimKey(b.options.Name)
	_, err = b.store.Create(ctx, key, startrecord.Record{
		Status: startrecord.StatusStarted, Generation: 1,
		ExecutionStartTime: began, StartedAt: began, ExpiresAt: began.Add(handler.DefaultRetention),
	})
	again := errors.Is(err, startrecord.ErrExists)
	if again {
		var claim startrecord.Stored
		if claim, err = b.store.Load(ctx, key); err == nil && !resumed && !b.options.Quiet && !b.clock.Virtual() {
			terminal.Fprintf(stderr, "continues the execution that began at %s\n", claim.Record.ExecutionStartTime.Format(time.RFC3339))
		}
		began = claim.Record.ExecutionStartTime
	}
	if err != nil {
		return time.Time{}, claimError(ctx, b.options.Name, err)
	}
	if again || resumed {
		if err := b.job.resume(ctx); err != nil {
			return time.Time{}, claimError(ctx, b.options.Name, err)
		}
	}
	if resumed && !b.options.Quiet && !b.clock.Virtual() {
		terminal.Fprintf(stderr, "continues the execution with its start record %s\n", b.store.Location(b.pollerKey()))
	}
	return began, nil
}

// beganBefore returns what the start record of the shipped poller says, which
// outlives the claim, or now.
func (b *Functions) beganBefore(ctx context.Context) (began time.Time, resumed bool, err error) {
	switch stored, err := b.store.Load(ctx, b.pollerKey()); {
	case err == nil:
		return stored.Record.ExecutionStartTime, true, nil
	case errors.Is(err, startrecord.ErrNotFound):
		return b.clock.Now(), false, nil
	default:
		return time.Time{}, false, err
	}
}

func (b *Functions) pollerKey() startrecord.Key {
	return startrecord.Key{ExecutionARN: executionARN(b.options.Name), Poller: handler.DefaultPoller}
}

func claimError(ctx context.Context, name string, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	return fmt.Errorf("cannot claim the name %q of the execution: %w", name, err)
}
