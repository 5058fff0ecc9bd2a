package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
)

// Job is an asynchronous job of a service: how it is started, described and
// stopped, and what its status means. Its name is that of the operation that
// starts it.
type Job struct {
	// Waiter is the name of the waiter that the job yields.
	Waiter string `json:"waiter"`
	// Describe is the operation that is polled.
	Describe string `json:"describe"`
	// Arguments are the members of Describe's input that select the job, each a
	// JMESPath expression over {"input": …, "output": …} of the call that
	// started it.
	Arguments map[string]string `json:"arguments"`
	// Status is the path of the job's status in Describe's output. Success,
	// Failure and Running together are all the values that the model knows, or
	// that the service documents where the model has no enum.
	Status  string   `json:"status,omitempty"`
	Success []string `json:"success,omitempty"`
	Failure []string `json:"failure,omitempty"`
	Running []string `json:"running,omitempty"`
	// Partial are the Failures after which a part of the work is done, and can be used.
	Partial []string `json:"partial,omitempty"`
	// Documented tells that the values are not an enum of the model.
	Documented bool `json:"documented,omitempty"`
	// Message is the path of the reason of a failure, if there is one.
	Message string `json:"message,omitempty"`
	// Acceptors are those of the waiter, in the Smithy form, where one status
	// does not tell.
	Acceptors json.RawMessage `json:"acceptors,omitempty"`
	// Stop is the call that stops the job, nil if there is none.
	Stop *StopCall `json:"stop,omitempty"`
	// Sync is the action of the Step Functions integration that starts the job
	// and waits for it, such as "glue:startJobRun.sync"; empty if there is none.
	Sync string `json:"sync,omitempty"`
	// Token is the member of the start call's input that makes it idempotent,
	// as the model says; empty if there is none.
	Token string `json:"token,omitempty"`
	// TokenWindow is how long the service documents to remember a token, in
	// seconds; 0 where it does not say. See [Job.Window].
	TokenWindow int `json:"tokenWindow,omitempty"`
	// UniqueName is the member of the start call's input that has the caller's name
	// of the job, where the service takes no name twice; empty if names may be
	// equal, or there are none.
	UniqueName string `json:"uniqueName,omitempty"`
	// NaturalKey is the name that a job has of its caller, by which it is found
	// again; nil if the poller does not choose one.
	NaturalKey *NaturalKey `json:"naturalKey,omitempty"`
	// Precondition is a call that must be made before the start call; nil for
	// none.
	Precondition *Precondition `json:"precondition,omitempty"`
	// JSONText are the members of the start call's input that hold JSON text.
	// Arguments may have the JSON value instead.
	JSONText []string `json:"jsonText,omitempty"`
	// Forms are the forms that members of the start call's input must have, by
	// member.
	Forms map[string]Form `json:"forms,omitempty"`
	// MinDelay and MaxDelay are the waiter's, in seconds.
	MinDelay int `json:"minDelay,omitempty"`
	MaxDelay int `json:"maxDelay,omitempty"`
	// StartTime and EndTime are the paths of the times in Describe's output at
	// which the service took the job and at which the job ended; empty if it does
	// not say.
	StartTime string `json:"startTime,omitempty"`
	EndTime   string `json:"endTime,omitempty"`
	// Dependent are the IAM actions that the service makes, or checks, on
	// behalf of who starts the job.
	Dependent []Dependent `json:"dependent,omitempty"`
	// Names say what of the start call's input names the resources of the actions,
	// by the placeholder. See [Job.On].
	Names map[string]Naming `json:"names,omitempty"`
	// SyncDelay is how many seconds pass between two looks of Step Functions at the
	// job of Sync; 0 where it is told, or nobody measured it.
	SyncDelay int `json:"syncDelay,omitempty"`
	// SyncRule is the rule that Step Functions makes in EventBridge to be told of
	// the job of Sync; empty where it makes none, or nobody knows its name.
	SyncRule string `json:"syncRule,omitempty"`
	// SyncArguments are those of Describe when the Task of Sync has ended, where
	// Arguments read the output of the start call. Each is a JMESPath expression
	// over {"output": …}: the output of the Task, or the JSON in the Cause of its
	// error States.TaskFailed. The members that it reads are strings.
	SyncArguments map[string]string `json:"syncArguments,omitempty"`
	// SyncUnknown says why there are no SyncArguments though Arguments read the
	// output of the start call.
	SyncUnknown string `json:"syncUnknown,omitempty"`
	// SyncNote is what a user of the Task of Sync must know.
	SyncNote string `json:"syncNote,omitempty"`
	// Event tells that the job has ended; nil if AWS sends none, or does not say
	// what it is like.
	Event *Event `json:"event,omitempty"`
	// Batch describes many such jobs at once; nil if no operation does.
	Batch *Batch `json:"batch,omitempty"`
	// List lists past jobs with their times; nil if the service does not tell them.
	List *ListCall `json:"list,omitempty"`
	// Topic is the path in the start call's input of an Amazon SNS topic that the
	// service tells when the job has ended; empty if the call takes none.
	Topic string `json:"topic,omitempty"`
	// Note is what a user must know.
	Note string `json:"note,omitempty"`
}

// StopCall is the call that stops a job. Arguments are as in [Job].
type StopCall struct {
	Operation string            `json:"operation"`
	Arguments map[string]string `json:"arguments"`
	// Refused tells of an answer of success whether the job was refused all the
	// same; nil if an answer of success means that it was not.
	Refused *StopRefusal `json:"refused,omitempty"`
	// TakesEnded tells that the service takes the call for a job that has ended,
	// too, and leaves the job as it is.
	TakesEnded bool `json:"takesEnded,omitempty"`
	// Statuses are those failures of the job that the call brings about; empty if a
	// status does not tell a job that was stopped from one that failed by itself.
	Statuses []string `json:"statuses,omitempty"`
}

