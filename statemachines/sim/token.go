package sim

import (
	"errors"
)

// The errors of what is sent with a token.
var (
	ErrInvalidToken     = errors.New("this is not a task token")
	ErrTaskDoesNotExist = errors.New("no Task waits for this token")
	ErrTaskTimedOut     = errors.New("the Task of this token waits no longer: it was answered, timed out, or its execution ended")
	ErrInvalidOutput    = errors.New("the output of the Task is not JSON")
)

// task returns the attempt that waits for a token.
func (w *World) task(token string) (*attempt, error) {
	t := &w.tasks
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ended := t.ended[token]
	a := t.waiting[token]
	switch {
	case a != nil:
		return a, nil
	case ended:
		return nil, ErrTaskTimedOut
	case !isUUID(token):
		return nil, ErrInvalidToken
	default:
		return nil, ErrTaskDoesNotExist
	}
}

// SendTaskSuccess ends the Task of the token with the output, which is JSON. Errors:
// ErrInvalidToken, ErrTaskDoesNotExist, ErrTaskTimedOut, ErrInvalidOutput and
// ErrWorldClosed.
func (w *World) SendTaskSuccess(token string, output []byte) error {
	value, err := decode(output)
	if err != nil {
		return errors.Join(ErrInvalidOutput, err)
	}
	return w.answer(token, Reply{Output: value}, nil)
}

// SendTaskFailure fails the Task of the token. Both texts may be empty. Its errors are
// those of SendTaskSuccess.
func (w *World) SendTaskFailure(token, name, cause string) error {
	return w.answer(token, Reply{}, &TaskError{Name: name, Cause: cause})
}

func (w *World) answer(token string, reply Reply, failed error) error {
	a, err := w.task(token)
	if err != nil {
		return err
	}
	waited := false
	err = a.strand.x.run.ask(func() { waited = !a.queued && a.takeAnswer(reply, failed) })
	if err == nil && !waited {
		return ErrTaskTimedOut
	}
	return err
}

// SendTaskHeartbeat tells that the Task of the token is alive. Its errors are those of
// SendTaskSuccess.
func (w *World) SendTaskHeartbeat(token string) error {
	a, err := w.task(token)
	if err != nil {
		return err
	}
	alive := false
	err = a.strand.x.run.ask(func() {
		alive = !a.done && a.answered == nil && !a.queued && a.strand.alive()
		if alive && a.strand.x.run.keep(record{Kind: heartbeatRecord, Number: a.number}) {
			a.watch()
		}
	})
	if err == nil && !alive {
		return ErrTaskTimedOut
	}
	return err
}

func isUUID(text string) bool {
	const length = len("00000000-0000-0000-0000-000000000000")
	if len(text) != length {
		return false
	}
	for i := range length {
		c := text[i]
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash && c != '-' || !dash && !hex {
			return false
		}
	}
	return true
}

// activityStarted hands an attempt of an activity out to a worker.
func (a *attempt) activityStarted(worker string) bool {
	if a.done || !a.queued || !a.strand.alive() || !a.strand.x.run.keep(record{Kind: handOutRecord, Number: a.number, Name: worker}) {
		return false
	}
	a.queued, a.submitted = false, true
	a.strand.record(ActivityStarted, Details{WorkerName: worker})
	a.strand.x.run.current = a.strand
	a.watch()
	return a.strand.alive()
}
