package handler

import (
	"context"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// checkCallback returns an error for the event of a Task that waits for a callback if
// this function cannot let Collect know of it.
func (p *Handler) checkCallback(event Event) error {
	switch {
	case event.TaskToken == "":
		return nil
	case p.Queue == nil:
		return fail(ErrorConfiguration, "the Task waits for a callback, and this function has no queue: "+
			"set %s to the queue of the collector, or remove .waitForTaskToken from the state's Resource", word(EnvQueueURL))
	case p.index == nil:
		return fail(ErrorConfiguration, "the Task waits for a callback, and the store of this function does not find a record by its job: "+
			"keep the start records in DynamoDB (%s), or remove .waitForTaskToken from the state's Resource", word(EnvTable))
	default:
		return nil
	}
}

// callback is that of the Task that the event is of; zero if it waits for none.
func (e Event) callback() startrecord.Callback {
	if e.TaskToken == "" {
		return startrecord.Callback{}
	}
	return startrecord.Callback{
		Wait: 1, TaskToken: e.TaskToken, RedriveCount: e.RedriveCount, RedriveTime: e.RedriveTime, EnteredAt: e.EnteredTime, RetryCount: e.RetryCount,
	}
}

// claim gives a record's callback to the Task of this event, and reports whether it has.
// It has not if the Task waits for none, or if a newer one has the callback: then nobody
// waits for this one any more.
func (e Event) claim(c *startrecord.Callback) bool {
	mine := e.callback()
	if mine.TaskToken == "" || c.NewerThan(mine) {
		return false
	}
	mine.Number, mine.MessageID, mine.JobIDs, mine.Wait = c.Number, c.MessageID, c.JobIDs, c.Wait
	if mine.TaskToken != c.TaskToken {
		mine.Wait++
	}
	if mine.RedriveCount == c.RedriveCount { // else the wait begins anew
		mine.Attempt, mine.DueAt = c.Attempt, c.DueAt
	}
	*c = mine
	return true
}

// attach lets the Task of this event be answered for a job that has been started: also
// for one that has ended, for there is one place from which Tasks are answered. It
// returns startrecord.ErrChanged if another was faster.
func (s *starter) attach(ctx context.Context, stored startrecord.Stored, c startrecord.Callback) (*Result, error) {
	rec := stored.Record
	rec.Callback = c
	s.await(ctx, &rec)
	if s.event.hasEnd(rec) {
		rec.Callback.DueAt = s.Now().UTC()
	}
	stored, err := s.replaceIndexed(ctx, s.event.Key, rec, stored.Version)
	if err != nil {
		return nil, replaceError(err)
	}
	if err := s.announce(ctx, stored.Record); err != nil {
		return nil, err
	}
	return s.replay(stored.Record)
}

// await lets the record of a job that has been started say when its next poll is due, and
// what events call the job. announce sends the message of that poll, which the record does
// not name: the first visit does.
func (s *starter) await(ctx context.Context, rec *startrecord.Record) {
	c, now := &rec.Callback, s.Now().UTC()
	if c.DueAt.IsZero() {
		c.DueAt = now.Add(s.request.Schedule(s.event.Key).First() - s.event.waitTime(*rec, now))
	}
	c.JobIDs = s.jobIDs(ctx, *rec)
}

// jobIDs are what the record is found by when an event tells of its job.
func (s *starter) jobIDs(ctx context.Context, rec startrecord.Record) []string {
	announcer, ok := s.driver.(jobs.Announcer)
	if !ok {
		return nil
	}
	ref, err := readRef(rec, s.place(s.event.Key))
	var ids []string
	if err == nil {
		ids, err = announcer.JobIDs(ref)
	}
	if err != nil { // its polls will find the end
		s.Log.WarnContext(ctx, "events cannot tell of the job", append(namesOf(s.event.Key), "reason", reason(err))...)
		return nil
	}
	for i, id := range ids {
		ids[i] = indexID(s.driver.Name(), id)
	}
	return ids
}

// indexID is what a store finds the record by of the job that has the id in events. Ids
// are not distinct between the jobs of a service.
func indexID(job, id string) string { return job + "/" + id }

// announce sends a message for the record. If it fails, so does the Task, and its Retry
// sends another one.
func (s *starter) announce(ctx context.Context, rec startrecord.Record) error {
	c := rec.Callback
	setNextMessage(&c, nil)
	message := newWakeUp(s.event.Key, c).message(c.DueAt, s.Now())
	for _, err := range s.Queue.Send(ctx, []Message{message}) {
		if err != nil {
			return queueError(err)
		}
	}
	return nil
}
