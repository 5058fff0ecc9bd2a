package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// maxTakeovers bounds how often one invocation looks at the record again after
// another has changed it under its hands.
const maxTakeovers = 3

// RunJob starts the job that the event asks for, or finds that it has been
// started. It writes the start record before it starts the job, so that its
// own retry, a second invocation or a successor of a dead one sees it. It
// returns the status RUNNING and the wait before the first check, or the
// stored result of a job that has ended. Errors carry the Error names.
//
// The event of a Task that waits for a callback has the Task's token. RunJob then lets
// Collect know of the wait, by the record and a message of the queue, and what it returns
// is of no account.
func (p *Handler) RunJob(ctx context.Context, payload json.RawMessage) (*Result, error) {
	work, killed, cancel := limitWork(ctx, defaultInvocation)
	defer cancel()
	event, err := ParseEvent(payload)
	defer func() { p.logPanic(ctx, event.Key, recover()) }()
	var result *Result
	if err == nil {
		result, err = p.runJob(work, killed, event)
	}
	p.log(ctx, "run-job", event, result, err)
	return result, border(err)
}

func (p *Handler) runJob(ctx context.Context, killed time.Time, event Event) (*Result, error) {
	request, driver, err := p.parseRequest(event.request)
	if err != nil {
		return nil, err
	}
	if err := p.checkCallback(event); err != nil {
		return nil, err
	}
	s := &starter{
		Handler: p, event: event, request: request, driver: driver, killed: killed,
		job: jobs.Request{Arguments: request.arguments, Token: event.Key.Token(event.ExecutionTime)},
	}
	result, err := s.run(ctx)
	return result, about(err, request.Job, s.id)
}

// run starts the job, or finds that it has been started.
func (s *starter) run(ctx context.Context) (*Result, error) {
	if s.request.dropped != nil {
		return s.resumeDropped(ctx)
	}
	rec, err := s.record()
	if err != nil {
		return nil, err
	}
	stored, err := s.Store.Create(ctx, s.event.Key, rec)
	switch {
	case err == nil:
		return s.start(ctx, stored)
	case errors.Is(err, startrecord.ErrExists):
		return s.resume(ctx)
	default:
		return nil, storeError(err)
	}
}

// starter is one invocation's attempt to get a job started.
type starter struct {
	*Handler

	event   Event
	request *Request
	driver  jobs.Driver
	job     jobs.Request
	// killed is when Lambda ends the invocation if it has not ended by itself.
	killed time.Time
	// started is set once this invocation has recorded a start.
	started bool
	// id is that of the job, for the log, once this invocation has started it.
	id string
	// uncertain: an owner of the record before this invocation may have
	// started the job.
	uncertain bool
}

// record is the record of a first start.
func (s *starter) record() (startrecord.Record, error) {
	request, err := json.Marshal(s.request)
	if err != nil {
		return startrecord.Record{}, failWith(ErrorInvalidRequest, err)
	}
	now := s.Now().UTC()
	return startrecord.Record{
		ExecutionStartTime: s.event.ExecutionTime, RedriveCount: s.event.RedriveCount,
		Status: startrecord.StatusStarting, Generation: 1,
		StartedAt: now, LeaseSeconds: s.lease(), Token: s.job.Token,
		RequestHash: s.request.hash, Request: request, Callback: s.event.callback(),
		ExpiresAt: now.Add(s.Retention),
	}, nil
}

// lease is how long this invocation may still act: what is left of it, and the
// margin for a request that it has already sent when it is killed.
func (s *starter) lease() int {
	// The deadline is the Lambda service's, so the service's clock and not
	// s.Now, which may be virtual, says what is left.
	return seconds(max(0, time.Until(s.killed)) + s.LeaseMargin)
}

// resume decides what to do about a record that is there already.
func (s *starter) resume(ctx context.Context) (*Result, error) {
	for range maxTakeovers {
		stored, err := s.Store.Load(ctx, s.event.Key)
		if err != nil {
			return nil, storeError(err)
		}
		result, err := s.follow(ctx, stored)
		if !errors.Is(err, startrecord.ErrChanged) {
			return result, err
		}
	}
	return nil, fail(ErrorJobStartInProgress, "other invocations keep changing the start record %s", s.place(s.event.Key))
}

