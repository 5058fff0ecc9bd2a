package handler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Error names that the handlers raise. Retry and Catch blocks match them
// verbatim.
const (
	// ErrorRunning: the job runs, and the request asked for an error
	// (onRunning), so that a Retry block can be the loop. Where it asked for the
	// delay, a dot and the seconds until the next check follow, as in
	// JobPoller.Running.45: one of the delays of its schedule.
	ErrorRunning = "JobPoller.Running"
	// ErrorFailed: the job has failed and the request asked for an error
	// (endAs), or the service refused to start it.
	ErrorFailed = "JobPoller.Failed"
	// ErrorTimedOut: the deadline has passed and the request asked for an
	// error (endAs).
	ErrorTimedOut = "JobPoller.TimedOut"
	// ErrorJobStartInProgress: another invocation is starting the job, or died
	// over it. Retry until its lease is over.
	ErrorJobStartInProgress = "JobPoller.JobStartInProgress"
	// ErrorJobStartUnknown: the job may or may not have been started, and
	// starting it again is not safe.
	ErrorJobStartUnknown = "JobPoller.JobStartUnknown"
	// ErrorInvalidRequest: the event or the request in it is wrong.
	ErrorInvalidRequest = "JobPoller.InvalidRequest"
	// ErrorUnknownJob: the function has no driver for the job.
	ErrorUnknownJob = "JobPoller.UnknownJob"
	// ErrorStoreUnavailable: the store of start records does not answer.
	// Retrying is safe.
	ErrorStoreUnavailable = "JobPoller.StoreUnavailable"
	// ErrorConfiguration: the store cannot be used as it is set up (a missing
	// bucket, a denied access), or holds what is not a start record. Retrying
	// does not help.
	ErrorConfiguration = "JobPoller.Configuration"
	// ErrorServiceUnavailable: the service that runs the job throttles or does
	// not answer. Retrying is safe.
	ErrorServiceUnavailable = "JobPoller.ServiceUnavailable"
	// ErrorConflict: the record of this execution, poller and scope is of
	// another request, or of a later execution of the same name.
	ErrorConflict = "JobPoller.Conflict"
)

// Error is a failure of a handler under the name that Step Functions sees.
type Error struct {
	Name    string // one of the Error constants
	Message string
	Cause   error // nil if there is none

	// ownWords are what the log says of the error: the message without what it quotes.
	// Empty if the message is the cause's.
	ownWords string
	// job and id are those of the job that the error is about, as far as they are known.
	job, id string
}

// Error implements error.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func fail(name, format string, args ...any) *Error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...), ownWords: diag.OwnWords(format, args...)}
}

func failWith(name string, cause error) *Error {
	return &Error{Name: name, Message: cause.Error(), Cause: cause}
}

// failBecause is an error whose message ends with that of its cause.
func failBecause(name string, cause error, format string, args ...any) *Error {
	failure := fail(name, format, args...)
	failure.Message, failure.Cause = failure.Message+": "+cause.Error(), cause
	if known := causeOf(cause); known != "" {
		failure.ownWords += ": " + known
	}
	return failure
}

// add adds words of ours to the end of the message.
func (e *Error) add(text string) {
	e.Message += text
	e.ownWords += text
}

// unknownJob is the error of a job without a driver. Its cause names the job and what the
// function has, and nothing else of the request.
func unknownJob(cause error) *Error {
	failure := failWith(ErrorUnknownJob, cause)
	failure.ownWords = cause.Error()
	return failure
}

// about says in an error which job it is about, for the log.
func about(err error, job, id string) error {
	if named, ok := errors.AsType[*Error](err); ok {
		named.job, named.id = job, id
	}
	return err
}

// invalid is an ErrorInvalidRequest. Whoever sees the execution reads its message, so
// problems of the event are told without the text they stand in, and without the line and
// column: Step Functions wrote that text, so nobody has it. The pointer stays.
func invalid(err error) *Error {
	failure := failWith(ErrorInvalidRequest, err)
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		told := slices.Clone(problems)
		for i := range told {
			if told[i].Pointer != "" {
				told[i].Line, told[i].Column = 0, 0
			}
		}
		failure.Message = strings.Replace(err.Error(), problems.Error(), told.Brief(), 1)
	}
	return failure
}

// storeError names an error of the store.
func storeError(err error) *Error {
	switch {
	case errors.Is(err, startrecord.ErrInvalidKey):
		return invalid(err)
	case errors.Is(err, startrecord.ErrUnavailable), errors.Is(err, startrecord.ErrNotFound): // who asks knows that the record is there
		return failWith(ErrorStoreUnavailable, err)
	default:
		return failWith(ErrorConfiguration, err)
	}
}

// readLate is the error of a record that the store must have replaced by now. To read it
// again is safe.
func readLate(location word, rec startrecord.Record) *Error {
	return fail(ErrorStoreUnavailable, "the store has returned an old version of the start record %s (status %s): read it again later", location, word(rec.Status))
}

// hasName reports whether err carries the name.
func hasName(err error, name string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Name == name
}

// border turns an error into what aws-lambda-go reports under its own name:
// only a messages.InvokeResponse_Error by value keeps its Type.
func border(err error) error {
	if named, ok := errors.AsType[*Error](err); ok {
		return messages.InvokeResponse_Error{Type: named.Name, Message: cut(named.Message, maxMessage)}
	}
	return err
}
