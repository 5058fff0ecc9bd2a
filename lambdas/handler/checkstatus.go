package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// CheckStatus says whether the job that RunJob started has ended. It reads the
// start record once and describes the job once, or as often as fits into the
// request's dwellSeconds; while the job runs it writes nothing but, once a day, the
// record's new expiry, and its result when it has ended. When the deadline passes it stops the job, if the request
// says so. Errors carry the Error names.
func (p *Handler) CheckStatus(ctx context.Context, payload json.RawMessage) (*Result, error) {
	work, _, cancel := limitWork(ctx, maxDwell+defaultInvocation)
	defer cancel()
	event, err := ParseEvent(payload)
	defer func() { p.logPanic(ctx, event.Key, recover()) }()
	var result *Result
	var request *knownRequest
	if err == nil {
		result, request, err = p.checkStatus(work, event)
	}
	p.log(ctx, "check-status", event, result, err)
	if err == nil {
		result, err = request.answer(result)
	}
	return result, border(err)
}

func (p *Handler) checkStatus(ctx context.Context, event Event) (*Result, *knownRequest, error) {
	for range maxTakeovers {
		stored, request, err := p.find(ctx, event)
		if err == nil {
			stored, err = p.renew(ctx, event.Key, stored, request.Request)
			err = replaceError(err)
		}
		switch {
		case errors.Is(err, startrecord.ErrChanged):
			continue // another invocation has renewed it, or written more
		case err != nil:
			return nil, nil, err
		}
		result, err := p.result(ctx, event, stored, request)
		if err != nil {
			return nil, nil, about(err, request.Job, idOfRecord(stored.Record))
		}
		result.logged.job = request.Job
		return result, request, nil
	}
	return nil, nil, fail(ErrorStoreUnavailable, "other invocations keep changing the start record %s", p.place(event.Key))
}

// find returns the record of the job that the event asks for, and the request in it. A
// record that RunJob has not finished with may be one that the store has replaced since:
// that is unavailability, which a Retry block asks again, and not how the wait ends.
func (p *Handler) find(ctx context.Context, event Event) (startrecord.Stored, *knownRequest, error) {
	stored, err := p.Store.Load(ctx, event.Key)
	if errors.Is(err, startrecord.ErrNotFound) {
		return stored, nil, fail(ErrorStoreUnavailable, "there is no start record %s: "+
			"RunJob must run before CheckStatus, with the same Poller and Scope. If it did, the store has returned an old answer: retry",
			p.place(event.Key))
	}
	if err != nil {
		return stored, nil, storeError(err)
	}
	rec := stored.Record
	switch began := rec.ExecutionStartTime; {
	case began.After(event.ExecutionTime):
		return stored, nil, fail(ErrorInvalidRequest, "the start record %s belongs to a later execution of this name, which began at %s: "+
			"this execution must have ended", p.place(event.Key), began)
	case began.Before(event.ExecutionTime):
		return stored, nil, fail(ErrorStoreUnavailable, "the start record %s belongs to an earlier execution of this name, which began at %s: "+
			"RunJob must run before CheckStatus. If it did, the store has returned an old answer: retry", p.place(event.Key), began)
	}
	request, err := p.requests.load(rec.Request)
	if err != nil {
		return stored, nil, failBecause(ErrorConfiguration, err, "the request in %s cannot be read", p.place(event.Key))
	}
	if rec.JobRef == nil && !event.hasEnd(rec) {
		return stored, nil, p.withoutJob(ctx, event, stored)
	}
	return stored, request, nil
}

// withoutJob is the error of a record that has no job. It returns startrecord.ErrChanged if
// the record has one by now.
func (p *Handler) withoutJob(ctx context.Context, event Event, stored startrecord.Stored) error {
	rec, location := stored.Record, p.place(event.Key)
	if rec.Status == startrecord.StatusStarting { // whose age is that of its lease: it must not be written
		return fail(ErrorStoreUnavailable, "the start record %s has no job (status %s): "+
			"RunJob must succeed before CheckStatus. If it did, the store has returned an old answer: retry", location, word(rec.Status))
	}
	if _, err := p.replace(ctx, event.Key, rec, stored.Version); err != nil {
		return replaceError(err)
	}
	return fail(ErrorInvalidRequest, "the start record %s has no job (status %s): RunJob must succeed before CheckStatus", location, word(rec.Status))
}

// result returns how the job ended, if that is recorded, or polls it.
func (p *Handler) result(ctx context.Context, event Event, stored startrecord.Stored, request *knownRequest) (*Result, error) {
	if event.hasEnd(stored.Record) {
		return readResult(stored.Record)
	}
	c, err := p.newCheck(event, stored, request)
	if err != nil {
		return nil, err
	}
	result, err := c.poll(ctx)
	if err == nil && result.logged.unrecorded {
		c.count(countOf(ended[result.Status]))
	}
	return result, err
}

// answer gives a result the form that the request asked for: a value or an
// error.
func (q *Request) answer(result *Result) (*Result, error) {
	switch {
	case result.Status == pollcore.Running && q.OnRunning == onRunningDelay:
		delay := q.delayFor(result.WaitSeconds)
		return nil, fail(fmt.Sprintf("%s.%d", ErrorRunning, delay), "%s; next poll in %d s, if a retrier names this error", result.Reason, delay)
	case result.Status == pollcore.Running && q.OnRunning == onRunningError:
		return nil, fail(ErrorRunning, "%s; next poll in %d s", result.Reason, result.WaitSeconds)
	case result.Status == pollcore.Failed && q.EndAs == "error":
		return nil, fail(ErrorFailed, "%s", result.Reason)
	case result.Status == pollcore.TimedOut && q.EndAs == "error":
		return nil, fail(ErrorTimedOut, "%s", result.Reason)
	default:
		return result, nil
	}
}

// delayFor is the shortest delay between calls of the schedule that lasts so many
// seconds: a Retry block has these alone, and the last wait ends at the deadline.
func (q *Request) delayFor(wait int) int {
	least := seconds(q.Planned.Then)
	for _, d := range q.Planned.Delays[1:] {
		if s := seconds(d); s >= wait && (s < least || least < wait) {
			least = s
		}
	}
	return least
}