// resumeDropped goes on with a start of before the job was dropped, and begins none. A
// record that was read late may hide that start: a write shows that it does not. Where
// there is no record none is written: it would stand in the way of a corrected request.
func (s *starter) resumeDropped(ctx context.Context) (*Result, error) {
	stored, err := s.Store.Load(ctx, s.event.Key)
	rec := stored.Record
	switch {
	case errors.Is(err, startrecord.ErrNotFound):
		return nil, s.request.dropped
	case err != nil:
	case rec.ExecutionStartTime.Before(s.event.ExecutionTime), rec.Status == startrecord.StatusFailed && rec.JobRef == nil:
		_, err = s.replace(ctx, s.event.Key, rec, stored.Version)
	default:
		return s.resume(ctx)
	}
	switch {
	case err == nil:
		return nil, s.request.dropped
	case errors.Is(err, startrecord.ErrChanged):
		return nil, fail(ErrorStoreUnavailable, "the start record %s has changed meanwhile, or the store has returned an old answer: retry",
			s.place(s.event.Key))
	default:
		return nil, storeError(err)
	}
}

// follow does what the stored record asks for. It returns
// startrecord.ErrChanged if another has changed the record meanwhile.
func (s *starter) follow(ctx context.Context, stored startrecord.Stored) (*Result, error) {
	rec, location := stored.Record, s.place(s.event.Key)
	switch began := rec.ExecutionStartTime; {
	case began.Before(s.event.ExecutionTime) && liveLease(stored):
		// Its execution cannot have been closed for as long as a name is kept.
		return nil, inProgress(stored)
	case began.Before(s.event.ExecutionTime):
		return s.startAfresh(ctx, stored)
	case began.After(s.event.ExecutionTime):
		return nil, fail(ErrorConflict, "the start record %s belongs to a later execution of this name, which began at %s: this execution must have ended",
			location, began.Format(time.RFC3339Nano))
	case rec.RequestHash != s.request.hash:
		return nil, fail(ErrorConflict, "the start record %s belongs to another request: "+
			"give each poller of an execution its own Poller name, and each iteration its own Scope; "+
			"or start the execution with the same input as before, or under another name", location)
	case rec.JobRef != nil && s.event.claim(&rec.Callback):
		return s.attach(ctx, stored, rec.Callback)
	case rec.JobRef != nil:
		if _, err := s.renew(ctx, s.event.Key, stored, s.request); err != nil {
			return nil, replaceError(err)
		}
		return s.replay(rec)
	case rec.Status == startrecord.StatusUnknown:
		// The write shows that nobody has found the job since the record was read.
		if _, err := s.replace(ctx, s.event.Key, rec, stored.Version); err != nil {
			return nil, replaceError(err)
		}
		return nil, s.unknown(nil)
	case liveLease(stored):
		return nil, inProgress(stored)
	default:
		return s.takeOver(ctx, stored)
	}
}

// liveLease tells whether another invocation may be starting the job.
func liveLease(stored startrecord.Stored) bool {
	return stored.Record.Status == startrecord.StatusStarting && stored.Age <= leaseOf(stored.Record)
}

func inProgress(stored startrecord.Stored) *Error {
	return fail(ErrorJobStartInProgress, "another invocation is starting the job, or died while starting it; its lease of %d s is %s old",
		stored.Record.LeaseSeconds, stored.Age)
}

// leaseOf is the age at which the lease of a record is over. Ages are exact to
// a second; a lease of 0 has been given back.
func leaseOf(rec startrecord.Record) time.Duration {
	if rec.LeaseSeconds == 0 {
		return -1
	}
	return time.Duration(rec.LeaseSeconds+1) * time.Second
}