// StopRefusal reads the answer of a stop call that succeeds whatever becomes of
// the job. All members are JMESPath expressions over the answer.
type StopRefusal struct {
	// When is true in JMESPath's sense if the job was not stopped.
	When string `json:"when"`
	// Code and Message give the service's error; they may be empty.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// NaturalKey is a name that the caller gives a job, and that the service gives
// no second one. A template is text with ${member} for a member of the start
// call's input, and ${member:n} for the n-th of its parts between colons, from 0.
type NaturalKey struct {
	// Member is the member of the start call's input that has the name.
	Member string `json:"member"`
	// Exists are the errors of a start call whose name is taken.
	Exists []string `json:"exists"`
	// NotFound are the errors of a describe call for a name that no job has.
	NotFound []ErrorText `json:"notFound"`
	// Arguments are the members of Describe's input, each a template.
	Arguments map[string]string `json:"arguments"`
}

// ErrorText is an error by its code and, if that is not empty, a part of its
// message.
type ErrorText struct {
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// Precondition is a call that tells whether what the start call would start can
// be waited for.
type Precondition struct {
	Operation string `json:"operation"`
	// Arguments are templates, as in [NaturalKey].
	Arguments map[string]string `json:"arguments"`
	// Path leads to a string of the answer. The job is not started where that is
	// Refused, for the Reason.
	Path    string `json:"path"`
	Refused string `json:"refused"`
	Reason  string `json:"reason"`
}

// Form is what a string must be like.
type Form struct {
	Pattern string `json:"pattern"` // a regular expression
	// Expected says in words what the pattern takes.
	Expected string `json:"expected"`
}

// Protection is how a service keeps a job from being started twice.
type Protection string

// The protections.
const (
	ByToken      Protection = "token"      // a token that was seen returns its job
	ByNaturalKey Protection = "naturalKey" // the name of a job finds it again
	Unprotected  Protection = "none"       // a second start is a second job
)

// Protection returns how the job is kept from being started twice.
func (j *Job) Protection() Protection {
	switch {
	case j.NaturalKey != nil:
		return ByNaturalKey
	case j.Token != "":
		return ByToken
	default:
		return Unprotected
	}
}

// ReadsStartOutput tells whether arguments of a call, as in [Job], read the output of
// the start call.
func ReadsStartOutput(arguments map[string]string) bool {
	for _, text := range arguments {
		if readsRoot(text, "output") {
			return true
		}
	}
	return false
}

// ReadsStartCall tells whether an argument of a call, as in [Job], reads the input or the output
// of the start call, and so differs between jobs.
func ReadsStartCall(argument string) bool { return readsRoot(argument, "input", "output") }

// readsRoot tells whether an expression reads one of some members of its root, or all of it.
func readsRoot(text string, members ...string) bool {
	expr, err := jmespath.Parse(text)
	if err != nil {
		return false // the importer refuses it
	}
	return slices.ContainsFunc(expr.Paths(), func(path []string) bool { return len(path) == 0 || slices.Contains(members, path[0]) })
}

// unknownWindow is relied on where no document says how long a token is
// remembered: few services document less than five minutes.
const unknownWindow = 5 * time.Minute

// Window returns how long the service is relied on to remember a token; 0 if the
// job has none.
func (j *Job) Window() time.Duration {
	switch {
	case j.Protection() != ByToken:
		return 0
	case j.TokenWindow == 0:
		return unknownWindow
	default:
		return time.Duration(j.TokenWindow) * time.Second
	}
}

// Dependent is an IAM action that a service makes or checks on behalf of the
// caller.
type Dependent struct {
	Action string `json:"action"`
	// Resource is the ARN that the action is on, with placeholders such as
	// ${Partition} and ${BucketName}.
	Resource string `json:"resource"`
	// PassedTo are the services that get the role of an iam:PassRole, as the
	// condition key iam:PassedToService has them.
	PassedTo []string `json:"passedTo,omitempty"`
}

// NewWaiter returns the waiter of the job: an acceptor for each value of its
// status, or the acceptors that the table gives it. A value that is in none of
// the lists is not a verdict: the job is polled until the deadline. Its error has a
// [diag.Problems], unless the acceptors are no JSON at all; that of a job of
// [AWS] is nil.
func (j *Job) NewWaiter() (*pollcore.Waiter, error) {
	if len(j.Acceptors) > 0 {
		text, err := json.Marshal(struct {
			Acceptors json.RawMessage `json:"acceptors"`
			MinDelay  int             `json:"minDelay,omitempty"`
			MaxDelay  int             `json:"maxDelay,omitempty"`
		}{j.Acceptors, j.MinDelay, j.MaxDelay})
		if err != nil {
			return nil, err
		}
		return pollcore.ParseWaiter(j.Waiter, text)
	}
	w := &pollcore.Waiter{Name: j.Waiter, MinDelay: j.MinDelay, MaxDelay: j.MaxDelay}
	status := pollcore.Output(j.Status)
	for _, values := range []struct {
		state  pollcore.Verdict
		values []string
	}{{pollcore.Success, j.Success}, {pollcore.Failure, j.Failure}, {pollcore.Retry, j.Running}} {
		for _, value := range values.values {
			a := pollcore.Acceptor{State: values.state, Matcher: status.Is(value)}
			if values.state == pollcore.Failure {
				a.Message = j.Message
			}
			w.Acceptors = append(w.Acceptors, a)
		}
	}
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("waiter %s: %w", w.Name, err)
	}
	return w, nil
}
