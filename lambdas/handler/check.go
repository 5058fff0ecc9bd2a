package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// dwellReserve is what a check that dwells leaves of its work's time for one more
// describe call and the write of its result.
const dwellReserve = 4 * time.Second

// A time-out that is about to be recorded rests on a describe call that was sent
// when the time was up, and not long ago: else the job is described again, a few
// times at most.
const (
	staleAfter       = 5 * time.Second
	maxConfirmations = 2
)

// check is one invocation of CheckStatus for a job whose end is not recorded.
type check struct {
	*Handler

	event   Event
	stored  startrecord.Stored
	request *Request
	driver  jobs.Driver
	judge   *pollcore.Check[jobs.Ref, any]
	ref     jobs.Ref
	attempt int // of the next describe call, 0 if nobody counts
	// asked is when the last describe call was sent.
	asked time.Time
	// given is an answer that has been asked for already, for the next describe call.
	given *givenAnswer
}

// givenAnswer is what a call for many jobs said of one.
type givenAnswer struct {
	output any
	asked  time.Time
}

func (p *Handler) newCheck(event Event, stored startrecord.Stored, request *knownRequest) (*check, error) {
	driver, err := p.Jobs.PollDriver(request.Job)
	if err != nil {
		return nil, unknownJob(err)
	}
	judge, err := request.judge()
	if err != nil {
		return nil, failWith(ErrorInvalidRequest, err)
	}
	ref, err := readRef(stored.Record, p.place(event.Key))
	if err != nil {
		return nil, err
	}
	return &check{
		Handler: p, event: event, stored: stored, request: request.Request, driver: driver, judge: judge, ref: ref,
		attempt: event.attempt(request.Request),
	}, nil
}