// startAfresh starts the job of an execution whose name an earlier one has
// used, which has been closed for 90 days: Step Functions frees no name before.
// It returns startrecord.ErrChanged if another was faster.
func (s *starter) startAfresh(ctx context.Context, earlier startrecord.Stored) (*Result, error) {
	rec, err := s.record()
	if err != nil {
		return nil, err
	}
	rec.Generation += earlier.Record.Generation
	rec.Callback.Number = earlier.Record.Callback.Number // older messages have no effect
	rec.Callback.Wait += earlier.Record.Callback.Wait
	stored, err := s.replace(ctx, s.event.Key, rec, earlier.Version)
	if err != nil {
		return nil, replaceError(err)
	}
	return s.start(ctx, stored)
}

// takeOver makes this invocation the owner of a record whose owner has died,
// has given it back, or was refused, and starts the job if that is safe. It
// returns startrecord.ErrChanged if another was faster.
func (s *starter) takeOver(ctx context.Context, stored startrecord.Stored) (*Result, error) {
	rec := stored.Record
	// FAILED without a job is a refusal: the service said that there is none.
	s.uncertain = rec.Status == startrecord.StatusStarting
	if s.uncertain && !s.canRepeat(rec) {
		rec.Status = startrecord.StatusUnknown
		if _, err := s.replace(ctx, s.event.Key, rec, stored.Version); err != nil {
			return nil, replaceError(err)
		}
		s.countUnknown()
		return nil, s.unknown(nil)
	}
	rec.Status, rec.Generation, rec.LeaseSeconds = startrecord.StatusStarting, rec.Generation+1, s.lease()
	rec.RedriveCount = s.event.RedriveCount
	s.event.claim(&rec.Callback)
	stored, err := s.replace(ctx, s.event.Key, rec, stored.Version)
	if err != nil {
		return nil, replaceError(err)
	}
	if finder, ok := s.driver.(jobs.Finder); ok && s.uncertain {
		call, cancel := callLimit(ctx)
		ref, found, err := finder.Find(call, s.job)
		cancel()
		if err != nil {
			return nil, s.startError(ctx, stored, err)
		}
		if found {
			return s.recordStart(ctx, stored, ref)
		}
	}
	return s.start(ctx, stored)
}

// canRepeat tells whether the job may be started once more although it may be
// running: the driver can find the job, or the service remembers the token, and
// will until the last request that this invocation sends.
func (s *starter) canRepeat(rec startrecord.Record) bool {
	if _, ok := s.driver.(jobs.Finder); ok {
		return true
	}
	last := s.Now().Add(time.Duration(s.lease()) * time.Second)
	return s.driver.Idempotency(s.job).Remembers(last.Sub(rec.StartedAt))
}

// start starts the job as the owner of the record stored.
func (s *starter) start(ctx context.Context, stored startrecord.Stored) (*Result, error) {
	if deadline, _ := ctx.Deadline(); time.Until(deadline) < minStart || ctx.Err() != nil {
		return nil, s.startError(ctx, stored, goerror.Mark(awserror.NotSent, errors.New("no time was left to start the job: nothing was sent")))
	}
	call, cancel := callLimit(ctx)
	defer cancel()
	call, sending := goerror.Watch(call)
	ref, err := s.driver.Start(call, s.job)
	if err != nil {
		return nil, s.startError(ctx, stored, sending.Mark(err))
	}
	return s.recordStart(ctx, stored, ref)
}

// recordStart records that the job runs.
func (s *starter) recordStart(ctx context.Context, stored startrecord.Stored, ref jobs.Ref) (*Result, error) {
	if len(ref) == 0 {
		return nil, s.startError(ctx, stored, fmt.Errorf("%s returned no reference to the job", s.request.Job))
	}
	text, err := json.Marshal(ref)
	if err != nil {
		return nil, failWith(ErrorServiceUnavailable, err)
	}
	s.id = idOf(ref)
	result, err := s.recordStarted(ctx, stored, text)
	if errors.Is(err, startrecord.ErrChanged) {
		return s.overtaken(ctx, stored.Record, text)
	}
	return result, err
}

