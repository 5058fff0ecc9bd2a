package sim

import "context"

// ActivityTask waits for a Task of the activity and hands it to the worker, whose name
// may be empty. The token is empty if ctx ends first. The error is ErrWorldClosed.
func (w *World) ActivityTask(ctx context.Context, activity, worker string) (token string, input []byte, err error) {
	for {
		a, err := w.nextTask(ctx, activity)
		if a == nil || err != nil {
			return "", nil, err
		}
		started := false
		if err := a.strand.x.run.ask(func() { started = a.activityStarted(worker) }); err != nil {
			return "", nil, err
		}
		if started {
			return a.call.TaskToken, newPayload(a.call.Arguments).JSON(), nil
		}
	}
}

// nextTask waits for an attempt; nil if ctx ends first.
func (w *World) nextTask(ctx context.Context, activity string) (*attempt, error) {
	t := &w.tasks
	t.mu.Lock()
	q := t.queueOf(activity)
	if next := q.attempts.Front(); next != nil {
		a := q.attempts.Remove(next).(*attempt) //nolint:forcetypeassert // the list has no others
		a.place = nil
		t.tidy(activity)
		t.mu.Unlock()
		return a, nil
	}
	poller := make(chan *attempt, 1)
	place := q.pollers.PushBack(poller)
	t.mu.Unlock()
	var err error
	select {
	case a := <-poller:
		return a, nil
	case <-ctx.Done():
	case <-w.ctx.Done():
		err = w.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case a := <-poller: // it came just now: it goes to the next
		t.offer(a, true)
	default:
		q.pollers.Remove(place)
	}
	t.tidy(activity)
	return nil, err
}
