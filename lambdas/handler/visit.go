package handler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// early is how much before its time a poll may come: messages are delayed by whole
// seconds, and clocks differ.
const early = time.Second

// giveUpAfter is how long after the deadline a service that does not answer is asked
// again. Machines wait for a callback as long.
const giveUpAfter = 20 * time.Minute

// visit looks at one wait, because its message has come or an event tells of its job.
type visit struct {
	*Handler

	// body is the message or event, and id what SQS calls the message; empty for an
	// event that came by itself.
	body, id string
	key      startrecord.Key
	wake     *wakeUp // nil for an event
	told     bool    // an event came with the message, or it is the visit of one
	stored   startrecord.Stored
	request  *knownRequest
	check    *check // once the job is to be described
}

// outcome is what became of a visit.
type outcome int

const (
	pending   outcome = iota // the job is to be described
	outdated                 // nobody waits, or another message has the wait
	postponed                // a message is to come later, and nothing was learned
	requeued                 // the job runs, and has another message
	answered                 // the Task has its answer
	gone                     // the Task waited no longer
	failed                   // the message is to be delivered again
)

// next is the message that a visit leaves.
type next struct {
	outcome outcome
	message Message
	// callback is what the record is to say once the message is sent; nil for one that
	// says it already.
	callback *startrecord.Callback
}

// load reads the record. It returns pending if the job is to be described.
func (v *visit) load(ctx context.Context) (next, error) {
	var err error
	v.stored, err = v.Store.Load(ctx, v.key)
	if errors.Is(err, startrecord.ErrNotFound) {
		if v.wake == nil {
			return next{outcome: outdated}, nil
		}
		return next{}, fail(ErrorStoreUnavailable, "there is no start record %s, though a message asks for it: "+
			"the store has returned an old answer, or somebody has removed the record", v.place(v.key))
	}
	if err != nil {
		return next{}, storeError(err)
	}
	rec := v.stored.Record
	c, now := rec.Callback, v.Now()
	switch {
	case v.readLate():
		return next{}, readLate(v.place(v.key), rec)
	case c.TaskToken == "", v.wake != nil && v.wake.isOutdated(c), rec.JobRef == nil && !v.event().hasEnd(rec):
		return next{outcome: outdated}, nil
	}
	if v.request, err = v.requests.load(rec.Request); err != nil {
		return next{}, failBecause(ErrorConfiguration, err, "the request in %s cannot be read", v.place(v.key))
	}
	switch {
	case v.event().hasEnd(rec):
		result, err := readResult(rec)
		if err != nil {
			return next{}, err
		}
		return v.answer(ctx, v.stored, result)
	case v.wake != nil && c.DueAt.Sub(now) > early:
		return next{outcome: postponed, message: v.wake.message(c.DueAt, now)}, nil
	}
	if v.check, err = v.newCheck(v.event(), v.stored, v.request); err != nil {
		return next{}, err
	}
	once := *v.check.request
	once.DwellSeconds = 0 // others wait for this invocation
	v.check.request, v.check.attempt = &once, c.Attempt+1
	return next{outcome: pending}, nil
}

// readLate reports whether the store has answered with a record that is older than the
// message or the event: RunJob writes the Task and the job into the record before it sends
// a message, and the job before events can find the record.
func (v *visit) readLate() bool {
	rec := v.stored.Record
	withoutJob := rec.JobRef == nil && !v.event().hasEnd(rec)
	if v.wake == nil {
		return withoutJob && rec.Status == startrecord.StatusStarting
	}
	return v.wake.Wait > rec.Callback.Wait || withoutJob && !v.wake.isOutdated(rec.Callback)
}

// event is the event of the Task that waits.
func (v *visit) event() Event {
	rec := v.stored.Record
	return Event{
		Key: v.key, ExecutionTime: rec.ExecutionStartTime, RedriveCount: rec.Callback.RedriveCount, RedriveTime: rec.Callback.RedriveTime,
	}
}

// poll describes the job, unless its group has, and does what follows.
func (v *visit) poll(ctx context.Context, g *group) (next, error) {
	result, err := v.check.poll(ctx)
	switch {
	case hasName(err, ErrorServiceUnavailable):
		g.note(err)
		return v.postpone(ctx, err)
	case err != nil:
		return next{}, err
	case result.Status == pollcore.Running:
		return v.goOn(result), nil
	}
	return v.answer(ctx, v.check.stored, result)
}

// backOffDelay is the least delay before a service that throttles is asked again.
const backOffDelay = 30 * time.Second

// postpone lets the message come again because the service does not answer, without
// counting a poll. Long after the deadline it gives up.
func (v *visit) postpone(ctx context.Context, cause error) (next, error) {
	if v.check.event.waitTime(v.stored.Record, v.Now()) > v.check.request.Schedule(v.check.event.Key).Total+giveUpAfter {
		n, err := v.answerTask(ctx, v.stored, nil, cause)
		v.logEnd(ctx, n.outcome, slog.LevelWarn, errorAttrs(cause))
		return n, err
	}
	delay := v.backOff()
	if v.wake == nil { // the event's own message may be that of other jobs, too
		return v.send(postponed, v.stored.Record.Callback.Attempt, v.Now().UTC().Add(delay)), nil
	}
	return next{outcome: postponed, message: Message{v.body, delay}}, nil
}

