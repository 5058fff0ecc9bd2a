package handler

import (
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// DefaultPoller is the poller of the bare event form, which names none.
const DefaultPoller = "default"

// Event is what a state machine sends either handler, in one of two forms:
// the bare context object ("Payload.$": "$$"), or
//
//	{"Context": <context object>, "Input": <state input>, "Poller": "ExportOrders", "Scope": "3"}
//
// and only Context is required.
type Event struct {
	Key           startrecord.Key
	ExecutionTime time.Time // Execution.StartTime
	// RedriveCount and RedriveTime say how often and when last the execution
	// was redriven: continued, under its ARN, from the state that failed.
	RedriveCount int
	RedriveTime  time.Time
	// Bare is set for the first form, which has no place to count attempts.
	Bare bool
	// EnteredTime and RetryCount are the context's State.EnteredTime, zero if it has
	// none, and State.RetryCount.
	EnteredTime time.Time
	RetryCount  int
	// TaskToken is the context's Task.Token: of a Task that waits for a callback.
	TaskToken string
	// LastAttempt is what Input says of the check before: its attempt, 0 if
	// Input is the result of RunJob, -1 if there is no Input.
	LastAttempt int

	request *jsontree.Node // where RunJob finds the request, or nil
}

// attempt is the number of a check, from 1, or 0 if nobody counts: in the bare
// form, or without an Input. Where the Retry block is the loop, its retries
// are the checks.
func (e Event) attempt(q *Request) int {
	switch {
	case e.Bare:
		return 0
	case q.OnRunning == onRunningError, q.OnRunning == onRunningDelay:
		return e.RetryCount + 1
	default:
		return e.LastAttempt + 1
	}
}

// hasEnd tells whether a record holds how the job ended. A redrive gives a job
// that had timed out new time.
func (e Event) hasEnd(rec startrecord.Record) bool {
	timedOutBefore := rec.Status == startrecord.StatusTimedOut && e.RedriveCount > rec.RedriveCount
	return rec.Status.Terminal() && rec.Result != nil && !timedOutBefore
}

// waitTime is how much of the wait has passed. It begins with the job, and anew
// when the execution is redriven.
func (e Event) waitTime(rec startrecord.Record, now time.Time) time.Duration {
	since := rec.StartedAt
	if e.RedriveTime.After(since) {
		since = e.RedriveTime
	}
	return max(0, now.Sub(since))
}

// beginsWithPoll tells whether the last redrive found the job started, so that its wait
// begins with a poll. A redrive that starts the job begins with the first delay.
func (e Event) beginsWithPoll(rec startrecord.Record) bool {
	return e.RedriveTime.After(rec.StartedAt) && e.RedriveCount > rec.RedriveCount
}

// ParseEvent reads either form. Its error is a *Error with the name
// ErrorInvalidRequest that lists every problem with its place.
func ParseEvent(payload []byte) (Event, error) {
	if len(payload) > jobs.MaxPayloadBytes {
		return Event{}, fail(ErrorInvalidRequest,
			"event has %d bytes, and Step Functions passes at most %d to a task: keep large data in S3 and pass its key",
			len(payload), jobs.MaxPayloadBytes)
	}
	doc, err := jsontree.Parse(payload)
	if err != nil {
		return Event{}, invalid(err)
	}
	r := eventReader{jsontree.Reader{HideStrings: true}}
	e := r.event(doc.Root)
	if err := r.Problems.Err(); err != nil {
		return Event{}, invalid(err)
	}
	if err := e.Key.Validate(); err != nil {
		return Event{}, invalid(err)
	}
	return e, nil
}

type eventReader struct{ jsontree.Reader }

func (r *eventReader) event(n *jsontree.Node) Event {
	e := Event{Key: startrecord.Key{Poller: DefaultPoller}, LastAttempt: -1}
	switch {
	case n.Kind == jsontree.Object && n.Get("Context") != nil:
		var input *jsontree.Node
		n.Drop(parentPrefix)
		r.Object(n, "the event", map[string]func(*jsontree.Node){
			"Context": func(n *jsontree.Node) { r.context(n, &e) },
			"Input":   func(n *jsontree.Node) { input = n },
			"Poller":  r.Text(&e.Key.Poller),
			"Scope":   r.scope(&e.Key.Scope),
		})
		if input != nil {
			e.request, e.LastAttempt = input, 0
			if last := input.Get("attempt"); last != nil {
				r.Int(&e.LastAttempt, 0, math.MaxInt32)(last)
			}
		}
	case n.Kind == jsontree.Object && n.Get("Execution") != nil:
		e.Bare = true
		r.context(n, &e)
	default:
		r.Report(n.Problem(`expected the context object ("Payload.$": "$$") or an object with a member "Context", found %s`, n.Kind))
	}
	return e
}

// context reads what is needed of the context object. It may hold more: AWS
// adds members.
func (r *eventReader) context(n *jsontree.Node, e *Event) {
	execution := n.Get("Execution")
	if execution == nil || execution.Kind != jsontree.Object {
		r.Report(n.Missing("Execution", `the context object needs the member "Execution"`))
		return
	}
	need := func(name string, read func(*jsontree.Node)) {
		if v := execution.Get(name); v != nil {
			read(v)
		} else {
			r.Report(execution.Missing(name, "Execution needs the member %q", word(name)))
		}
	}
	need("Id", r.Text(&e.Key.ExecutionARN))
	need("StartTime", r.time(&e.ExecutionTime))
	if v := execution.Get("RedriveCount"); v != nil {
		r.Int(&e.RedriveCount, 0, math.MaxInt32)(v)
	}
	if e.RedriveCount > 0 {
		// Without it a redriven wait would end at once.
		need("RedriveTime", r.time(&e.RedriveTime))
	}
	if state := n.Get("State"); state != nil {
		if v := state.Get("EnteredTime"); v != nil {
			r.time(&e.EnteredTime)(v)
		}
		if v := state.Get("RetryCount"); v != nil {
			r.Int(&e.RetryCount, 0, math.MaxInt32)(v)
		}
	}
	if task := n.Get("Task"); task != nil && task.Get("Token") != nil {
		r.Text(&e.TaskToken)(task.Get("Token"))
	}
	if e.request = execution.Get("Input"); e.request != nil && e.request.Kind == jsontree.Null {
		e.request = nil
	}
}

func (r *eventReader) time(to *time.Time) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		t, err := time.Parse(time.RFC3339, n.Text)
		if n.Kind != jsontree.String || err != nil {
			r.Report(n.Problem("expected an RFC 3339 time such as 2026-01-02T15:04:05Z, found %s", n.Kind))
		}
		*to = t
	}
}

// scope reads a string or a whole number: a Map state's index is a number. Its
// digits are the scope, so that 60 and 60.0 are the same one.
func (r *eventReader) scope(to *string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		if n.Kind != jsontree.Number {
			r.Text(to)(n)
			return
		}
		digits, ok := jsontree.WholeNumber(n.Text)
		if !ok || strings.HasPrefix(digits, "-") {
			r.Report(n.Problem("expected a string, or a whole number that is not negative, found %s", n.Describe()))
		}
		*to = digits
	}
}