// poll describes the job until it has ended or the dwell is over, and records
// how it ended.
func (c *check) poll(ctx context.Context) (*Result, error) {
	dwellEnd := c.Now().Add(time.Duration(c.request.DwellSeconds) * time.Second)
	result, state, err := c.describe(ctx)
	for err == nil && result.Status == pollcore.Running && c.dwell(ctx, dwellEnd, result.WaitSeconds) {
		var next *Result
		if next, state, err = c.describeAgain(ctx); err != nil && hasName(err, ErrorServiceUnavailable) {
			// The check before it still holds; the state machine asks again.
			return result, nil
		}
		result = next
	}
	for range maxConfirmations {
		if err != nil || result.Status != pollcore.TimedOut || state != jobRuns || !c.stale() {
			break
		}
		result, state, err = c.describeAgain(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case result.Status == pollcore.Running:
		return result, nil
	case state == jobUnseen:
		result.logged.unrecorded = true
		return result, nil
	case state == jobRuns && c.request.OnTimeout == onTimeoutStop:
		return c.stop(ctx, result)
	default:
		return c.keep(ctx, result)
	}
}

// stale tells whether the last describe call is too old to call the job timed out:
// it was sent before the deadline, or its answer has been on its way for long. An
// invocation may stall anywhere, and the job may have ended meanwhile.
func (c *check) stale() bool {
	inTime := c.event.waitTime(c.stored.Record, c.asked) < c.request.Schedule(c.event.Key).Total
	return inTime || c.Now().Sub(c.asked) > staleAfter
}

// describeAgain is a further describe call of the same invocation.
func (c *check) describeAgain(ctx context.Context) (*Result, jobState, error) {
	if c.attempt > 0 {
		c.attempt++
	}
	return c.describe(ctx)
}

// dwell waits for the next describe call within this invocation, and tells
// whether there was time for it.
func (c *check) dwell(ctx context.Context, end time.Time, seconds int) bool {
	wait := time.Duration(seconds) * time.Second
	if c.NoDwell || c.Now().Add(wait).After(end) {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait+dwellReserve {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jobState is what a describe call says of the job itself, whatever the
// deadline makes of it.
type jobState int

const (
	jobUnseen jobState = iota // the call was refused, which says nothing of the job
	jobRuns
	jobEnded
)

// describe asks the service once and judges the answer.
func (c *check) describe(ctx context.Context) (result *Result, state jobState, err error) {
	call, cancel := callLimit(ctx)
	defer cancel()
	output, opErr := c.ask(call)
	c.count(countOf("Checks"))
	judged := c.judge.Check(c.ref, output, opErr)
	unmatched := judged.Acceptor == pollcore.NoAcceptor && opErr != nil
	if unmatched && goerror.Passes(opErr) {
		return nil, jobUnseen, failBecause(ErrorServiceUnavailable, opErr, "describe %s", word(c.request.Job))
	}
	schedule := c.request.Schedule(c.event.Key)
	// A Wait state waits whole seconds. What is drawn is rounded, not what grows.
	schedule.Random = func(lo, hi time.Duration) time.Duration {
		return (lo + time.Duration(c.Random(int64(hi-lo)+1))).Round(time.Second)
	}
	rec := c.stored.Record
	elapsed := c.event.waitTime(rec, c.Now())
	decision := schedule.Next(judged.Verdict, pollcore.Progress{Attempts: c.calls(schedule.Planned, elapsed), Elapsed: elapsed})
	result = &Result{
		Status: decision.Status, WaitSeconds: seconds(decision.Delay), Attempt: c.attempt,
		StartedAt: rec.StartedAt, ElapsedSeconds: int(elapsed.Seconds()), Job: c.ref,
		Reason: c.judge.Reason(judged, c.ref, output, opErr),
		logged: logged{job: c.request.Job},
	}
	switch {
	case unmatched:
		state = jobUnseen
	case judged.Verdict == pollcore.Retry:
		state = jobRuns
	default:
		state = jobEnded
	}
	switch requested := !rec.StopRequestedAt.IsZero(); {
	case requested && state == jobEnded && decision.Status == pollcore.Failed:
		wait := "an earlier wait timed out"
		if c.stopping() {
			wait = "this wait timed out"
			if !c.isOwnFailure(output) {
				// Whatever check had it stopped, it ended because its time was up.
				result.Status = pollcore.TimedOut
			}
		}
		result.Reason += fmt.Sprintf("; a stop was requested at %s, because %s", rec.StopRequestedAt.Format(time.RFC3339), wait)
	case decision.Status == pollcore.TimedOut:
		result.Reason = fmt.Sprintf("not finished after %s (max wait %s): %s", elapsed.Round(time.Second), schedule.Total,
			strings.TrimPrefix(result.Reason, "no acceptor matched: "))
	}
	result.Reason = cut(result.Reason, maxReason)
	if result.Status != pollcore.Running {
		result.logged.cause = c.cause(judged, opErr, result.Status, elapsed)
	}
	if opErr == nil {
		if state == jobEnded {
			result.LateSeconds = c.lateness(output)
		}
		var remark string
		if result.Output, remark, err = limitOutput(output, c.request.Waiter, c.OutputLimit); err != nil {
			return nil, jobUnseen, failWith(ErrorServiceUnavailable, err)
		}
		result.Reason += remark
	}
	return result, state, nil
}

// calls is how many calls of the schedule have been made; 0 if nobody counts. A Retry
// block counts calls, too, that were made again after a fault. These take time, so the
// schedule has made no more calls than the time says. The redrive of a job that had been
// started begins with a call.
func (c *check) calls(planned *pollcore.Planned, elapsed time.Duration) int {
	if c.request.OnRunning != onRunningDelay {
		return c.attempt
	}
	if c.event.beginsWithPoll(c.stored.Record) {
		elapsed += planned.Before(1)
	}
	return min(c.attempt, planned.CallAt(elapsed))
}

// ask sends the describe call, unless its answer is given.
func (c *check) ask(ctx context.Context) (any, error) {
	if given := c.given; given != nil {
		c.given, c.asked = nil, given.asked
		return given.output, nil
	}
	c.asked = c.Now()
	return c.driver.Describe(ctx, c.ref)
}

// lateness is how many seconds the job had ended when the output was asked for; nil if
// the output does not say when it ended. Clocks differ: no call is early.
func (c *check) lateness(output any) *int {
	timer, ok := c.driver.(jobs.EndTimer)
	if !ok {
		return nil
	}
	at, ok := timer.EndTime(output)
	if !ok {
		return nil
	}
	return new(int(max(0, c.asked.Sub(at)).Round(time.Second) / time.Second))
}

// stopping tells whether a job that ends now does so because it was stopped: in
// this wait a check was about to, or in an earlier one the service has taken the
// order, which is when the record became TIMED_OUT.
func (c *check) stopping() bool {
	rec := c.stored.Record
	return !rec.StopRequestedAt.IsZero() && (rec.Status == startrecord.StatusTimedOut || rec.RedriveCount == c.event.RedriveCount)
}

// isOwnFailure reports whether the output of a job that has failed says that it was not
// stopped.
func (c *check) isOwnFailure(output any) bool {
	teller, ok := c.driver.(jobs.StopTeller)
	if !ok {
		return false
	}
	stopped, known := teller.WasStopped(output)
	return known && !stopped
}

// stop stops a job whose time is up, and records that it is. A job that ends
// well before the stop takes effect has not timed out.
func (c *check) stop(ctx context.Context, timeout *Result) (*Result, error) {
	stopper, ok := c.driver.(jobs.Stopper)
	if !ok { // the driver of another version of this function could
		timeout.remark("; this function cannot stop the job")
		return c.keep(ctx, timeout)
	}
	rec, first := c.stored.Record, !c.stopping()
	if first {
		rec.Status, rec.Result = startrecord.StatusStarted, nil
		rec.StopRequestedAt, rec.RedriveCount = c.Now().UTC(), c.event.RedriveCount
	}
	// Recorded first: whoever finds the job stopped must know why. A request that is there
	// is written again, so that whoever made it does not withdraw it from under this call.
	stored, err := c.replace(ctx, c.event.Key, rec, c.stored.Version)
	if err != nil {
		return c.overtaken(ctx, err, nil)
	}
	c.stored = stored
	call, cancel := callLimit(ctx)
	defer cancel()
	switch err := stopper.Stop(call, c.ref); {
	case err != nil && goerror.Passes(err):
		if first && !goerror.Classify(err).MayHaveActed() {
			c.withdrawStop(ctx)
		}
		return nil, failBecause(ErrorServiceUnavailable, err, "stop %s", word(c.request.Job))
	case err != nil:
		timeout.Reason += cut(fmt.Sprintf("; the stop call failed: %v", err), maxReason)
		timeout.logged.cause += "; the stop call failed"
		if answer := refusal(err, c.driver, access.ForStop); answer != "" {
			timeout.logged.cause += ": " + answer
		}
		c.stored.Record.StopRequestedAt = time.Time{} // how it ends is its own doing
	default:
		timeout.remark("; the job was told to stop")
	}
	// A service refuses to stop a job that has just ended.
	if last, state, err := c.describe(ctx); err == nil && state == jobEnded && last.Status != pollcore.TimedOut {
		return c.keep(ctx, last)
	}
	return c.keep(ctx, timeout)
}

// withdrawStop removes the request to stop from the record after a call that had no effect.
// If the job fails before the next check makes the call again, that is its own doing.
func (c *check) withdrawStop(ctx context.Context) {
	rec := c.stored.Record
	rec.StopRequestedAt = time.Time{}
	if _, err := c.replace(ctx, c.event.Key, rec, c.stored.Version); err != nil {
		c.Log.WarnContext(ctx, "the request to stop could not be withdrawn: if the job fails now, it counts as stopped",
			append(namesOf(c.event.Key), "reason", reason(err))...)
	}
}

// keep writes the result of a job that has ended. If another check has written
// one meanwhile, that one is the result.
func (c *check) keep(ctx context.Context, result *Result) (*Result, error) {
	rec := c.stored.Record
	rec.Status, rec.RedriveCount = startrecord.Status(result.Status), c.event.RedriveCount
	var err error
	if rec.Result, err = json.Marshal(result); err != nil {
		return nil, failWith(ErrorServiceUnavailable, err)
	}
	stored, err := c.replace(ctx, c.event.Key, rec, c.stored.Version)
	if err != nil {
		if theirs, err := c.overtaken(ctx, err, &rec); theirs != nil || err != nil {
			return theirs, err
		}
	} else {
		c.stored = stored
	}
	counted := []metric{countOf(ended[result.Status]), {"JobSeconds", "Seconds", float64(result.ElapsedSeconds)}}
	if result.LateSeconds != nil {
		counted = append(counted, metric{"Lateness", "Seconds", float64(*result.LateSeconds)})
	}
	c.count(counted...)
	return result, nil
}

// overtaken returns the result that another check has written, if a write failed because
// of it. Mine is the record that this check could not write, with its result; nil if it
// has none. The result is nil if overtaken has written mine after all.
func (c *check) overtaken(ctx context.Context, cause error, mine *startrecord.Record) (*Result, error) {
	if !errors.Is(cause, startrecord.ErrChanged) {
		return nil, storeError(cause)
	}
	stored, err := c.Store.Load(ctx, c.event.Key)
	if errors.Is(err, startrecord.ErrNotFound) && mine != nil {
		// Somebody has removed the record, or the store returned an old answer. The write tells which.
		mine.ExpiresAt = c.Now().UTC().Add(c.Retention)
		if stored, err = c.Store.Create(ctx, c.event.Key, *mine); err == nil {
			c.Log.WarnContext(ctx, "the start record was gone, and is written anew with the result", namesOf(c.event.Key)...)
			c.stored = stored
			return nil, nil //nolint:nilnil // as documented
		}
	}
	switch {
	case err == nil && c.event.hasEnd(stored.Record):
		return readResult(stored.Record)
	case err == nil, errors.Is(err, startrecord.ErrExists):
		return nil, fail(ErrorStoreUnavailable, "another invocation changed the start record %s, but it has no result: poll again",
			c.place(c.event.Key))
	default:
		return nil, storeError(err)
	}
}

func (c *check) count(metrics ...metric) {
	c.measure(c.request.Job, c.event.Key.ExecutionARN, metrics...)
}