func (s *starter) recordStarted(ctx context.Context, stored startrecord.Stored, ref json.RawMessage) (*Result, error) {
	rec := stored.Record
	rec.Status, rec.JobRef = startrecord.StatusStarted, ref
	replace, waits := s.replace, s.event.TaskToken != "" && rec.Callback.TaskToken == s.event.TaskToken
	if waits {
		s.await(ctx, &rec)
		replace = s.replaceIndexed
	}
	stored, err := replace(ctx, s.event.Key, rec, stored.Version)
	switch {
	case errors.Is(err, startrecord.ErrChanged):
		return nil, err
	case err != nil:
		return nil, s.reportOrphan(ctx, err)
	}
	s.started = true
	s.measure(s.request.Job, s.event.Key.ExecutionARN, countOf("JobsStarted"))
	if waits {
		if err := s.announce(ctx, stored.Record); err != nil {
			return nil, err
		}
	}
	return s.replay(stored.Record)
}

// reportOrphan logs and returns the error of a job that has started without a start record.
// The next call finds it by its token or name, if the store works by then. Else it runs on
// unwatched, and the log has what a person needs to find it.
func (s *starter) reportOrphan(ctx context.Context, cause error) error {
	adopt, _ := s.settleCommands()
	failure := failBecause(storeError(cause).Name, cause, "%s has started, but its start record could not be written (the log has its id)", word(s.request.Job))
	failure.add(". Mend the store, then retry")
	if adopt != "" {
		failure.add(", or give the job to the record with: " + adopt)
	}
	attrs := append(namesOf(s.event.Key), jobAttrs(s.request.Job, s.id)...)
	s.Log.ErrorContext(ctx, "a job has started, but its start record could not be written", append(attrs, "reason", reason(failure))...)
	if failure.Name == ErrorConfiguration || !s.canRepeat(startrecord.Record{StartedAt: s.Now()}) {
		s.countUnknown()
	}
	return failure
}

// overtaken decides what counts when a successor took over while the start call
// of this invocation lasted: what the successor knows of the job. Where it gave
// up because it could not know, it started nothing, so the job of this
// invocation is the only one.
func (s *starter) overtaken(ctx context.Context, mine startrecord.Record, ref json.RawMessage) (*Result, error) {
	stored, err := s.Store.Load(ctx, s.event.Key)
	if err != nil {
		return nil, s.reportOrphan(ctx, err)
	}
	if rec := stored.Record; rec.Status == startrecord.StatusUnknown && rec.Generation == mine.Generation && rec.Token == mine.Token {
		result, err := s.recordStarted(ctx, stored, ref)
		if !errors.Is(err, startrecord.ErrChanged) {
			return result, err
		}
	}
	return s.resume(ctx)
}

// startError keeps in the record what the failed call means, and names the
// error.
func (s *starter) startError(ctx context.Context, stored startrecord.Stored, cause error) error {
	var failure *Error
	class, job := goerror.Classify(cause), word(s.request.Job)
	switch {
	case errors.Is(cause, jobs.ErrArguments):
		failure = invalid(cause)
	case goerror.WithoutCredentials(cause):
		failure = failBecause(ErrorConfiguration, cause, "%s: no usable AWS credentials; configure them or give the function a role", job)
	case class == awserror.Refused:
		failure = failBecause(ErrorFailed, cause, "%s was refused", job)
		if answer := refusal(cause, s.driver, access.ForStart); answer != "" {
			failure.ownWords = fmt.Sprintf("%s was refused: %s", job, answer)
		}
	case class == awserror.NotSent:
		failure = failBecause(ErrorServiceUnavailable, cause, "%s has not started", job)
	case class == awserror.Throttled:
		failure = failBecause(ErrorServiceUnavailable, cause, "%s was throttled", job)
	default:
		failure = failBecause(ErrorServiceUnavailable, cause, "%s may or may not have started", job)
		failure.ownWords = fmt.Sprintf("%s may or may not have started: %s", job, causeInDriver(cause))
	}
	rec := stored.Record
	switch {
	case !class.MayHaveActed() && !s.uncertain:
		rec.Status, rec.LeaseSeconds = startrecord.StatusFailed, 0
	case !s.canRepeat(rec):
		rec.Status, rec.LeaseSeconds = startrecord.StatusUnknown, 0
		failure = s.unknown(cause)
	case s.driver.Idempotency(s.job).Class == jobs.ByToken:
		rec.LeaseSeconds = 0
	default:
		// Find would miss a job that the service is about to start.
		rec.LeaseSeconds = seconds(s.LeaseMargin)
	}
	// If this write fails too, the lease ends by itself and the next call
	// takes over.
	last := time.Now().Add(s.LeaseMargin)
	if end := s.killed.Add(-minReserve / 2); end.Before(last) {
		last = end
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), last)
	defer cancel()
	if _, err := s.replace(ctx, s.event.Key, rec, stored.Version); err != nil {
		s.Log.WarnContext(ctx, "the lease of the start record could not be released", append(namesOf(s.event.Key), "reason", reason(err))...)
	} else if rec.Status == startrecord.StatusUnknown {
		s.countUnknown()
	}
	return failure
}

