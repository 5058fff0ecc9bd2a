package pollcore

import (
	"context"
	"errors"
	"time"
)

// Wait calls op with in until the waiter is done, has failed, or total has
// passed since Wait began; op is a describe call such as
// Call(client.DescribeExport). It blocks, and returns at once when ctx ends.
//
// The Outcome is filled however the wait ended. The error is nil only for
// success; else it is an *[Error] that matches [ErrFailed], [ErrTimedOut],
// [ErrTooManyAttempts] or [ErrCanceled], or, before the first call, a
// [Problems] of the waiter or of the options.
//
// Wait compiles the waiter against In and Out each time, which takes
// microseconds; a program that waits often compiles once and calls
// [Check.Wait].
func Wait[In, Out any](
	ctx context.Context, w *Waiter, in In, total time.Duration,
	op func(context.Context, In) (Out, error), options ...WaitOption,
) (Outcome[Out], error) {
	check, err := Compile[In, Out](w)
	if err != nil {
		return Outcome[Out]{Acceptor: NoAcceptor}, err
	}
	return check.Wait(ctx, in, total, op, options...)
}

// Call makes an operation of an AWS SDK client, with its variadic options, what
// Wait takes.
func Call[In, Out, Opt any](op func(context.Context, In, ...Opt) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) { return op(ctx, in) }
}

// Wait is the function [Wait] for a waiter that is compiled already.
func (c *Check[In, Out]) Wait(
	ctx context.Context, in In, total time.Duration,
	op func(context.Context, In) (Out, error), options ...WaitOption,
) (Outcome[Out], error) {
	settings, err := newWaitSettings(c.waiter, total, options)
	if err != nil {
		return Outcome[Out]{Acceptor: NoAcceptor}, err
	}
	w := &waiting[In, Out]{
		waitSettings: settings, check: c, ctx: ctx, in: in, op: op, start: time.Now(),
		outcome: Outcome[Out]{Status: Running, Verdict: Retry, Acceptor: NoAcceptor},
	}
	return w.run()
}

// waiting is a Wait under way.
type waiting[In, Out any] struct {
	waitSettings

	check     *Check[In, Out]
	ctx       context.Context //nolint:containedctx // of one call of Wait, which owns this value
	in        In
	op        func(context.Context, In) (Out, error)
	start     time.Time
	successes int  // in a row
	late      bool // the last call was cut short because the total wait had passed
	outcome   Outcome[Out]
}

func (w *waiting[In, Out]) run() (Outcome[Out], error) {
	if !sleep(w.ctx, w.schedule.First()) {
		return w.canceled()
	}
	if w.poller != nil {
		return w.runOn(w.poller)
	}
	for {
		decision, canceled := w.turn(w.ctx)
		switch {
		case canceled:
			return w.canceled()
		case decision.Status != Running:
			return w.end(decision)
		case !sleep(w.ctx, decision.Delay):
			return w.canceled()
		}
	}
}

// runOn leaves the turns, and the sleeping between them, to a retry strategy.
func (w *waiting[In, Out]) runOn(p Poller) (Outcome[Out], error) {
	var decision Decision
	var canceled bool
	err := p.Poll(w.ctx, func(ctx context.Context) (time.Duration, bool, error) {
		decision, canceled = w.turn(ctx)
		again := !canceled && decision.Status == Running
		return decision.Delay, again, w.outcome.OpErr
	})
	w.outcome.Elapsed = time.Since(w.start)
	switch {
	case canceled || w.ctx.Err() != nil && (decision.Status == Running || decision.Status == ""):
		return w.canceled()
	case decision.Status == Running || decision.Status == "":
		// The strategy has a limit of its own, which came first.
		w.outcome.Status = TimedOut
		kind := ErrTooManyAttempts
		if errors.Is(err, context.DeadlineExceeded) {
			kind = ErrTimedOut
		}
		return w.outcome, w.failure(kind, errors.Join(err, w.timedOut()))
	default:
		return w.end(decision)
	}
}

