package handler

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// Tasks answers Tasks that wait for a callback, as Step Functions does. Its errors are
// the service's own. It is safe for concurrent use.
type Tasks interface {
	// Succeed ends the Task of a token with an output.
	Succeed(ctx context.Context, token string, output json.RawMessage) error
	// Fail ends it with an error's name and a cause.
	Fail(ctx context.Context, token, name, cause string) error
}

// goneCodes are the errors of a token that no Task waits for: its Task has been answered,
// has timed out or has been retried, or its execution has ended.
var goneCodes = []string{"TaskTimedOut", "TaskDoesNotExist", "InvalidToken"}

// Step Functions takes some hundred answers a second of an account, and a burst of a few
// thousand. An answer that is throttled is sent again after a while, a few times.
const (
	maxAnswers  = 5
	answerPause = 200 * time.Millisecond
)

// endTask ends the Task of a token with a result or, by its name, an error. It reports
// whether the Task still waited.
func (p *Handler) endTask(ctx context.Context, token string, result *Result, failure error) (waited bool, err error) {
	send := func(ctx context.Context) error {
		if named, ok := errors.AsType[*Error](failure); ok {
			return p.Tasks.Fail(ctx, token, named.Name, cut(named.Message, maxMessage))
		}
		output, err := json.Marshal(result)
		if err != nil {
			return err
		}
		return p.Tasks.Succeed(ctx, token, output)
	}
	for n := 1; ; n++ {
		call, cancel := callLimit(ctx)
		err = send(call)
		cancel()
		switch {
		case err == nil:
			return true, nil
		case slices.Contains(goneCodes, goerror.Code(err)):
			return false, nil
		case goerror.Classify(err) != awserror.Throttled, n == maxAnswers, !p.pause(ctx, answerPause<<n):
			return false, err
		}
	}
}

// pause waits for half of a time to all of it, and reports whether there was time for it.
func (p *Handler) pause(ctx context.Context, most time.Duration) bool {
	wait := most/2 + time.Duration(p.Random(int64(most/2)+1))
	if deadline, ok := ctx.Deadline(); p.NoDwell || ok && time.Until(deadline) < wait+dwellReserve {
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

// taskError names an error of an answer to a Task.
func taskError(err error) *Error {
	if goerror.Passes(err) {
		return failBecause(ErrorServiceUnavailable, err, "the Task was not answered")
	}
	return failBecause(ErrorConfiguration, err, "the Task was not answered; "+
		"grant states:SendTaskSuccess and states:SendTaskFailure on the state machine")
}