// replay returns the result of a job that is known to have been started.
func (s *starter) replay(rec startrecord.Record) (*Result, error) {
	if s.event.hasEnd(rec) {
		result, err := readResult(rec)
		if err == nil {
			result.logged.job = s.request.Job
		}
		return result, err
	}
	ref, err := readRef(rec, s.place(s.event.Key))
	if err != nil {
		return nil, err
	}
	elapsed := s.event.waitTime(rec, s.Now())
	wait := max(0, s.request.Schedule(s.event.Key).First()-elapsed)
	return &Result{
		Status: pollcore.Running, WaitSeconds: seconds(wait),
		StartedAt: rec.StartedAt, ElapsedSeconds: int(elapsed.Seconds()),
		Job: ref, Reason: "the job has started",
		logged: logged{job: s.request.Job, replayed: !s.started},
	}, nil
}

// countUnknown counts a start whose record has become UNKNOWN.
func (s *starter) countUnknown() {
	s.measure(s.request.Job, s.event.Key.ExecutionARN, countOf("StartsUnknown"))
}

// unknown is the error of a start of which nobody knows whether it started the job. The
// cause is nil where an earlier invocation has had it.
func (s *starter) unknown(cause error) *Error {
	protection := "does not protect it from a second start"
	if i := s.driver.Idempotency(s.job); i.Class == jobs.ByToken {
		protection = fmt.Sprintf("remembers a start's token for only %s", i.Window)
	}
	failure := fail(ErrorJobStartUnknown, "a call may have started the job, and %s %s", word(s.request.Job), word(protection))
	if cause != nil {
		failure = failBecause(ErrorJobStartUnknown, cause, "a call may have started the job, and %s %s", word(s.request.Job), word(protection))
	}
	adopt, abandon := s.settleCommands()
	if adopt == "" {
		failure.add(". " + noCommand)
		return failure
	}
	failure.add(fmt.Sprintf(". Find out whether it runs, tell the start record %s, and redrive the execution.\nIf it runs: %s\nIf it does not: %s",
		s.place(s.event.Key), adopt, abandon))
	return failure
}

// replaceError passes startrecord.ErrChanged on, for the caller to look again.
func replaceError(err error) error {
	if err == nil || errors.Is(err, startrecord.ErrChanged) {
		return err
	}
	return storeError(err)
}

// readRef is the reference of a job that has been started, in the record of a place.
func readRef(rec startrecord.Record, place word) (ref jobs.Ref, err error) {
	if err := json.Unmarshal(rec.JobRef, &ref); err != nil {
		return nil, failBecause(ErrorConfiguration, err, "the job reference in %s cannot be read", place)
	}
	return ref, nil
}

// readResult is the result of a job that has ended.
func readResult(rec startrecord.Record) (*Result, error) {
	var result Result
	decoder := json.NewDecoder(bytes.NewReader(jsontree.DigitsOnly(rec.Result)))
	decoder.UseNumber()
	result.logged.replayed = true
	if err := decoder.Decode(&result); err != nil {
		return nil, failBecause(ErrorConfiguration, err, "the result in the start record cannot be read")
	}
	return &result, nil
}