// backOff is the delay before what throttles is asked again.
func (p *Handler) backOff() time.Duration {
	return messageDelay(backOffDelay + time.Duration(p.Random(int64(backOffDelay))))
}

// eventLag is the delay before a job is described again that still runs although an
// event has told of its end: a service may announce an end before its answers have it.
const eventLag = 15 * time.Second

// goOn leaves the message of the next poll.
func (v *visit) goOn(result *Result) next {
	now := v.Now().UTC()
	due := now.Add(time.Duration(result.WaitSeconds) * time.Second)
	if v.told {
		due = minTime(due, now.Add(eventLag))
	}
	return v.send(requeued, v.check.attempt, due)
}

// send leaves a new message of the wait, after so many polls. A visit by an event leaves
// none if the message of the wait comes as soon.
func (v *visit) send(o outcome, attempt int, due time.Time) next {
	c := v.stored.Record.Callback
	if v.wake == nil && !c.DueAt.After(due) {
		return next{outcome: outdated}
	}
	c.Attempt, c.DueAt = attempt, due
	setNextMessage(&c, v.wake)
	return next{outcome: o, message: newWakeUp(v.key, c).message(due, v.Now().UTC()), callback: &c}
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// write lets the record say which message is valid. It comes after the message: whoever
// dies between the two leaves a message that is newer than its record, and valid. If the
// record has changed meanwhile, the message is outdated, or the wait has ended.
func (v *visit) write(ctx context.Context, c startrecord.Callback) {
	rec := v.stored.Record
	rec.Callback = c
	if _, err := v.replace(ctx, v.key, rec, v.stored.Version); err != nil && !errors.Is(err, startrecord.ErrChanged) {
		v.Log.WarnContext(ctx, "the number of a message could not be written; the message is valid all the same", v.names("reason", reason(err))...)
	}
}

// answer answers the Task with how the job ended, in the form that the request asked for.
func (v *visit) answer(ctx context.Context, of startrecord.Stored, result *Result) (next, error) {
	told, failure := v.request.answer(result)
	n, err := v.answerTask(ctx, of, told, failure)
	if n.outcome == answered && result.logged.unrecorded {
		v.measure(v.request.Job, v.key.ExecutionARN, countOf(ended[result.Status]))
	}
	v.logEnd(ctx, n.outcome, result.level(), result.attrs())
	return n, err
}

// logEnd writes one record for a wait that is over.
func (v *visit) logEnd(ctx context.Context, o outcome, level slog.Level, attrs []any) {
	if message := map[outcome]string{answered: "the Task has its answer", gone: "the Task waited no longer"}[o]; message != "" {
		v.Log.Log(ctx, level, message, v.names(attrs...)...)
	}
}

// answerTask answers the Task whose token is in a record.
func (v *visit) answerTask(ctx context.Context, of startrecord.Stored, result *Result, failure error) (next, error) {
	rec := of.Record
	waited, err := v.endTask(ctx, rec.Callback.TaskToken, result, failure)
	if err != nil {
		return next{}, taskError(err)
	}
	cleared, err := v.clearToken(ctx, of, waited)
	switch {
	case waited:
		return next{outcome: answered}, nil
	case err != nil:
		return next{}, storeError(err)
	case !cleared: // another visit has answered
		return next{outcome: outdated}, nil
	}
	v.measure(v.request.Job, v.key.ExecutionARN, countOf("TasksGone"))
	return next{outcome: gone}, nil
}

// clearToken removes the token of a Task that has its answer, or waits no longer, from the
// record: so that doubled messages, and that of the wait after an event, find that nobody
// waits. It reports whether this visit has. It looks again, a few times, where the record
// has changed since it was read and the answer was of this visit.
func (v *visit) clearToken(ctx context.Context, of startrecord.Stored, waited bool) (cleared bool, err error) {
	token := of.Record.Callback.TaskToken
	for range maxTakeovers {
		of.Record.Callback.TaskToken = ""
		_, err = v.replace(ctx, v.key, of.Record, of.Version)
		if !errors.Is(err, startrecord.ErrChanged) {
			break
		}
		if !waited {
			return false, nil
		}
		if of, err = v.Store.Load(ctx, v.key); err != nil || of.Record.Callback.TaskToken != token {
			break
		}
	}
	if waited && err != nil {
		v.Log.DebugContext(ctx, "the record could not be told of the answer", v.names("error", err)...)
	}
	return err == nil, err
}

// names are those of the wait and its job in a line of the log, with more behind them.
func (v *visit) names(more ...any) []any {
	names := append(namesOf(v.key), "messageId", v.id)
	if v.request != nil {
		names = append(names, jobAttrs(v.request.Job, idOfRecord(v.stored.Record))...)
	}
	return append(names, more...)
}

// logPanic logs where a visit has panicked, if the error is that.
func (v *visit) logPanic(ctx context.Context, err error) {
	if p, ok := errors.AsType[*panicError](err); ok {
		v.Log.ErrorContext(ctx, "panic", v.names("stack", string(p.stack))...)
	}
}
