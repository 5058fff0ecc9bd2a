package poller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// CheckStatus says whether the job that RunJob started has ended. It reads the
// start record once and describes the job once; it writes nothing while the
// job runs, and its result when it has ended. Errors carry the Error names.
func (p *Poller) CheckStatus(ctx context.Context, payload json.RawMessage) (*Result, error) {
	event, err := ParseEvent(payload)
	var result *Result
	if err == nil {
		result, err = p.checkStatus(ctx, event)
	}
	p.log(ctx, "check-status", event, result, err)
	return result, border(err)
}

func (p *Poller) checkStatus(ctx context.Context, event Event) (*Result, error) {
	stored, err := p.Store.Load(ctx, event.Key)
	if errors.Is(err, startrecord.ErrNotFound) {
		return nil, fail(ErrorInvalidRequest, "there is no start record %s: RunJob must run before CheckStatus, with the same Poller and Scope",
			p.Store.Location(event.Key))
	}
	if err != nil {
		return nil, storeError(err)
	}
	rec := stored.Record
	request, err := loadRequest(rec.Request)
	if err != nil {
		return nil, failWith(ErrorConfiguration, fmt.Errorf("%s: %w", p.Store.Location(event.Key), err))
	}
	if rec.Status.Terminal() && rec.Result != nil {
		result, err := storedResult(rec)
		if err != nil {
			return nil, err
		}
		return p.answer(request, result)
	}
	if rec.JobRef == nil {
		return nil, fail(ErrorInvalidRequest, "the job of %s has not been started (status %s): RunJob must succeed before CheckStatus",
			p.Store.Location(event.Key), rec.Status)
	}
	result, err := p.check(ctx, event, rec, request)
	if err != nil {
		return nil, err
	}
	if result.Status != pollcore.Running {
		if result, err = p.keep(ctx, event.Key, stored, result); err != nil {
			return nil, err
		}
	}
	return p.answer(request, result)
}

// check describes the job and judges the answer.
func (p *Poller) check(ctx context.Context, event Event, rec startrecord.Record, request *Request) (*Result, error) {
	driver, err := p.Jobs.Driver(request.Job)
	if err != nil {
		return nil, failWith(ErrorUnknownJob, err)
	}
	judge, err := request.compile()
	if err != nil {
		return nil, failWith(ErrorInvalidRequest, err)
	}
	var ref jobs.Ref
	if err := json.Unmarshal(rec.JobRef, &ref); err != nil {
		return nil, failWith(ErrorConfiguration, fmt.Errorf("job reference in the start record: %w", err))
	}
	output, opErr := driver.Describe(ctx, ref)
	judged := judge.Check(ref, output, opErr)
	if judged.Acceptor == pollcore.NoAcceptor && opErr != nil && jobs.Transient(opErr) {
		return nil, failWith(ErrorServiceUnavailable, fmt.Errorf("describe %s: %w", request.Job, opErr))
	}
	schedule := request.schedule()
	// A Wait state waits whole seconds, so whole seconds are drawn.
	schedule.Random = func(lo, hi time.Duration) time.Duration {
		return lo + time.Duration(p.Random(int64((hi-lo)/time.Second)+1))*time.Second
	}
	elapsed := max(0, p.Now().Sub(rec.StartedAt))
	attempt := event.attempt(request)
	decision := schedule.Next(judged.Verdict, pollcore.Progress{Attempts: attempt, Elapsed: elapsed})
	result := &Result{
		Status: decision.Status, WaitSeconds: seconds(decision.Delay), Attempt: attempt,
		StartedAt: rec.StartedAt, ElapsedSeconds: int(elapsed.Seconds()), Job: ref,
		Reason: judge.Reason(judged, ref, output, opErr),
	}
	if decision.Status == pollcore.TimedOut {
		result.Reason = fmt.Sprintf("not finished after %s of %s; %s", elapsed.Round(time.Second), schedule.Total,
			strings.TrimPrefix(result.Reason, "no acceptor matched; "))
	}
	result.Reason = cut(result.Reason, maxReason)
	if opErr == nil {
		var remark string
		if result.Output, remark, err = limitOutput(output, request.Waiter, p.OutputLimit); err != nil {
			return nil, failWith(ErrorServiceUnavailable, err)
		}
		result.Reason += remark
	}
	return result, nil
}

// keep writes the result of a job that has ended. If another check has written
// one meanwhile, that one is the result.
func (p *Poller) keep(ctx context.Context, key startrecord.Key, stored startrecord.Stored, result *Result) (*Result, error) {
	rec := stored.Record
	rec.Status = startrecord.Status(result.Status)
	var err error
	if rec.Result, err = json.Marshal(result); err != nil {
		return nil, failWith(ErrorServiceUnavailable, err)
	}
	_, err = p.Store.Replace(ctx, key, rec, stored.Version)
	if err == nil {
		return result, nil
	}
	if !errors.Is(err, startrecord.ErrChanged) {
		return nil, storeError(err)
	}
	if stored, err = p.Store.Load(ctx, key); err != nil {
		return nil, storeError(err)
	}
	if !stored.Record.Status.Terminal() {
		return nil, fail(ErrorStoreUnavailable, "start record %s was changed by another, but holds no result: check again", p.Store.Location(key))
	}
	return storedResult(stored.Record)
}

// answer gives a result the form that the request asked for: a value or an
// error.
func (p *Poller) answer(request *Request, result *Result) (*Result, error) {
	switch {
	case result.Status == pollcore.Running && request.OnRunning == "error":
		return nil, fail(ErrorRunning, "%s; next check in %d s", result.Reason, result.WaitSeconds)
	case result.Status == pollcore.Failed && request.EndAs == "error":
		return nil, fail(ErrorFailed, "%s", result.Reason)
	case result.Status == pollcore.TimedOut && request.EndAs == "error":
		return nil, fail(ErrorTimedOut, "%s", result.Reason)
	default:
		return result, nil
	}
}