// turn makes one call and decides. A call that failed because the caller gave
// up is canceled, and says nothing of the job.
func (w *waiting[In, Out]) turn(ctx context.Context) (d Decision, canceled bool) {
	w.attempt(ctx)
	if w.outcome.OpErr != nil && ctx.Err() != nil {
		return Decision{}, true
	}
	d = w.decide()
	if w.onAttempt != nil {
		w.onAttempt(w.observation(d))
	}
	return d, false
}

// attempt makes one call.
func (w *waiting[In, Out]) attempt(parent context.Context) {
	limit := w.callTimeout
	remaining := w.schedule.Total - time.Since(w.start)
	bounded := w.schedule.Mode == SmithyExact && remaining < limit
	if bounded { // the specification cancels what is in progress at the end
		limit = remaining
	}
	ctx, cancel := context.WithTimeoutCause(parent, limit, &callTimeoutError{limit})
	defer cancel()
	w.outcome.Output, w.outcome.OpErr = w.op(ctx, w.in)
	if w.outcome.OpErr != nil && parent.Err() == nil && ctx.Err() != nil {
		w.outcome.OpErr = &callError{cause: context.Cause(ctx), err: w.outcome.OpErr}
		w.late = bounded
	}
	w.outcome.Attempts++
	w.outcome.Elapsed = time.Since(w.start)
}

// decide judges the call and says what follows.
func (w *waiting[In, Out]) decide() Decision {
	r := w.check.Check(w.in, w.outcome.Output, w.outcome.OpErr)
	w.outcome.take(r)
	w.outcome.Reason = w.check.Reason(r, w.in, w.outcome.Output, w.outcome.OpErr)
	if r.Verdict == Failure && w.tolerates(r, w.outcome.OpErr, w.outcome.Elapsed) {
		w.outcome.Verdict = Retry
	}
	w.successes++
	if r.Verdict != Success {
		w.successes = 0
	} else if w.successes < w.successesNeeded {
		w.outcome.Verdict = Retry
	}
	if w.late {
		return Decision{Status: TimedOut}
	}
	return w.schedule.Next(w.outcome.Verdict, Progress{Attempts: w.outcome.Attempts, Elapsed: w.outcome.Elapsed})
}

func (w *waiting[In, Out]) observation(d Decision) Attempt {
	o := w.outcome
	return Attempt{
		Number: o.Attempts, Elapsed: o.Elapsed, Total: w.schedule.Total, Verdict: o.Verdict,
		Acceptor: o.Acceptor, Seen: o.Seen, Reason: o.Reason, Output: o.Output, Err: o.OpErr,
		Status: d.Status, Delay: d.Delay,
	}
}

// end is the end of a wait that was not canceled.
func (w *waiting[In, Out]) end(d Decision) (Outcome[Out], error) {
	w.outcome.Status = d.Status
	switch {
	case d.Status == Succeeded:
		return w.outcome, nil
	case d.Status == Failed:
		return w.outcome, w.failure(ErrFailed, nil)
	case d.Exhausted:
		return w.outcome, w.failure(ErrTooManyAttempts, w.timedOut())
	default:
		return w.outcome, w.failure(ErrTimedOut, w.timedOut())
	}
}

// timedOut runs the hook, which may still act although ctx is about to end.
func (w *waiting[In, Out]) timedOut() error {
	if w.onTimeout == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.callTimeout)
	defer cancel()
	return w.onTimeout(ctx)
}

func (w *waiting[In, Out]) canceled() (Outcome[Out], error) {
	w.outcome.Status = Running // the job may go on
	w.outcome.Elapsed = time.Since(w.start)
	return w.outcome, w.failure(ErrCanceled, context.Cause(w.ctx))
}

func (w *waiting[In, Out]) failure(kind, cause error) error {
	o := w.outcome
	e := &Error{
		Waiter: w.check.waiter.Name, Verdict: o.Verdict, Acceptor: o.Acceptor, Attempts: o.Attempts,
		Elapsed: o.Elapsed, Total: w.schedule.Total, Seen: o.Seen, Message: o.Message,
		LastErr: o.OpErr, Cause: cause, kind: kind, reason: o.Reason,
	}
	if o.Attempts > 0 {
		e.LastOutput = o.Output
	}
	return e
}

// sleep waits for d, or until ctx ends, and tells which. It never sleeps past
// the end of ctx, and a d of 0 only looks.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
