package pollcore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Wait calls op with in until the waiter is done, has failed, or total has
// passed since Wait began; op is a describe call such as
// Call(client.DescribeExport). It blocks, and returns at once when ctx ends.
//
// The Outcome is filled however the wait ended. The error is nil only for
// success; else it is an *[Error] that matches [ErrFailed], [ErrTimedOut],
// [ErrTooManyAttempts] or [ErrCanceled], or, before the first call, a
// [diag.Problems] of the waiter or of the options.
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
	if op == nil {
		err = errors.Join(err, diag.Problems{{Message: "no operation to call: op is nil"}})
	}
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
	successes int    // in a row
	result    Result // of the last call that was judged
	outcome   Outcome[Out]
}

func (w *waiting[In, Out]) run() (Outcome[Out], error) {
	if !sleep(w.ctx, w.schedule.First()) {
		return w.cancel()
	}
	if w.poller != nil {
		return w.runOn(w.poller)
	}
	for {
		decision, judged := w.turn(w.ctx)
		switch {
		case !judged:
			return w.cancel()
		case decision.Status != Running:
			return w.end(decision)
		case !sleep(w.ctx, decision.Delay):
			return w.cancel()
		}
	}
}

// runOn leaves the turns, and the sleeping between them, to a retry strategy.
func (w *waiting[In, Out]) runOn(p Poller) (Outcome[Out], error) {
	decision, judged := Decision{Status: Running}, true
	err := p.Poll(w.ctx, func(ctx context.Context) (time.Duration, bool, error) {
		decision, judged = w.turn(ctx)
		return decision.Delay, judged && decision.Status == Running, w.outcome.OpErr
	})
	switch {
	case judged && decision.Status != Running:
		return w.end(decision)
	case w.ctx.Err() != nil:
		return w.cancel()
	default: // the strategy has a limit of its own, which came first
		w.outcome.Status, w.outcome.Elapsed = TimedOut, time.Since(w.start)
		e := w.failure(ErrTooManyAttempts)
		if errors.Is(err, context.DeadlineExceeded) {
			e.kind = ErrTimedOut
		}
		e.Cause, e.HookErr = err, w.runHook()
		return w.outcome, e
	}
}

// turn makes one call, judges it and decides. A call that failed because ctx
// ended says nothing of the job and is not judged: the outcome stays that of
// the call before.
func (w *waiting[In, Out]) turn(ctx context.Context) (d Decision, judged bool) {
	limit := w.callTimeout
	if remaining := w.schedule.Total - time.Since(w.start); w.schedule.Mode == SmithyExact {
		limit = min(limit, remaining) // the specification cancels what is in progress at the end
	}
	call, cancel := context.WithTimeoutCause(ctx, limit, &callTimeoutError{limit})
	defer cancel()
	output, opErr := w.op(call, w.in)
	w.outcome.Attempts++
	w.outcome.Elapsed = time.Since(w.start)
	if opErr != nil && ctx.Err() != nil {
		return Decision{}, false
	}
	cut := opErr != nil && call.Err() != nil
	if cut {
		opErr = &callError{cause: context.Cause(call), err: opErr}
	}
	w.outcome.Output, w.outcome.OpErr = output, opErr
	d = w.decide(cut)
	if w.onAttempt != nil {
		w.outcome.Reason = w.reason()
		w.onAttempt(w.observation(d))
	}
	return d, true
}

// decide judges the call and says what follows. A call that was cut short when
// the total wait had passed does not tell that the job has failed.
func (w *waiting[In, Out]) decide(cut bool) Decision {
	o := &w.outcome
	r := w.check.Check(w.in, o.Output, o.OpErr)
	w.result = r
	o.take(r)
	if r.Verdict == Failure && w.tolerates(r, o.OpErr, o.Elapsed) {
		o.Verdict = Retry
	}
	w.successes++
	if r.Verdict != Success {
		w.successes = 0
	} else if w.successes < w.successesNeeded {
		o.Verdict = Retry
	}
	if cut && o.Elapsed >= w.schedule.Total && (r.Acceptor == NoAcceptor || w.schedule.Mode == SmithyExact) {
		return Decision{Status: TimedOut}
	}
	return w.schedule.Next(o.Verdict, Progress{Attempts: o.Attempts, Elapsed: o.Elapsed})
}

// reason says in words what the last call that was judged has shown; it is
// costly, so it is asked for only where somebody reads it.
func (w *waiting[In, Out]) reason() string {
	if w.result.Verdict == "" {
		return "" // no call has been judged
	}
	reason := w.check.Reason(w.result, w.in, w.outcome.Output, w.outcome.OpErr)
	if w.successes > 0 && w.successesNeeded > 1 {
		reason += fmt.Sprintf(", %d of %d times in a row", w.successes, w.successesNeeded)
	}
	return reason
}

func (w *waiting[In, Out]) observation(d Decision) Attempt {
	o := w.outcome
	return Attempt{
		Number: o.Attempts, Elapsed: o.Elapsed, Total: w.schedule.Total, Verdict: o.Verdict,
		Acceptor: o.Acceptor, Seen: o.Seen, Reason: o.Reason, Output: nilOr(o.Output), Err: o.OpErr,
		Status: d.Status, Delay: d.Delay,
	}
}

// end is the end of a wait that was not canceled.
func (w *waiting[In, Out]) end(d Decision) (Outcome[Out], error) {
	w.outcome.Status, w.outcome.Reason = d.Status, w.reason()
	if d.Status == Succeeded {
		return w.outcome, nil
	}
	if d.Status == Failed {
		return w.outcome, w.failure(ErrFailed)
	}
	e := w.failure(ErrTimedOut)
	if d.Exhausted {
		e.kind = ErrTooManyAttempts
	}
	e.HookErr = w.runHook()
	return w.outcome, e
}

// runHook runs the hook, which may still act although ctx is about to end.
func (w *waiting[In, Out]) runHook() error {
	if w.onTimeout == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), w.callTimeout)
	defer cancel()
	return w.onTimeout(ctx)
}

func (w *waiting[In, Out]) cancel() (Outcome[Out], error) {
	w.outcome.Status, w.outcome.Elapsed = Running, time.Since(w.start) // the job may go on
	e := w.failure(ErrCanceled)
	e.Cause, e.ended = context.Cause(w.ctx), w.ctx.Err()
	return w.outcome, e
}

func (w *waiting[In, Out]) failure(kind error) *Error {
	w.outcome.Reason = w.reason()
	o := w.outcome
	return &Error{
		Waiter: w.check.waiter.Name, Verdict: o.Verdict, Acceptor: o.Acceptor, Attempts: o.Attempts,
		Elapsed: o.Elapsed, Total: w.schedule.Total, Seen: o.Seen, Message: o.Message,
		LastOutput: nilOr(o.Output), LastErr: o.OpErr, kind: kind, reason: o.Reason,
	}
}

// nilOr is nil for a nil pointer, map or list, which in an any is none.
func nilOr(v any) any {
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if rv.IsNil() {
			return nil
		}
		return v
	default:
		return v
	}
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
