package catalog

import (
	"encoding/json"
	"fmt"

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
	// MinDelay and MaxDelay are the waiter's, in seconds.
	MinDelay int `json:"minDelay,omitempty"`
	MaxDelay int `json:"maxDelay,omitempty"`
	// Dependent are the IAM actions that the service makes, or checks, on
	// behalf of who starts the job.
	Dependent []Dependent `json:"dependent,omitempty"`
	// Note is what a user must know.
	Note string `json:"note,omitempty"`
}

// StopCall is the call that stops a job. Arguments are as in [Job].
type StopCall struct {
	Operation string            `json:"operation"`
	Arguments map[string]string `json:"arguments"`
}

// Dependent is an IAM action that a service makes or checks on behalf of the
// caller.
type Dependent struct {
	Action string `json:"action"`
	// Resource is the ARN that the action is on, with placeholders such as
	// ${Partition} and ${BucketName}.
	Resource string `json:"resource"`
}

// NewWaiter returns the waiter of the job: an acceptor for each value of its
// status, or the acceptors that the table gives it. A value that is in none of
// the lists is no verdict: the job is polled until the deadline. Its error has a
// [pollcore.Problems], unless the acceptors are no JSON at all; that of a job of
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
