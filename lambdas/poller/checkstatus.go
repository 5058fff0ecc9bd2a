package poller

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
// request's dwellSeconds; it writes nothing while the job runs, and its result
// when it has ended. When the deadline passes it stops the job, if the request
// says so. Errors carry the Error names.
func (p *Poller) CheckStatus(ctx context.Context, payload json.RawMessage) (*Result, error) {
	work, _, cancel := limited(ctx, maxDwell+defaultInvocation)
	defer cancel()
	event, err := ParseEvent(payload)
	var result *Result
	if err == nil {
		result, err = p.checkStatus(work, event)
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
	if !rec.ExecutionStartTime.Equal(event.ExecutionTime) {
		return nil, fail(ErrorInvalidRequest, "the start record %s is of another execution of this name (begun %s): RunJob must run before CheckStatus",
			p.Store.Location(event.Key), rec.ExecutionStartTime)
	}
	request, err := loadRequest(rec.Request)
	if err != nil {
		return nil, failWith(ErrorConfiguration, fmt.Errorf("%s: %w", p.Store.Location(event.Key), err))
	}
	if event.ended(rec) {
		result, err := storedResult(rec)
		if err != nil {
			return nil, err
		}
		return request.answer(result)
	}
	if rec.JobRef == nil {
		return nil, fail(ErrorInvalidRequest, "the job of %s has not been started (status %s): RunJob must succeed before CheckStatus",
			p.Store.Location(event.Key), rec.Status)
	}
	c, err := p.newCheck(event, stored, request)
	if err != nil {
		return nil, err
	}
	result, err := c.poll(ctx)
	if err != nil {
		return nil, err
	}
	return request.answer(result)
}

// answer gives a result the form that the request asked for: a value or an
// error.
func (q *Request) answer(result *Result) (*Result, error) {
	switch {
	case result.Status == pollcore.Running && q.OnRunning == "error":
		return nil, fail(ErrorRunning, "%s; next check in %d s", result.Reason, result.WaitSeconds)
	case result.Status == pollcore.Failed && q.EndAs == "error":
		return nil, fail(ErrorFailed, "%s", result.Reason)
	case result.Status == pollcore.TimedOut && q.EndAs == "error":
		return nil, fail(ErrorTimedOut, "%s", result.Reason)
	default:
		return result, nil
	}
}
